// Reader: derives edges, choices and findings from each record that one transaction, called the
// reader, saw or did not see. An edge says that one transaction must precede another. A choice is a
// pair of edges of which at least one holds. A finding is a wrong result (dependencies.h). The
// reader may also write. An *element* is the number of a record, a *cell* the number of a key
// (numbering.h).
//
// find_dependencies() follows the cursors of the reader. It calls Reader for each record that a
// call of the reader returned or covers. A call *covers* a record that it did not return, but would
// have returned if the record had existed at that time. Cost: O(1) for each record. Thread safety:
// one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/certify/dependencies.h"
#include "checker/certify/rules.h"
#include "checker/model/cell_lists.h"

namespace keydrome::certify {

class Reader {
 public:
  // If `lean` is true, Reader leaves out the edges that real time implies (dependencies.h).
  Reader(const Context& context, bool lean, DependencySink& sink)
      : context_(context),
        committed_(context.transactions.committed),
        versions_(context.versions),
        sink_(sink),
        lean_(lean && context.rule(kRuleRealTime)),
        own_(context.numbering.element_cells.size(), 0) {}

  // Makes `transaction` the reader. `is_judged` is false for a transaction that failed or never
  // ended. For such a reader, Reader reports only records that it must not see: uncommitted,
  // aborted and corrupt ones.
  void start(uint32_t number, const history::Transaction& transaction, bool is_judged) {
    number_ = number;
    transaction_ = &transaction;
    is_judged_ = is_judged;
  }
  void set_call(history::EventRef event, uint64_t end) {
    event_ = event;
    event_end_ = end;
  }

  uint32_t number() const { return number_; }
  bool is_judged() const { return is_judged_; }
  bool rule(uint32_t rule) const { return context_.rule(rule); }

  // Handles a successful insertRecord.
  void inserted(uint32_t element);
  void note_own_delete(uint32_t element) { own_[element] = own_mark(false); }

  // Handles an element that the call showed to exist. `kind` is kWriteRead if the call returned the
  // element or reported it as existing, and kWriteWrite if the call deleted it.
  void present(uint32_t element, EdgeKind kind);

  // Handles an element that the call covers but did not return. To the reader it did not exist.
  void absent(uint32_t element, Coverage coverage);

  // Handles a successful deleteRecord of all payloads of a key. `lists` contains the elements that
  // may have existed while the reader ran (active_elements.h).
  void deleted_key(uint32_t cell, const model::CellLists& lists);

  // Handles a deleteRecord that returned KEY_NOTFOUND for a pair of key and payload that is not
  // stored. The key is `cell`. If real time proves that the key has a payload, reports an advisory
  // finding (a warning), because the contract then asks for ENTRY_DNE.
  void denied_key(uint32_t cell, const model::CellLists& lists);

  void report(const char* name, const char* text, uint32_t element,
              uint32_t other = history::kNoNumber) {
    sink_.add_finding({name, text, element, event_, transaction_, other});
  }

  // Reports that a scan went backwards, from the key `passed_cell` to the record `element`.
  void report_step_back(uint32_t passed_cell, uint32_t element) {
    DirectFinding found{
        "wrong_order",
        "A scan went backwards, although getNext must return keys in ascending order",
        element,
        event_,
        transaction_,
        history::kNoNumber};
    found.passed_cell = passed_cell;
    sink_.add_finding(found);
  }

 private:
  // Returns true if the reader's deleteRecord of all payloads deleted this element. Then also adds
  // the edge from the element's inserter, and marks the element as deleted.
  bool takes(uint32_t element);

  // Handles a deleteRecord of all payloads that is not checked: either the reader is not judged, or
  // kRuleDeleteAll is switched off. Only marks the reader's own inserts of the key as deleted.
  void forget_own(uint32_t cell, const model::CellLists& lists);

  // Reports that the reader did not see an insert or a delete of `writer`, an earlier transaction
  // of its own thread. Does nothing unless kRuleRealTime is switched off: with this rule, a cycle
  // already shows the violation.
  void check_session(uint32_t writer, uint32_t element, const char* text);

  // Reports that the reader saw a record that an earlier transaction of the same thread must have
  // deleted. The earlier transaction called deleteRecord for all payloads of the key without having
  // read this record. The call returned SUCCESS, so it deleted at least one record. This record was
  // surely among them if the same thread had inserted it before the call, or if the key never had
  // another record. Like check_session(), does nothing unless kRuleRealTime is switched off.
  void check_own_blind_deletes(uint32_t inserter, uint32_t element);

  // Returns true if the element exists for the reader in every serial order that respects real
  // time.
  bool certainly_exists(uint32_t element) const;

  // Adds what follows from the absence of an element that another transaction inserted.
  // `exists_later` is true if no other transaction deleted the element, or if its deleter certainly
  // began after the reader had returned. Then the reader must precede the inserter.
  void add_absence(Version version, bool exists_later, Coverage coverage, uint32_t element);

  // Reports a delete of a whole key that succeeded although no record was left to delete. `suspect`
  // is an element of the key, or kNoNumber. `lost`: another transaction had deleted its records.
  void deleted_nothing(uint32_t suspect, bool lost);
  void present_without_insert(uint32_t element);

  void report_dirty(uint32_t element, uint32_t inserter, EdgeKind kind);

  void add_edge(uint32_t from, uint32_t to, EdgeKind kind, Coverage coverage, uint32_t element);

  void report_deleter(const char* name, const char* text, uint32_t element,
                      uint32_t other = history::kNoNumber);

  uint32_t own_mark(bool exists) const { return (number_ + 1) * 2 + (exists ? 1 : 0); }

  static constexpr const char* kAbortedRead =
      "A transaction saw a record whose writer never committed";

  const Context& context_;
  const std::vector<history::Transaction>& committed_;
  const Versions& versions_;
  DependencySink& sink_;
  const bool lean_;
  // By element: own_mark(true) if the reader has inserted it, own_mark(false) if the reader has
  // deleted it. Marks of other readers have other values and are ignored.
  std::vector<uint32_t> own_;
  uint32_t number_ = 0;
  const history::Transaction* transaction_ = nullptr;
  bool is_judged_ = true;
  history::EventRef event_;  // the current call
  uint64_t event_end_ = 0;
};

}  // namespace keydrome::certify
