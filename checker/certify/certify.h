// certify(): decides whether a recorded history of concurrent transactions is right. It looks for a
// serial order of the committed transactions that respects real time (strict serialisability), and
// in which the sequential model (model/model.h) gives every recorded result.
//
// In a recorded run every insert passes a different payload, so the payload of a record identifies
// the transaction that inserted the record. (reinserted.h is for other histories.) From the
// results, certify() derives edges: an edge from T1 to T2 means that T1 precedes T2 in every serial
// order. Edges follow from real time and from two kinds of results:
// - A call shows that a record existed: the call returned it, deleted it or reported ENTRY_EXISTS.
// - A call shows that a record did not exist: the call would have returned or deleted the record
//   otherwise. The edges from such results are the predicate dependencies of Adya 1999, which
//   include phantoms.
//
// A cycle of edges is a violation. If there is no cycle, certify() replays the transactions on the
// model, in an order that fits all edges, and compares every result. This replay proves the verdict
// "certified", so the proof does not depend on the edges.
//
// If no serial order respects real time, certify() judges the history a second time without real
// time (relaxed_time.h). If the library's only error was to return old but consistent states, this
// second judgement finds a serial order, and certify() reports only stale reads.
//
// If a thread had several open handles of an index, certify() can judge the history twice. It first
// assumes that each handle has its own cursor. If this does not certify the history, it assumes
// that the handles of an index share a cursor. The contract allows both.
//
// Cost for a million transactions of about 11 operations: about two seconds of CPU time, and 0.7 GB
// including the history (docs/reference/figures.md).
#pragma once

#include <cstdint>

#include "checker/certify/violation.h"
#include "checker/history/history.h"

namespace keydrome::certify {

struct CertifyOptions {
  // True: the serial order must respect real time (strict serialisability). False: the order may
  // contradict real time, and a violation that such an order explains is only a warning (advisory).
  bool strict = true;
  // The largest number of reported violations. At most one violation of each name is reported.
  uint32_t violations_max = 5;
  // The largest number of transactions for which the second judgement, which ignores real time,
  // searches for a serial order. The search's time and memory grow with the square of the number of
  // transactions, because every record that ever existed under a key matters to every reader of
  // that key. If there are more transactions, the second judgement reports only results that are
  // wrong in every order. If it finds none, its verdict is kUndecided. A read that did not find a
  // deleted record is not reported: in some serial order it may come after the delete.
  uint64_t without_real_time_max = 20'000;
  // The results may leave several possible deleters for a record (open_options.h). This is the
  // largest number of tries to find the right ones. Each try assumes other deleters, and passes
  // over the whole history. If no try fits the results, the verdict is kUndecided. If the tries
  // were all possible combinations, and the results contradict each of them, the verdict is
  // kViolation.
  uint32_t deleter_tries_max = 150;
  // True: Certification::order is set if the verdict is kCertified.
  bool keep_order = false;
  // Rules to switch off, as bits of Rule (rules.h). For the checker's own tests.
  uint32_t disabled_rules = 0;
};

// Accepts any events: for impossible calls or timestamps, the verdict is kCouldNotJudge. The keys
// of `history` must be ranked (rank_varchar_keys). Thread safety: pure function.
Certification certify(const history::History& history, const CertifyOptions& options = {});

}  // namespace keydrome::certify
