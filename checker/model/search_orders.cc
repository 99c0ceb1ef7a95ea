// Implements search_orders.h: tries every serial order by depth-first search. Each step replays one
// more transaction on the model (model.h), and undoes the replay if the rest of the search fails. A
// separate pass finds dirty reads, because they can occur although a serial order exists.
#include "checker/model/search_orders.h"

#include <algorithm>

#include "checker/history/numbering.h"
#include "checker/history/transactions.h"
#include "checker/model/model.h"

namespace keydrome::model {

using history::Bound;
using history::CursorScope;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;
using history::Numbering;
using history::Transaction;
using history::Transactions;
using history::TransactionSpan;
using history::TransactionState;

namespace {

class Search {
 public:
  // Some right results break an advisory promise of the contract and cause a warning
  // (Model::breaks_delete_code()). If `exact_codes` is true, the search rejects orders in which a
  // call has such a result.
  Search(const History& history, const Numbering& numbering, std::vector<Transaction> all,
         bool strict, bool exact_codes, uint64_t tries_max)
      : history_(history),
        numbering_(numbering),
        all_(std::move(all)),
        placed_(all_.size(), false),
        strict_(strict),
        exact_codes_(exact_codes),
        tries_left_(tries_max),
        model_(numbering) {}

  // Extends order_ until it contains all committed transactions. An unfinished transaction may be
  // in order_ or be left out.
  bool run() {
    if (is_complete()) return true;
    const uint64_t earliest_end = first_open_end();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (placed_[i] || (strict_ && all_[i].begin > earliest_end)) continue;
      if (tries_left_ == 0) return false;
      --tries_left_;
      const std::size_t mark = model_.mark();
      placed_[i] = true;
      order_.push_back(i);
      if (replay(all_[i]) && run()) return true;
      order_.pop_back();
      placed_[i] = false;
      model_.rewind(mark);
    }
    return false;
  }

  bool gave_up() const { return tries_left_ == 0; }

  // Replays order_ on a new model. Returns the calls after which Model::breaks_delete_code() is
  // true.
  std::vector<EventRef> delete_codes() const {
    Model model(numbering_);
    std::vector<EventRef> found;
    for (const std::size_t i : order_) {
      const Transaction& transaction = all_[i];
      model.begin();
      for_each_call(history_, transaction, [&](uint32_t position, const Event& event) {
        model.apply(event, numbering_.bounds[transaction.thread][position]);
        if (model.breaks_delete_code()) found.push_back({transaction.thread, position});
      });
    }
    return found;
  }

  std::vector<TransactionSpan> order() const {
    std::vector<TransactionSpan> spans;
    for (const std::size_t i : order_) spans.push_back(span_of(all_[i]));
    return spans;
  }

 private:
  bool is_complete() const {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!placed_[i] && all_[i].state == TransactionState::kCommitted) return false;
    }
    return true;
  }

  // Returns the earliest end of the transactions that are not yet in order_. If the order must
  // respect real time, a transaction that began after this end cannot be the next in order_.
  uint64_t first_open_end() const {
    uint64_t end = UINT64_MAX;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!placed_[i]) end = std::min(end, all_[i].end);
    }
    return end;
  }

  bool replay(const Transaction& transaction) {
    bool right = true;
    model_.begin();
    for_each_call(history_, transaction, [&](uint32_t position, const Event& event) {
      const Bound bound = numbering_.bounds[transaction.thread][position];
      right = right && model_.apply(event, bound) == Mismatch::kNone &&
              !(exact_codes_ && model_.breaks_delete_code());
    });
    return right;
  }

  const History& history_;
  const Numbering& numbering_;
  const std::vector<Transaction> all_;
  std::vector<bool> placed_;
  const bool strict_;
  const bool exact_codes_;
  uint64_t tries_left_;
  Model model_;
  std::vector<std::size_t> order_;
};

// Finds dirty reads, by the time at which each insert became visible to other transactions: when
// the inserting transaction called commitTransaction. If this transaction never ended, the insert
// counts as visible as soon as the insert returned. If it failed, the insert never became visible.
class Visibility {
 public:
  Visibility(const History& history, const Numbering& numbering, const Transactions& transactions)
      : inserts_(numbering.element_cells.size()) {
    const auto note = [&](const Transaction& writer) {
      for_each_call(history, writer, [&](uint32_t position, const Event& event) {
        if (call_of(event) != EventCall::kInsert || !succeeded(event)) return;
        const uint64_t from = writer.state == TransactionState::kCommitted    ? writer.commit_begin
                              : writer.state == TransactionState::kUnfinished ? event.end
                                                                              : UINT64_MAX;
        const Bound bound = numbering.bounds[writer.thread][position];
        inserts_[bound.element].push_back({writer.thread, writer.first, position, from});
      });
    };
    for (const Transaction& writer : transactions.committed) note(writer);
    for (const Transaction& writer : transactions.others) note(writer);
  }

  // Returns true if a read that returned at `seen_at` was allowed to return the record: the reader
  // itself had inserted the record, or some insert of the record was visible at this time.
  bool is_clean(const Transaction& reader, uint32_t position, uint32_t element,
                uint64_t seen_at) const {
    return std::any_of(inserts_[element].begin(), inserts_[element].end(), [&](const Insert& one) {
      const bool own = one.thread == reader.thread && one.first == reader.first;
      return own ? one.position < position : one.visible_from <= seen_at;
    });
  }

 private:
  struct Insert {
    uint32_t thread;
    uint32_t first;  // position of the first event of its transaction
    uint32_t position;
    uint64_t visible_from;
  };
  std::vector<std::vector<Insert>> inserts_;
};

// Returns true if some deleteRecord of a pair returned KEY_NOTFOUND.
bool denies_a_pair(const History& history) {
  return std::ranges::any_of(history.threads, [](const std::vector<Event>& events) {
    return std::ranges::any_of(events, [](const Event& event) {
      return call_of(event) == EventCall::kDeletePair && event.code == KEY_NOTFOUND;
    });
  });
}

// Searches for a serial order. `numbering` says which calls share a cursor. Adds what it finds to
// `result`.
void search(const History& history, const Numbering& numbering, const Transactions& transactions,
            bool strict, uint64_t tries_max, OrderSearch& result) {
  std::vector<Transaction> all = transactions.committed;
  for (const Transaction& other : transactions.others) {
    if (other.state == TransactionState::kUnfinished) all.push_back(other);
  }
  Search exact(history, numbering, all, strict, /*exact_codes=*/true, tries_max);
  Search advisory(history, numbering, std::move(all), strict, /*exact_codes=*/false, tries_max);
  if (exact.run()) {
    result.order = exact.order();
  } else if (denies_a_pair(history) && advisory.run()) {
    result.order = advisory.order();
    result.delete_codes = advisory.delete_codes();
  }
  result.gave_up |= exact.gave_up() || advisory.gave_up();
  result.gave_up &= !result.order;
}

}  // namespace

OrderSearch search_orders(const History& history, bool strict, uint64_t tries_max) {
  OrderSearch result;
  const Transactions transactions = split_into_transactions(history);
  result.problem = transactions.problem;
  if (!result.problem.empty()) return result;
  const Numbering numbering(history);
  search(history, numbering, transactions, strict, tries_max, result);
  if (!result.order && has_several_handles(history)) {
    const Numbering shared(history, CursorScope::kIndex);
    search(history, shared, transactions, strict, tries_max, result);
  }
  const Visibility visibility(history, numbering, transactions);
  const auto check = [&](const Transaction& reader) {
    for_each_call(history, reader, [&](uint32_t position, const Event& event) {
      if (!shows_record(event)) return;
      const uint32_t element = numbering.bounds[reader.thread][position].element;
      if (!visibility.is_clean(reader, position, element, event.end)) {
        result.dirty_reads.push_back({reader.thread, position});
      }
    });
  };
  for (const Transaction& reader : transactions.committed) check(reader);
  for (const Transaction& reader : transactions.others) check(reader);
  return result;
}

}  // namespace keydrome::model
