// check_session(): the recorded calls of a session that was alone, held against the model one after
// the other. Here every answer can be judged as it comes, deletes and inserts of equal records
// again included, which certify() leaves out.
//
// Cost: that of a Numbering and of a call of the model for each event. Thread safety: pure
// function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history.h"

namespace keydrome {

// The first answer that the contract does not allow.
struct SessionFault {
  std::string name;       // of kViolationNames or kSessionNames
  std::string reason;     // why, half a sentence: "a record of that key is there"
  uint32_t position = 0;  // of the event
  // Events that the accusation rests on: where the record came and went, where the scan stood.
  std::vector<uint32_t> causes;  // in order, without `position`
};

// Names beside those of violation.h.
inline constexpr std::string_view kSessionNames[] = {
    "deleted_record",  // a record was shown, or found, after it was deleted
    "illegal_answer",  // an answer that the call may not give at this point
    "no_progress",     // DEADLOCK in each of ten attempts, though nobody else was there
    "wrong_delete",    // a delete said that it found what was not there, or the other way round
    "wrong_insert",    // an insert said that the pair was not stored though it was, or the reverse
};

// A transaction that is alone gets through within so many attempts (index.h, convention 3).
inline constexpr uint32_t kLoneAttemptsMax = 10;

struct SessionCheck {
  std::optional<SessionFault> fault;
  std::string problem;  // why the rest cannot be judged; empty when it can
};

// `history` has one thread and ranked keys.
SessionCheck check_session(const History& history);

}  // namespace keydrome
