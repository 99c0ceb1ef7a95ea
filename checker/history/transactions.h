// split_into_transactions(): splits the calls of each recorded thread into transactions. It also
// checks properties that later stages of the checker rely on:
// - Numbers of calls and indexes are valid.
// - Timestamps of a thread do not go backwards.
// - The calls are in a sequence that a client can make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/history/calls.h"
#include "checker/history/history.h"
#include "checker/history/transaction_span.h"
#include "checker/severity.h"

namespace keydrome::history {

// Ends the message about a call that no client can have made, and says what to do.
inline constexpr const char* kLogIsDamaged =
    "Keydrome's log of the calls is damaged, so repeat the run. Keydrome keeps this log in the "
    "library's process: if this happens again, look for writes outside the library's own memory";

struct Transaction {
  uint64_t begin = 0;  // ticks just before its first call
  uint64_t end = 0;    // ticks just after its last call; UINT64_MAX if it never ended
  // Ticks just before commitTransaction, minus History::timestamp_slack. The slack is the largest
  // number of ticks by which the timestamp of a read may be too early. For an auto-committed call
  // this is its `begin`, because it has no commitTransaction. For any other transaction that did
  // not commit, this is 0.
  uint64_t commit_begin = 0;
  uint32_t thread = 0;
  uint32_t first = 0;  // positions of its first and last event
  uint32_t last = 0;
  TransactionState state = TransactionState::kUnfinished;
  bool auto_commit = false;
};

// Returns true if `one` had returned before `other` began. For two transactions of one thread, the
// positions of their calls also show this. So two equal timestamps of one thread do no harm.
inline bool precedes(const Transaction& one, const Transaction& other) {
  return one.end < other.begin || (one.thread == other.thread && one.last < other.first);
}

// A call whose result is wrong or suspicious regardless of what other transactions did.
struct CallViolation {
  std::string name;  // one of certify::kViolationNames
  Severity severity = Severity::kRequired;
  EventRef event;
};

struct Transactions {
  std::vector<Transaction> committed;  // sorted by `end`
  std::vector<Transaction> others;     // failed and unfinished ones
  std::vector<CallViolation> call_violations;
  std::string problem;  // why the history cannot be judged; empty if it can
};

Transactions split_into_transactions(const History& history);

TransactionSpan span_of(const Transaction& transaction);

// Returns all calls of a transaction, including its begin and its commit or abort.
std::vector<EventRef> calls_of(const History& history, const TransactionSpan& span);

// Calls visit(position, event) for every call of the transaction, including its begin and its
// commit or abort. Skips auto-committed calls between its calls, because they are transactions of
// their own.
template <typename Visit>
void for_each_call(const History& history, const Transaction& transaction, Visit&& visit) {
  const std::vector<Event>& events = history.threads[transaction.thread];
  for (uint32_t position = transaction.first; position <= transaction.last; ++position) {
    if (is_auto_commit(events[position]) == transaction.auto_commit) {
      visit(position, events[position]);
    }
  }
}

}  // namespace keydrome::history
