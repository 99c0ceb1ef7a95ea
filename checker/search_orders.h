// search_orders(): the plain definition of right, for small histories: try every serial order that
// respects real time. The judge of scripted scenarios, and the oracle that certify() is tested
// against.
//
// Cost: exponential in the number of concurrent transactions; meant for up to some ten of them.
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/history.h"
#include "checker/violation.h"

namespace keydrome {

struct OrderSearch {
  // The committed transactions (and those unfinished ones that are taken to have committed) in the
  // first order found in which the model gives every recorded answer.
  std::optional<std::vector<TransactionSpan>> order;
  // Reads of transactions of any state that showed a record before anyone asked to commit it.
  std::vector<EventRef> dirty_reads;
  std::string problem;  // why the history cannot be judged; empty when it can
};

// `strict`: the order respects real time. `history` has ranked keys.
OrderSearch search_orders(const History& history, bool strict = true);

}  // namespace keydrome
