// Implements dependencies.h: finds the dependencies between transactions in one pass over their
// calls. An *element* is the number of a record, a *cell* the number of a key (numbering.h).
//
// DependencyFinder follows the cursors of each transaction. So it knows which records a call
// returned and which it *covers*. A call covers a record that it did not return, but would have
// returned if the record had existed at that time. Reader turns each record that a call returned or
// covers into edges, choices or findings.
#include "checker/certify/dependencies.h"

#include "checker/certify/edges/active_elements.h"
#include "checker/certify/edges/reader.h"
#include "checker/certify/rules.h"
#include "checker/model/cell_lists.h"

namespace keydrome::certify {

using history::Bound;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::kAnyCursor;
using history::kNoNumber;
using history::Transaction;
using model::CellLists;

namespace {

enum class CursorPlace : uint8_t {
  kStart,   // before the first record
  kAtCell,  // at the key `cell`
  kLoose,   // unknown: the next getNext may return any record, and fixes the position
};

// The cursor of an index in the current transaction.
struct Cursor {
  // The transaction for which the members are valid. In another one the cursor is at kStart.
  uint32_t transaction = kNoNumber;
  uint32_t cell = 0;
  uint32_t serial = 0;  // changes whenever the cursor moves to a key; see returned_
  CursorPlace place = CursorPlace::kStart;
  bool at_end = false;  // the last getNext returned DB_END
  // True if a scan must return all records of the key before it leaves the key. False if a get had
  // found no record of the key. Also false if the cursor was loose (CursorPlace) until getNext
  // returned a record of this key.
  bool owes_key = false;
};

// The cursors of the current transaction, one for each index.
class Cursors {
 public:
  explicit Cursors(std::size_t indexes) : cursors_(indexes) {}

  // Returns the cursor of an index. It is at the start if the transaction has not used it yet.
  Cursor& of(uint32_t index, uint32_t transaction) {
    Cursor& at = cursors_[index];
    if (at.transaction != transaction) {
      at = Cursor{};
      at.transaction = transaction;
    }
    return at;
  }

 private:
  std::vector<Cursor> cursors_;
};

// Visits all transactions and follows their cursors, to find the records that each call returned or
// covers.
class DependencyFinder {
 public:
  DependencyFinder(const Context& context, bool lean, DependencySink& sink)
      : context_(context),
        reader_(context, lean, sink),
        active_(context),
        returned_(context.numbering.element_cells.size(), 0),
        cursors_(context.history.indexes.size()) {}

  void run() {
    const std::vector<Transaction>& committed = context_.transactions.committed;
    uint32_t number = 0;
    for (; number < committed.size(); ++number) {
      active_.move_to(number);
      reader_.start(number, committed[number], /*is_judged=*/true);
      read(committed[number]);
    }
    if (!context_.rule(kRuleFailedReaders)) return;
    for (const Transaction& other : context_.transactions.others) {
      reader_.start(++number, other, /*is_judged=*/false);
      read(other);
    }
  }

 private:
  void read(const Transaction& transaction) {
    const std::vector<Bound>& bounds = context_.numbering.bounds[transaction.thread];
    for_each_call(context_.history, transaction, [&](uint32_t position, const Event& event) {
      reader_.set_call({transaction.thread, position}, event.end);
      call(event, bounds[position]);
    });
  }

  void call(const Event& event, Bound bound) {
    switch (call_of(event)) {
      case EventCall::kOpen:
      case EventCall::kClose:
        cursor(event.index).place = CursorPlace::kLoose;
        break;
      case EventCall::kGet:
        get(event, bound);
        break;
      case EventCall::kNext:
        next(event, bound);
        break;
      case EventCall::kInsert:
        insert(event, bound);
        break;
      case EventCall::kDeletePair:
        delete_pair(event, bound);
        break;
      case EventCall::kDeleteKey:
        delete_key(event, bound);
        break;
      default:
        break;
    }
  }

  void get(const Event& event, Bound bound) {
    if (event.code != SUCCESS && event.code != KEY_NOTFOUND) return;
    Cursor& at = cursor(event.index);
    if (event.code == SUCCESS) {
      move_to(at, bound, /*owes_key=*/true);
      reader_.present(bound.element, EdgeKind::kWriteRead);
      return;
    }
    enter(at, bound.cell, /*owes_key=*/false);
    if (context_.rule(kRuleMissingKey)) cover_cell(bound.cell, Coverage::kMissingKey, nullptr);
  }

  void next(const Event& event, Bound bound) {
    if (event.code != SUCCESS && event.code != DB_END) return;
    Cursor& at = cursor(event.index);
    const bool returns = event.code == SUCCESS;
    if (bound.cell == kAnyCursor) at.place = CursorPlace::kLoose;
    if (returns) reader_.present(bound.element, EdgeKind::kWriteRead);
    if (at.place == CursorPlace::kLoose) {
      if (returns && bound.cell != kAnyCursor) move_to(at, bound, /*owes_key=*/false);
      return;
    }
    if (returns && at.place == CursorPlace::kAtCell && bound.cell <= at.cell) {
      return at.at_end ? start_again(event, at, bound) : step_back_or_stay(at, bound);
    }
    leave(event, at, returns ? bound.cell : context_.numbering.first_cells[event.index + 1]);
    at.at_end = !returns;
    if (returns) move_to(at, bound, /*owes_key=*/true);
  }

  // Handles a second scan after DB_END, from the first record; it breaks only an advisory promise.
  // A record that the transaction inserted under the cursor's key may also continue the first scan.
  void start_again(const Event& event, Cursor& at, Bound bound) {
    const bool is_unclear = bound.cell == at.cell && returned_[bound.element] == at.serial * 2 + 1;
    at.place = CursorPlace::kStart;
    if (!is_unclear) leave(event, at, bound.cell);
    move_to(at, bound, /*owes_key=*/!is_unclear);
  }

  // Handles a getNext that returned a record of the cursor's key or of a smaller key.
  void step_back_or_stay(Cursor& at, Bound bound) {
    const bool again = bound.cell == at.cell && returned_[bound.element] == at.serial * 2;
    if (reader_.is_judged() && context_.rule(kRuleScanOrder)) {
      if (again)
        reader_.report("duplicate_record", "A scan returned a record twice", bound.element);
      if (bound.cell < at.cell) {
        reader_.report("wrong_order", "A scan went backwards", bound.element);
      }
    }
    if (bound.cell < at.cell) return move_to(at, bound, /*owes_key=*/false);
    returned_[bound.element] = at.serial * 2;
  }

  // Handles a getNext that moved the cursor to the key `target`, or to the end (DB_END). So the
  // cursor's key had no further record, and no key between this key and `target` had a record.
  void leave(const Event& event, const Cursor& at, uint32_t target) {
    const bool ends = event.code == DB_END;
    const bool starts = at.place == CursorPlace::kStart;
    if (!starts && at.owes_key && context_.rule(kRuleRestOfKey)) {
      cover_cell(at.cell, Coverage::kRestOfKey, &at);
    }
    const Coverage coverage = ends     ? Coverage::kTail
                              : starts ? Coverage::kBeforeFirst
                                       : Coverage::kGap;
    if (!context_.rule(ends ? kRuleTail : starts ? kRuleBeforeFirst : kRuleGap)) return;
    const uint32_t from = starts ? context_.numbering.first_cells[event.index] : at.cell + 1;
    const CellLists& lists = active_.lists();
    for (uint32_t cell = lists.next_occupied(from); cell < target;
         cell = lists.next_occupied(cell + 1)) {
      cover_cell(cell, coverage, nullptr);
    }
  }

  void insert(const Event& event, Bound bound) {
    if (event.code == ENTRY_EXISTS && context_.rule(kRuleExists)) {
      reader_.present(bound.element, EdgeKind::kWriteRead);
    }
    if (event.code != SUCCESS) return;
    reader_.inserted(bound.element);
    const Cursor& at = cursor(event.index);
    if (at.place == CursorPlace::kAtCell && at.cell == bound.cell) {
      returned_[bound.element] = at.serial * 2 + 1;
    }
  }

  void delete_pair(const Event& event, Bound bound) {
    if (event.code == SUCCESS) {
      reader_.present(bound.element, EdgeKind::kWriteWrite);
      reader_.note_own_delete(bound.element);
      cursor(event.index).place = CursorPlace::kLoose;
      return;
    }
    if (event.code != ENTRY_DNE && event.code != KEY_NOTFOUND) return;
    if (context_.rule(kRuleMissedDelete)) reader_.absent(bound.element, Coverage::kMissingKey);
    // Even KEY_NOTFOUND says only that the pair is missing: the key may have other payloads.
    if (event.code == KEY_NOTFOUND) reader_.denied_key(bound.cell, active_.lists());
  }

  void delete_key(const Event& event, Bound bound) {
    const bool missed = event.code == KEY_NOTFOUND && context_.rule(kRuleMissedDelete);
    if (missed) cover_cell(bound.cell, Coverage::kMissingKey, nullptr);
    if (event.code == SUCCESS) reader_.deleted_key(bound.cell, active_.lists());
  }

  // Handles a result that shows that no element of the key `cell` exists. If `at` is given, ignores
  // elements that this cursor has returned or may leave out.
  void cover_cell(uint32_t cell, Coverage coverage, const Cursor* at) {
    if (!reader_.is_judged()) return;
    const CellLists& lists = active_.lists();
    for (uint32_t element = lists.first(cell); element != kNoNumber;
         element = lists.after(element)) {
      if (at == nullptr || returned_[element] >> 1 != at->serial) reader_.absent(element, coverage);
    }
  }

  Cursor& cursor(uint32_t index) { return cursors_.of(index, reader_.number()); }

  void enter(Cursor& at, uint32_t cell, bool owes_key) {
    at.place = CursorPlace::kAtCell;
    at.at_end = false;
    at.cell = cell;
    at.serial = ++serial_;
    at.owes_key = owes_key;
  }

  // Moves the cursor to a record that a call returned. `owes_key` is false if the scan may leave
  // out other records of the key, for example because the cursor was loose before.
  void move_to(Cursor& at, Bound bound, bool owes_key) {
    enter(at, bound.cell, owes_key);
    returned_[bound.element] = at.serial * 2;
  }

  const Context& context_;
  Reader reader_;
  ActiveElements active_;
  // By element: serial * 2 if the cursor with this serial has returned the element. serial * 2 + 1
  // if the cursor may leave the element out, because the reader inserted it at the cursor's key.
  std::vector<uint32_t> returned_;
  Cursors cursors_;  // by index
  uint32_t serial_ = 0;
};

}  // namespace

void find_dependencies(const Context& context, bool lean, DependencySink& sink) {
  DependencyFinder(context, lean, sink).run();
}

}  // namespace keydrome::certify
