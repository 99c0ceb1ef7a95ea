// certify(): is there a serial order of the committed transactions, respecting real time, in which
// the sequential model (model.h) gives every recorded answer?
//
// The order in which records came and went is known because every insert of a recorded run passes a
// payload of its own, so every "must stand before" is read off the answers: of the records a call
// returned, and of those that a lookup or a scan step should have shown and did not (Adya's
// predicate dependencies; isolation is checked with phantoms). A circle of such edges is a
// violation. Without a circle, the transactions are replayed in an order that fits all edges, and
// every answer is compared: a green verdict is a proof and needs no trust in the edges.
//
// A history that has no order in real time is judged again without it (relaxed_time.h): a library
// that answers from old but consistent states has stale reads, and nothing else is held against it.
//
// Cost for a million transactions of 11 operations: about a second and 0.6 GB beside the history.
#pragma once

#include <cstdint>

#include "checker/history.h"
#include "checker/violation.h"

namespace keydrome {

struct CertifyOptions {
  // Real time decides too (strict serialisability). If not, what only it contradicts is advisory.
  bool strict = true;
  // At most one violation of each name, and at most so many.
  uint32_t violations_max = 5;
  // Without real time every record that ever was concerns every reader of its place: time and
  // memory grow with the square. Of histories with more transactions absences of records that were
  // deleted are not looked at then, and no order is searched for: they are accused of what is wrong
  // in any order, or left open.
  uint64_t without_real_time_max = 20'000;
  // For the tests of the checker: rules that are switched off, bits of Rule (rules.h).
  uint32_t disabled_rules = 0;
};

// Never fails on bad input: what makes no sense is kCouldNotJudge. `history` has ranked keys.
// Thread safety: pure function.
Certification certify(const History& history, const CertifyOptions& options = {});

}  // namespace keydrome
