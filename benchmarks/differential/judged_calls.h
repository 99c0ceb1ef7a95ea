// Compares the recorded calls of one thread with a sequential model of the contract (the
// specification of the index API), for the benchmark "differential".
#pragma once

#include <optional>
#include <span>
#include <string>

#include "benchmarks/differential/calls.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "checker/history/history.h"
#include "checker/model/session_check.h"

namespace keydrome::differential {

// The recorded calls of a phase, and what the contract says about them.
struct JudgedCalls {
  // The calls of one thread. Each varchar key is replaced by its rank, its position in the order of
  // all keys. Index numbers are positions in Case::indexes.
  history::History history;
  std::optional<model::SessionViolation> fault;
  // The first call that breaks only an advisory promise, which gives a warning and not a failed
  // verdict (model::SessionCheck::advice).
  std::optional<model::SessionViolation> advice;
  // If not empty: the reason why the recording cannot belong to the program's calls.
  std::string mismatch;
  // If not empty: the reason why the calls cannot be judged.
  std::string not_judged;
};

// Judges the recording of one phase. `calls` are the calls of this phase.
JudgedCalls judge_calls(const Case& session, std::span<const Call> calls,
                        const script::PhaseOutcome& outcome);

// Returns true if the events are exactly the calls, in order: no call was repeated or omitted.
bool corresponds(const history::History& history, std::span<const Call> calls);

// The result code of an event without a result. It differs from kEventUnknownCode, which stands for
// a returned number that does not fit into a byte.
inline constexpr uint8_t kNoAnswer = history::kEventUnknownCode - 1;
// Returns a history of the calls without results: event i is call i, with the code kNoAnswer.
history::History unanswered(const Case& session);

}  // namespace keydrome::differential
