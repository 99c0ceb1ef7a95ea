// check_session(): checks a session, which is the recorded calls of a single client, against the
// model of contract A, the ten functions of an index library (model.h, keydrome/index.h).
//
// With a single client the earlier calls determine the right result of each call, except in the
// cases that model.h lists. So check_session() judges each call without looking at later calls.
// Unlike certify(), it also judges records that are deleted and then inserted again with the same
// payload.
//
// If the client had several open handles of an index, check_session() allows both kinds of cursors
// (CursorScope in numbering.h). If the results contradict both kinds, there is a first violation
// for each kind, and check_session() reports the later one of these two.
//
// Cost: a Numbering of the history, and one call of the model for each event. Thread safety: pure
// function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history/history.h"

namespace keydrome::model {

// The first result in a session that the contract does not allow.
struct SessionViolation {
  std::string name;       // one of certify::kViolationNames or kSessionNames
  std::string reason;     // half a sentence, such as "a record under this key exists, so ..."
  uint32_t position = 0;  // the event with the wrong result
  // Positions of earlier events that contradict the result, in ascending order. These are the calls
  // that inserted and deleted the record, and the read that placed the scan.
  std::vector<uint32_t> causes;
};

// Names of violations that only check_session() reports, in addition to certify::kViolationNames.
inline constexpr std::string_view kSessionNames[] = {
    "no_progress",   // too many calls returned DEADLOCK although no other client exists
    "wrong_delete",  // a delete found a record that did not exist, or missed one that did
};

// A transaction that runs alone must succeed within this many attempts (index.h, convention 3). So
// this many DEADLOCKs without a success in between are a violation.
inline constexpr uint32_t kLoneAttemptsMax = 10;

struct SessionCheck {
  std::optional<SessionViolation> violation;
  // The first call that only breaks an advisory promise, i.e. causes a warning. Its name is
  // "delete_code" (Model::breaks_delete_code()). Calls after a violation do not count.
  std::optional<SessionViolation> advice;
  std::string problem;  // why the history cannot be judged; empty if it was judged
};

// Judges `history`, which must have one thread and ranked keys (rank_varchar_keys). The verdict is
// not reliable if an auto-commit call is between the calls of an open transaction.
SessionCheck check_session(const history::History& history);

}  // namespace keydrome::model
