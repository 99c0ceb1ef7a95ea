// The few calls that a violation rests on, as a history of their own that has the same violation.
//
// It is a part of what was recorded, and nothing else: calls are left out, never changed.
// Transactions of the violation keep the calls without which it would be another one (a scan keeps
// the steps that led to such a call). Whoever inserted or deleted the records that they saw is kept
// with that call alone, unless it had returned before all of them began: then the record was there
// before, and an additional thread inserts it at the beginning.
//
// So every record that is seen has its writer, and certify() of the small history gives the
// violation again; it is the judge of every step. (Only that nobody saw a record later cannot be
// told any more: a stale read looks like a missing record, and keeps its name.) Cost: at most some
// hundreds of certifications of some dozens of calls, and a pass over the whole history.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checker/certify.h"

namespace keydrome {

struct MinimalTransaction {
  TransactionSpan span;         // in MinimalHistory::history
  uint32_t calls_left_out = 0;  // of what it did in the whole history
};

struct MinimalHistory {
  // The same threads, and one more: the last, which inserts what was there before, by auto-commit.
  History history;
  Violation violation;  // points into `history`
  // Those of the violation in its order, then the writers of what they saw, by time.
  std::vector<MinimalTransaction> transactions;
};

// `violation` is one of certify(history). Nothing when leaving calls out did not lead to one.
// Thread safety: pure function.
std::optional<MinimalHistory> minimise(const History& history, const Violation& violation);

}  // namespace keydrome
