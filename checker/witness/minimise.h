// minimise(): reduces a recorded history to the few calls that prove a violation. The result is a
// small history that has the same violation.
//
// minimise() leaves calls out, but never changes a result:
// - The violation's transactions keep the calls that the violation depends on, and the scan steps
//   that led to such a call.
// - Other transactions are kept if they inserted or deleted a record that these calls read or
//   write. Such a transaction keeps only its begin, its end, and this insert or delete.
// - Such a record may have been inserted and committed before the first of the violation's
//   transactions began. An additional thread then inserts it at the beginning of the small history
//   instead.
//
// So the small history contains the insert of every record that it reads, if the whole history
// contains one. certify() judges the history after every step of the reduction, and must find the
// same violation again.
//
// Only a stale read may have another name in the small history. In a stale read, a transaction
// misses a record that a later transaction finds. If the reduction leaves out the later
// transaction, certify() names the violation "missing_record". minimise() accepts this and keeps
// the name "stale_read".
//
// Cost: one pass over the whole history, and up to a few hundred certifications of a few dozen
// calls each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checker/certify/violation.h"
#include "checker/history/history.h"
#include "checker/history/transaction_span.h"

namespace keydrome::witness {

struct MinimalTransaction {
  history::TransactionSpan span;  // in MinimalHistory::history
  uint32_t calls_left_out = 0;    // number of its calls that the small history leaves out
};

struct MinimalHistory {
  // The threads of the whole history and one additional last thread, which inserts the initial
  // records by auto-committed calls.
  history::History history;
  certify::Violation violation;  // refers to `history`
  // First the transactions of the violation, in the order of Violation::transactions. Then the
  // other transactions, which wrote records that the violation's transactions use, in order of
  // time.
  std::vector<MinimalTransaction> transactions;
};

// `violation` must be a result of certify(history). Returns nothing if the violation has too many
// calls to reduce (more than 16 transactions or 400 calls), or if the reduced history does not show
// the violation. Thread safety: pure function.
std::optional<MinimalHistory> minimise(const history::History& history,
                                       const certify::Violation& violation);

}  // namespace keydrome::witness
