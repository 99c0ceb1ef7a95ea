// search_orders(): decides by brute force whether a small recorded history is right. It tries
// serial orders of the transactions, until the model (model.h) accepts all results in one of the
// orders. It judges scenarios, which are scripts of a few steps that provoke one fault. Tests also
// compare certify() (certify/certify.h) with it.
//
// Cost: exponential in the number of concurrent transactions, up to the given number of tries.
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/history/history.h"
#include "checker/history/transaction_span.h"

namespace keydrome::model {

struct OrderSearch {
  // The first order found in which the model accepts every recorded result; nothing if none was
  // found. The order contains all committed transactions. It may also contain unfinished
  // transactions, which the search then treated as committed.
  std::optional<std::vector<history::TransactionSpan>> order;
  // Reads that returned a record before its writer called commitTransaction. The reading
  // transaction may have committed, failed or not ended.
  std::vector<history::EventRef> dirty_reads;
  // Calls of `order` that only break an advisory promise, i.e. cause a warning
  // (Model::breaks_delete_code()). The search prefers an order without such calls.
  std::vector<history::EventRef> delete_codes;
  bool gave_up = false;  // the search reached its limit before it had tried all orders
  std::string problem;   // why the history cannot be judged; empty if it can
};

// If `strict` is true, the order must respect real time: if T1 had returned before T2 began, T1
// precedes T2. A try is the replay of one transaction. `history` must have ranked keys
// (rank_varchar_keys). If a thread had several open handles of an index, the search tries both
// kinds of cursors (CursorScope in numbering.h).
OrderSearch search_orders(const history::History& history, bool strict = true,
                          uint64_t tries_max = UINT64_MAX);

}  // namespace keydrome::model
