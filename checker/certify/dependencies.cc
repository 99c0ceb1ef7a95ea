// Implements dependencies.h: finds the dependencies between transactions in one pass over their
// calls. An *element* is the number of a record, a *cell* the number of a key (numbering.h).
//
// DependencyFinder follows the cursors of each transaction. So it knows which records a call
// returned and which it *covers*. A call covers a record that it did not return, but would have
// returned if the record had existed at that time. Reader turns each record that a call returned or
// covers into edges, choices (pairs of edges of which at least one must hold) or findings.
#include "checker/certify/dependencies.h"

#include "checker/certify/edges/active_elements.h"
#include "checker/certify/edges/cursors.h"
#include "checker/certify/edges/reader.h"
#include "checker/certify/rules.h"
#include "checker/model/cell_lists.h"

namespace keydrome::certify {

using history::Bound;
using history::Event;
using history::EventCall;
using history::kAnyCursor;
using history::kNoNumber;
using history::Transaction;
using model::CellLists;

namespace {

// Visits all transactions and follows their cursors, to find the records that each call returned or
// covers.
class DependencyFinder {
 public:
  DependencyFinder(const Context& context, bool lean, DependencySink& sink)
      : context_(context),
        reader_(context, lean, sink),
        active_(context),
        cursors_(context.numbering) {}

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
    cursors_.begin(reader_.number());
    for_each_call(context_.history, transaction, [&](uint32_t position, const Event& event) {
      reader_.set_call({transaction.thread, position}, event.end);
      call(event, bounds[position]);
    });
  }

  void call(const Event& event, Bound bound) {
    switch (call_of(event)) {
      case EventCall::kOpen:
      case EventCall::kClose:
        cursors_.loosen(event.index);
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
    Cursor& at = cursors_.of(event);
    if (event.code == SUCCESS) {
      cursors_.move_to(at, bound, /*owes_key=*/true);
      reader_.present(bound.element, EdgeKind::kWriteRead);
      return;
    }
    cursors_.enter(at, bound.cell, /*owes_key=*/false);
    if (context_.rule(kRuleMissingKey)) cover_cell(bound.cell, Coverage::kMissingKey, nullptr);
  }

  void next(const Event& event, Bound bound) {
    if (event.code != SUCCESS && event.code != DB_END) return;
    Cursor& at = cursors_.of(event);
    const bool returns = event.code == SUCCESS;
    if (bound.cell == kAnyCursor) at.place = CursorPlace::kLoose;
    if (returns) reader_.present(bound.element, EdgeKind::kWriteRead);
    if (at.place == CursorPlace::kLoose) {
      if (returns && bound.cell != kAnyCursor) cursors_.move_to(at, bound, /*owes_key=*/false);
      return;
    }
    if (returns && at.place == CursorPlace::kAtCell && bound.cell <= at.cell) {
      return at.at_end ? start_again(event, at, bound) : step_back_or_stay(at, bound);
    }
    leave(event, at, returns ? bound.cell : context_.numbering.first_cells[event.index + 1]);
    at.at_end = !returns;
    if (returns) cursors_.move_to(at, bound, /*owes_key=*/true);
  }

  // Handles a getNext that started a second scan after DB_END: it returned the first record again.
  // This breaks only an advisory promise of the contract, which causes a warning. The case is
  // unclear if the transaction itself inserted the record under the cursor's key. The first scan
  // may then have returned this record already or not, so no record between the two is required.
  void start_again(const Event& event, Cursor& at, Bound bound) {
    const bool is_unclear =
        bound.cell == at.cell && cursors_.notes.is_optional(at.position, bound.element);
    at.place = CursorPlace::kStart;
    if (!is_unclear) leave(event, at, bound.cell);
    cursors_.move_to(at, bound, /*owes_key=*/!is_unclear);
  }

  // Handles a getNext that returned a record of the cursor's key or of a smaller key.
  void step_back_or_stay(Cursor& at, Bound bound) {
    const bool again =
        bound.cell == at.cell && cursors_.notes.is_returned(at.position, bound.element);
    if (reader_.is_judged() && context_.rule(kRuleScanOrder)) {
      if (again)
        reader_.report("duplicate_record", "A scan returned a record a second time", bound.element);
      if (bound.cell < at.cell) reader_.report_step_back(at.cell, bound.element);
    }
    if (bound.cell < at.cell) return cursors_.move_to(at, bound, /*owes_key=*/false);
    cursors_.notes.set_returned(at.position, bound.element);
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
    cursors_.for_each(event.index, [&](const Cursor& at) {
      if (at.is_at(bound.cell)) cursors_.notes.set_optional(at.position, bound.element);
    });
  }

  void delete_pair(const Event& event, Bound bound) {
    if (event.code == SUCCESS) {
      reader_.present(bound.element, EdgeKind::kWriteWrite);
      reader_.note_own_delete(bound.element);
      cursors_.loosen(event.index);
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
      const bool is_noted = at != nullptr && cursors_.notes.is_noted(at->position, element);
      if (!is_noted) reader_.absent(element, coverage);
    }
  }

  const Context& context_;
  Reader reader_;
  ActiveElements active_;
  Cursors cursors_;
};

}  // namespace

void find_dependencies(const Context& context, bool lean, DependencySink& sink) {
  DependencyFinder(context, lean, sink).run();
}

}  // namespace keydrome::certify
