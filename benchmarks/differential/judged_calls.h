// What was recorded of a session's calls, held against the contract.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "benchmarks/differential/calls.h"
#include "benchmarks/kit/outcome_reader.h"
#include "checker/history.h"
#include "checker/session_check.h"

namespace keydrome::differential {

struct JudgedCalls {
  // One thread; ranked keys, indexes as in the case.
  History history;
  std::optional<SessionFault> fault;
  std::string mismatch;    // the record does not fit the calls: it was tampered with
  std::string not_judged;  // why nothing can be said; empty when it can
};

// `calls`: those of the phase.
JudgedCalls judge_calls(const Case& session, std::span<const Call> calls,
                        const PhaseOutcome& outcome);

// Whether each call is one event, in their order: nothing was asked twice, nothing left out.
bool corresponds(const History& history, std::span<const Call> calls);

// A history of the calls in which nothing was answered yet: event i is call i, with the code
// kNoAnswer.
inline constexpr uint8_t kNoAnswer = kEventOddCode - 1;
History unanswered(const Case& session);

}  // namespace keydrome::differential
