// Transactions: the calls of each thread, cut into transactions, with everything checked that later
// stages rely on: call and index numbers, stamps, and that calls come in a sequence that a client
// can make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/calls.h"
#include "checker/history.h"
#include "checker/violation.h"

namespace keydrome {

struct Transaction {
  uint64_t begin = 0;         // ticks just before its first call
  uint64_t end = 0;           // ticks just after its last call; UINT64_MAX when it never ended
  uint64_t commit_begin = 0;  // ticks just before commitTransaction; `begin` of an auto-commit
  uint32_t thread = 0;
  uint32_t first = 0;  // positions of its first and last event
  uint32_t last = 0;
  TransactionState state = TransactionState::kUnfinished;
  bool auto_commit = false;
};

// An answer that is wrong whatever the others saw.
struct WrongAnswer {
  std::string name;  // one of kViolationNames
  Severity severity = Severity::kRequired;
  EventRef event;
};

struct Transactions {
  std::vector<Transaction> committed;  // by `end`
  std::vector<Transaction> others;     // failed and unfinished ones
  std::vector<WrongAnswer> wrong_answers;
  std::string problem;  // why the history cannot be judged; empty when it can
};

Transactions split_into_transactions(const History& history);

TransactionSpan span_of(const Transaction& transaction);

// All calls of a transaction, begin and end included.
std::vector<EventRef> calls_of(const History& history, const TransactionSpan& span);

// Calls visit(position, event) for every call that belongs to the transaction: data calls, and
// openIndex and closeIndex, which move cursors.
template <typename Visit>
void for_each_call(const History& history, const Transaction& transaction, Visit&& visit) {
  const std::vector<Event>& events = history.threads[transaction.thread];
  for (uint32_t position = transaction.first; position <= transaction.last; ++position) {
    if (is_auto_commit(events[position]) == transaction.auto_commit) {
      visit(position, events[position]);
    }
  }
}

}  // namespace keydrome
