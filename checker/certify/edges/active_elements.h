// ActiveElements: the set of records ("elements") of a recorded history that may have existed while
// one committed transaction ran, judged by real time alone. find_dependencies() (dependencies.h)
// visits the committed transactions in the order in which they returned, and updates the set for
// each of them.
//
// A record is in the set for a transaction T if both of these are true:
// - The transaction that inserted the record began before T returned.
// - The record has not been removed from the set. It is removed if its deleter returned before the
//   begin of T, and before the begin of every transaction that returned after T. The second
//   condition is necessary because a removed record is never added again.
// Any other record certainly did not exist during T: it was inserted later or deleted before. So
// the time to examine a scan depends on how many records were written at about the same time, and
// not on how many keys the scan covers.
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "checker/certify/dependencies.h"
#include "checker/certify/rules.h"
#include "checker/model/cell_lists.h"

namespace keydrome::certify {

class ActiveElements {
 public:
  explicit ActiveElements(const Context& context)
      : context_(context),
        lists_(context.numbering),
        by_begin_(context.transactions.committed.size()),
        first_begin_from_(context.transactions.committed.size() + 1, UINT64_MAX) {
    const std::vector<history::Transaction>& committed = context.transactions.committed;
    std::iota(by_begin_.begin(), by_begin_.end(), 0);
    std::sort(by_begin_.begin(), by_begin_.end(),
              [&](uint32_t a, uint32_t b) { return committed[a].begin < committed[b].begin; });
    for (std::size_t i = committed.size(); i-- > 0;) {
      first_begin_from_[i] = std::min(first_begin_from_[i + 1], committed[i].begin);
    }
  }

  const model::CellLists& lists() const { return lists_; }

  // Updates the set for committed transaction `number`. `number` must not decrease between calls.
  void move_to(uint32_t number) {
    const std::vector<history::Transaction>& committed = context_.transactions.committed;
    while (added_ < by_begin_.size() &&
           committed[by_begin_[added_]].begin <= committed[number].end) {
      add_inserts_of(by_begin_[added_++]);
    }
    while (removed_ < number && committed[removed_].end < first_begin_from_[number]) {
      remove_deletes_of(removed_++);
    }
  }

 private:
  void add_inserts_of(uint32_t number) {
    const history::Transaction& transaction = context_.transactions.committed[number];
    const std::vector<history::Bound>& bounds = context_.numbering.bounds[transaction.thread];
    for_each_call(context_.history, transaction,
                  [&](uint32_t position, const history::Event& event) {
                    if (call_of(event) != history::EventCall::kInsert || !succeeded(event)) return;
                    const uint32_t element = bounds[position].element;
                    if (!lists_.contains(element)) lists_.insert(element);
                  });
  }

  void remove_deletes_of(uint32_t number) {
    const history::Transaction& transaction = context_.transactions.committed[number];
    const std::vector<history::Bound>& bounds = context_.numbering.bounds[transaction.thread];
    for_each_call(context_.history, transaction,
                  [&](uint32_t position, const history::Event& event) {
                    if (succeeded(event)) remove_deleted(number, call_of(event), bounds[position]);
                  });
  }

  void remove_deleted(uint32_t number, history::EventCall call, history::Bound bound) {
    if (call == history::EventCall::kDeletePair) return remove_deleted(number, bound.element);
    if (call != history::EventCall::kDeleteKey) return;
    for (uint32_t element = lists_.first(bound.cell); element != history::kNoNumber;) {
      const uint32_t next = lists_.after(element);
      remove_deleted(number, element);
      element = next;
    }
  }

  // Removes an element from the set if transaction `number` deleted it. An open element is an
  // element whose deleter is not known (versions.h). While kRuleChoice (rules.h) is on, an open
  // element stays in the set, because another transaction may have deleted it later.
  void remove_deleted(uint32_t number, uint32_t element) {
    const bool open =
        (context_.versions.notes[element] & kOpenDeleter) != 0 && context_.rule(kRuleChoice);
    if (context_.versions.of[element].deleter == number && !open && lists_.contains(element)) {
      lists_.remove(element);
    }
  }

  const Context& context_;
  model::CellLists lists_;
  std::vector<uint32_t> by_begin_;
  // By transaction: the earliest begin of this transaction and of all that returned later.
  std::vector<uint64_t> first_begin_from_;
  std::size_t added_ = 0;
  uint32_t removed_ = 0;
};

}  // namespace keydrome::certify
