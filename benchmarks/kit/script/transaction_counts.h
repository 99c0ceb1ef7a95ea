// TransactionCounts: notes how the transactions of one thread ended, and when. It is used while
// the referee, which judges the run, replays the thread's program with the results that the thread
// reported (word_follower.h).
//
// Transactions are numbered in program order: one number for each kBegin and one for each
// auto-commit op (operation). Each repetition of a kRepeat body has numbers of its own. All
// attempts of a transaction have the same number.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/script/thread_totals.h"

namespace keydrome::script {

class TransactionCounts {
 public:
  TransactionCounts(const TickClock& clock, const Schedule& schedule, uint64_t transactions,
                    std::vector<TransactionEnd>& ends, ThreadTotals& totals)
      : ends_(ends), totals_(totals), timings_(clock, schedule, totals) {
    ends_.assign(transactions, TransactionEnd::kNotRun);
  }

  uint64_t next() const { return next_; }
  void begin_attempt() {
    first_ = next_++;
    nested_.clear();
  }
  // Forgets an attempt that is repeated.
  void retry() { next_ = first_; }

  void end_attempt(TransactionEnd end, uint8_t class_number, uint64_t begin, uint64_t now) {
    set(first_, end);
    switch (end) {
      case TransactionEnd::kCommitted:
        timings_.committed(class_number, begin, now);
        break;
      case TransactionEnd::kAborted:
        ++totals_.aborted;
        break;
      case TransactionEnd::kFailed:
        ++totals_.failed;
        break;
      default:
        ++totals_.deadlocked;
        break;
    }
    for (const auto& [nested_class, committed] : nested_) count(nested_class, committed);
  }

  // Ends an auto-commit op inside an attempt. The op counts only if the attempt is not repeated.
  void nested(uint8_t class_number, bool committed) {
    set(next_++, committed ? TransactionEnd::kCommitted : TransactionEnd::kFailed);
    nested_.emplace_back(class_number, committed);
  }
  // Ends an auto-commit op outside of transactions. timed_single() ends one whose times are known.
  void single(uint8_t class_number, bool committed) {
    set(next_++, committed ? TransactionEnd::kCommitted : TransactionEnd::kFailed);
    count(class_number, committed);
  }
  void timed_single(uint8_t class_number, uint64_t begin, uint64_t end) {
    set(next_++, TransactionEnd::kCommitted);
    timings_.committed(class_number, begin, end);
  }
  // For a transaction that was given up: skips its number, or the number of an auto-commit op in
  // it. Numbers from `reached` on belong to ops that have not run, because the attempt ended before
  // them.
  void pass(uint64_t reached) {
    if (next_ >= reached) set(next_, TransactionEnd::kNotRun);
    ++next_;
  }
  // Ends the program, perhaps before its last transaction.
  void finish(uint64_t now) {
    ends_.resize(std::min<uint64_t>(ends_.size(), next_));
    timings_.finish(now);
  }

 private:
  void set(uint64_t transaction, TransactionEnd end) {
    if (transaction < ends_.size()) ends_[transaction] = end;
  }
  void count(uint8_t class_number, bool committed) {
    committed ? timings_.committed_untimed(class_number) : void(++totals_.failed);
  }

  std::vector<TransactionEnd>& ends_;
  ThreadTotals& totals_;
  Timings timings_;
  uint64_t next_ = 0;   // number of the next transaction
  uint64_t first_ = 0;  // number of the open transaction
  std::vector<std::pair<uint8_t, bool>>
      nested_;  // auto-commit ops of the attempt: class, committed
};

}  // namespace keydrome::script
