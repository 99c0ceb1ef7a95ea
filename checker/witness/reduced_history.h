// ReducedHistory: builds a part of a recorded history that certify() can judge on its own. The
// caller chooses transactions and some of their calls. ReducedHistory adds the transactions that
// inserted a record which the chosen calls name. It also adds each transaction that deleted such a
// record and overlaps the chosen transactions in time.
//
// An added transaction keeps only its begin, its end and the writes for which it was added. If an
// insert had committed before all chosen transactions began, ReducedHistory replaces it by an
// auto-committed insert at the beginning, on an additional last thread.
//
// minimise() uses one ReducedHistory and builds it again for every attempt to leave out calls.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "checker/history/history.h"
#include "checker/history/transaction_span.h"

namespace keydrome::witness {

// A transaction of the whole history, and the calls that are kept of it.
struct ReducedTransaction {
  history::TransactionSpan span;
  std::set<uint32_t> calls;  // positions in its thread
};

// Identifies a transaction by its thread and its first event.
using TransactionId = std::pair<uint32_t, uint32_t>;

inline TransactionId id_of(const history::TransactionSpan& span) {
  return {span.thread, span.first};
}

// Finds the transaction that a call of a history belongs to.
class TransactionIndex {
 public:
  explicit TransactionIndex(const history::History& history);

  // Returns the transaction of a call, or nothing if the call belongs to none. `history` must be
  // the history that was passed to the constructor.
  std::optional<history::TransactionSpan> of(const history::History& history,
                                             history::EventRef ref) const;

 private:
  std::vector<std::vector<history::TransactionSpan>> by_thread_;  // sorted by first event
};

class ReducedHistory {
 public:
  // `whole` must outlive this object.
  explicit ReducedHistory(const history::History& whole);

  // Finds all writes of the records that these transactions name. Must be called once before
  // build(). Cost: one pass over the whole history.
  void find_writes(const std::vector<ReducedTransaction>& transactions);

  // Builds the reduced history of these transactions. Leaves out the deletes in `dropped`.
  void build(const std::vector<ReducedTransaction>& transactions,
             const std::set<history::EventRef>& dropped);

  const history::History& history() const { return work_; }
  history::History take_history() { return std::move(work_); }

  const TransactionIndex& transactions() const { return index_; }
  // All transactions of the last build(), including the added transactions.
  const std::map<TransactionId, ReducedTransaction>& kept() const { return kept_; }
  // The deletes that the last build() added, and that the caller may drop in the next build(). An
  // added insert cannot be dropped, because every record that is read needs its insert.
  const std::vector<history::EventRef>& deletes() const { return deletes_; }
  // Returns the position in history() of the first kept call of a transaction.
  uint32_t first_position(const ReducedTransaction& transaction) const {
    return positions_[transaction.span.thread].at(*transaction.calls.begin());
  }

 private:
  struct RecordId {
    uint16_t index;
    uint64_t key;
    uint64_t payload;
    auto operator<=>(const RecordId&) const = default;
  };
  using KeyId = std::pair<uint16_t, uint64_t>;

  static RecordId record_of(const history::Event& event);
  const history::Event& event(history::EventRef ref) const {
    return whole_.threads[ref.thread][ref.position];
  }
  std::set<RecordId> records_of(const std::vector<ReducedTransaction>& transactions) const;
  bool add_inserter(const RecordId& record);
  void add_deleters(const RecordId& record);
  void add_write(history::EventRef ref, bool is_delete);
  void write_threads(const std::vector<RecordId>& initial);
  void write_initial(const std::vector<RecordId>& initial, uint64_t first);

  const history::History& whole_;
  const TransactionIndex index_;
  // The inserts and deletes that find_writes() found in the whole history.
  std::map<RecordId, std::vector<history::EventRef>> inserts_, pair_deletes_;
  std::map<KeyId, std::vector<history::EventRef>> key_deletes_;

  // Arguments and results of the last build().
  std::set<TransactionId> chosen_;
  std::set<history::EventRef> dropped_;
  uint64_t begin_ = 0, end_ = 0;  // ticks: first begin and last end of the chosen transactions
  history::History work_;
  std::map<TransactionId, ReducedTransaction> kept_;
  std::vector<history::EventRef> deletes_;
  std::vector<std::map<uint32_t, uint32_t>> positions_;  // by thread: position in whole_ -> work_
};

}  // namespace keydrome::witness
