// Implements dependencies.h: finds the dependencies between transactions in one pass over their
// calls. An *element* is the number of a record, a *cell* the number of a key (numbering.h).
//
// DependencyFinder follows the cursors of each transaction. So it knows which records a call
// returned and which it *covers*. A call covers a record that it did not return, but would have
// returned if the record had existed at that time. Reader turns each record that a call returned or
// covers into edges, choices or findings.
#include "checker/certify/dependencies.h"

#include "checker/certify/active_elements.h"
#include "checker/certify/rules.h"
#include "checker/model/cell_lists.h"
#include "checker/model/model.h"

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

// Derives edges, choices and findings from each record that one transaction, called the reader, saw
// or did not see. The reader may also write.
class Reader {
 public:
  Reader(const Context& context, bool lean, DependencySink& sink)
      : context_(context),
        committed_(context.transactions.committed),
        versions_(context.versions),
        sink_(sink),
        lean_(lean && context.rule(kRuleRealTime)),
        own_(context.numbering.element_cells.size(), 0) {}

  // Makes `transaction` the reader. `is_judged` is false for a transaction that failed or never
  // ended. For such a reader, only the inserters of the records that it saw are checked.
  void start(uint32_t number, const Transaction& transaction, bool is_judged) {
    number_ = number;
    transaction_ = &transaction;
    is_judged_ = is_judged;
  }
  void set_call(EventRef event, uint64_t end) {
    event_ = event;
    event_end_ = end;
  }

  uint32_t number() const { return number_; }
  bool is_judged() const { return is_judged_; }
  bool rule(uint32_t rule) const { return context_.rule(rule); }

  void note_own_insert(uint32_t element) { own_[element] = own_mark(true); }
  void note_own_delete(uint32_t element) { own_[element] = own_mark(false); }

  // Handles an element that the call returned (kind kWriteRead) or deleted (kind kWriteWrite).
  void present(uint32_t element, EdgeKind kind) {
    if (own_[element] == own_mark(true)) return;
    if (own_[element] == own_mark(false)) {
      if (is_judged_ && rule(kRuleOwnWrites)) {
        report_deleter("internal", "A transaction saw a record that it had deleted itself before",
                       element);
      }
      return;
    }
    const Version version = versions_.of[element];
    if (version.inserter == kNoNumber || (is_judged_ && version.inserter == number_)) {
      return present_without_insert(element);
    }
    if (event_end_ < committed_[version.inserter].commit_begin && rule(kRuleDirty)) {
      report_dirty(element, version.inserter, kind);
    }
    if (!is_judged_) return;
    if (version.deleter == version.inserter) {
      if (!rule(kRuleIntermediate)) return;
      return report_deleter("intermediate_read",
                            "A transaction saw a record that its writer deleted before committing",
                            element, version.inserter);
    }
    add_edge(version.inserter, number_, kind, Coverage::kNone, element);
    check_session(version.deleter, element,
                  "A transaction saw a record that its own thread had deleted before");
    if (version.deleter != kNoNumber && version.deleter != number_) {
      add_edge(number_, version.deleter, EdgeKind::kReadWrite, Coverage::kNone, element);
    }
  }

  // Handles an element that the call covers but did not return. To the reader it did not exist.
  void absent(uint32_t element, Coverage coverage) {
    if (!is_judged_ || own_[element] == own_mark(false)) return;
    if (own_[element] == own_mark(true)) {
      if (rule(kRuleOwnWrites)) {
        report("internal", "A transaction did not see its own insert", element);
      }
      return;
    }
    const Version version = versions_.of[element];
    if (version.inserter == number_ || version.inserter == kNoNumber ||
        version.inserter == version.deleter) {
      return;
    }
    const bool deleted = version.deleter != kNoNumber && version.deleter != number_;
    const bool timed = rule(kRuleRealTime);
    if (!deleted || transaction_->end < committed_[version.deleter].begin) {
      check_session(version.inserter, element,
                    "A transaction did not see a record that its own thread had inserted before");
    }
    if (!deleted || (timed && transaction_->end < committed_[version.deleter].begin)) {
      add_edge(number_, version.inserter, EdgeKind::kPredicateWrite, coverage, element);
    } else if (timed && committed_[version.inserter].end < transaction_->begin) {
      add_edge(version.deleter, number_, EdgeKind::kPredicateRead, coverage, element);
    } else if (rule(kRuleChoice)) {
      sink_.add_choice({number_, version.inserter, version.deleter, element, coverage, event_});
    }
  }

  // Handles a successful deleteRecord of all payloads of a key. `lists` has the active elements.
  void deleted_key(uint32_t cell, const CellLists& lists) {
    if (!is_judged_ || !rule(kRuleDeleteAll)) return forget_own(cell, lists);
    bool deletes = false;
    // An element that the call could have deleted, preferably an open element.
    uint32_t suspect = kNoNumber;
    bool lost = false;  // another transaction deleted one of the elements of the key
    for (uint32_t element = lists.first(cell); element != kNoNumber;
         element = lists.after(element)) {
      if (takes(element)) {
        deletes = true;
        continue;
      }
      absent(element, Coverage::kMissingKey);
      const bool deleted = versions_.of[element].deleter != kNoNumber;
      lost |= deleted;
      const bool open = (versions_.notes[element] & kOpenDeleter) != 0;
      if (open || (deleted && suspect == kNoNumber)) suspect = element;
    }
    // With real time, `deletes` is true if the call had a record to delete. Without real time,
    // `deletes` may be wrong, so only the replay on the model checks the call.
    if (deletes || !rule(kRuleRealTime) || context_.is_unfinished(cell)) return;
    const char* text =
        lost ? "A transaction deleted all payloads of a key that another transaction had deleted"
             : "deleteRecord returned SUCCESS for a key without payloads, not KEY_NOTFOUND";
    sink_.add_finding({lost ? "lost_update" : "internal", text, suspect, event_, transaction_,
                       kNoNumber, /*is_about_deleter=*/true, /*blind_deleter=*/number_});
  }

  // Handles a deleteRecord of a missing pair of the key `cell` that returned KEY_NOTFOUND. The
  // contract asks for ENTRY_DNE if the key has payloads. Real time must prove that it has one.
  void denied_key(uint32_t cell, const CellLists& lists) {
    if (!is_judged_ || !rule(kRuleRealTime)) return;
    for (uint32_t element = lists.first(cell); element != kNoNumber;
         element = lists.after(element)) {
      if (!certainly_exists(element)) continue;
      DirectFinding found{"delete_code", model::kDeleteCodeText, element,
                          event_,        transaction_,           kNoNumber};
      found.severity = Severity::kAdvisory;
      return sink_.add_finding(found);
    }
  }

  void report(const char* name, const char* text, uint32_t element, uint32_t other = kNoNumber) {
    sink_.add_finding({name, text, element, event_, transaction_, other});
  }

 private:
  // Returns true if the reader's deleteRecord of all payloads deleted this element.
  bool takes(uint32_t element) {
    if (own_[element] == own_mark(true)) {
      note_own_delete(element);
      return true;
    }
    const Version version = versions_.of[element];
    if (own_[element] == own_mark(false) || version.deleter != number_ ||
        version.inserter == number_) {
      return false;
    }
    // It is unknown when the delete saw the record, so the delete never proves a dirty read.
    add_edge(version.inserter, number_, EdgeKind::kWriteWrite, Coverage::kNone, element);
    note_own_delete(element);
    return true;
  }

  // Handles a deleteRecord of all payloads that is not checked: only marks the reader's own inserts
  // of the key as deleted.
  void forget_own(uint32_t cell, const CellLists& lists) {
    for (uint32_t element = lists.first(cell); element != kNoNumber;
         element = lists.after(element)) {
      if (own_[element] == own_mark(true)) note_own_delete(element);
    }
  }

  // Reports that the reader did not see the write of the transaction `writer`, if both are of the
  // same thread and `writer` had returned before the reader began. With real time, a cycle shows
  // this too, so it is a finding only without real time.
  void check_session(uint32_t writer, uint32_t element, const char* text) {
    if (rule(kRuleRealTime) || writer == kNoNumber || writer == number_) return;
    const Transaction& earlier = committed_[writer];
    if (earlier.thread != transaction_->thread || earlier.end >= transaction_->begin ||
        context_.is_unfinished_element(element)) {
      return;
    }
    report_deleter("read_your_writes", text, element);
  }

  // Returns true if the element exists for the reader in every serial order that respects real time.
  bool certainly_exists(uint32_t element) const {
    if (own_[element] == own_mark(true)) return true;
    const Version version = versions_.of[element];
    if (own_[element] == own_mark(false) || version.inserter == kNoNumber ||
        (versions_.notes[element] & kOpenDeleter) != 0 || context_.is_unfinished_element(element)) {
      return false;
    }
    return committed_[version.inserter].end < transaction_->begin &&
           (version.deleter == kNoNumber || transaction_->end < committed_[version.deleter].begin);
  }

  void present_without_insert(uint32_t element) {
    const uint8_t notes = versions_.notes[element];
    if ((notes & kInsertedByUnfinished) != 0) return;
    if ((notes & kInsertedByFailed) != 0 || versions_.of[element].inserter != kNoNumber) {
      if (rule(kRuleAborted)) report("aborted_read", kAbortedRead, element);
    } else if (context_.history.truncated_threads.empty()) {
      report("corrupt_payload", "A transaction saw a payload that no call inserted under that key",
             element);
    }
  }

  void report_dirty(uint32_t element, uint32_t inserter, EdgeKind kind) {
    if (event_end_ < committed_[inserter].begin) {
      report("aborted_read", kAbortedRead, element);
    } else if (kind == EdgeKind::kWriteWrite) {
      report("dirty_write",
             "A transaction deleted a record before its writer called commitTransaction", element,
             inserter);
    } else {
      report("dirty_read", "A transaction saw a record before its writer called commitTransaction",
             element, inserter);
    }
  }

  void add_edge(uint32_t from, uint32_t to, EdgeKind kind, Coverage coverage, uint32_t element) {
    static constexpr uint32_t kRules[] = {kRuleWriteWrite, kRuleWriteRead, kRulePredicateRead,
                                          kRuleReadWrite, kRulePredicateWrite};
    if (!rule(kRules[static_cast<std::size_t>(kind)])) return;
    if (lean_ && committed_[from].end < committed_[to].begin) return;
    sink_.add_edge({from, to, kind, coverage, element, event_});
  }

  void report_deleter(const char* name, const char* text, uint32_t element,
                      uint32_t other = kNoNumber) {
    sink_.add_finding(
        {name, text, element, event_, transaction_, other, /*is_about_deleter=*/true});
  }

  uint32_t own_mark(bool exists) const { return (number_ + 1) * 2 + (exists ? 1 : 0); }

  static constexpr const char* kAbortedRead =
      "A transaction saw a record whose writer never committed";

  const Context& context_;
  const std::vector<Transaction>& committed_;
  const Versions& versions_;
  DependencySink& sink_;
  const bool lean_;
  // By element: own_mark(true) if the reader has inserted it, own_mark(false) if the reader has
  // deleted it. Marks of other readers have other values and are ignored.
  std::vector<uint32_t> own_;
  uint32_t number_ = 0;
  const Transaction* transaction_ = nullptr;
  bool is_judged_ = true;
  EventRef event_;  // the current call
  uint64_t event_end_ = 0;
};

enum class CursorPlace : uint8_t {
  kStart,   // before the first record
  kAtCell,  // at the key `cell`
  kLoose,  // unknown, so the next getNext may return any record that exists, and anchors the cursor
};

// The cursor of an index in the current transaction.
struct Cursor {
  uint32_t transaction = kNoNumber;  // in any other transaction the cursor is at kStart
  uint32_t cell = 0;
  uint32_t serial = 0;  // changes whenever the cursor moves to a key; see returned_
  CursorPlace place = CursorPlace::kStart;
  bool at_end = false;  // the last getNext returned DB_END
  // True if a scan that leaves the key must have returned all its records. False if a get had found
  // no record of the key, or if the cursor was loose and getNext anchored it at the key.
  bool owes_key = false;
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
      return step_back_or_stay(at, bound);
    }
    leave(event, at, returns ? bound.cell : context_.numbering.first_cells[event.index + 1]);
    at.at_end = !returns;
    if (returns) move_to(at, bound, /*owes_key=*/true);
  }

  // Handles a getNext that returned a record of the cursor's key or of a smaller key.
  void step_back_or_stay(Cursor& at, Bound bound) {
    // After DB_END a scan may start again at the first record. That breaks only an advisory rule.
    if (at.at_end) return move_to(at, bound, /*owes_key=*/false);
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
    // The insert also proves that an earlier insert of the same record no longer stores it.
    if (!context_.numbering.earlier.empty() && context_.rule(kRuleMissedDelete)) {
      const uint32_t earlier = context_.numbering.earlier[bound.element];
      if (earlier != kNoNumber) reader_.absent(earlier, Coverage::kMissingKey);
    }
    reader_.note_own_insert(bound.element);
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
    // KEY_NOTFOUND also says only that the pair is missing: the key may have other payloads.
    const bool missed = event.code == ENTRY_DNE || event.code == KEY_NOTFOUND;
    if (missed && context_.rule(kRuleMissedDelete)) {
      reader_.absent(bound.element, Coverage::kMissingKey);
    }
    if (event.code == KEY_NOTFOUND) reader_.denied_key(bound.cell, active_.lists());
  }

  void delete_key(const Event& event, Bound bound) {
    if (event.code == KEY_NOTFOUND && context_.rule(kRuleMissedDelete)) {
      cover_cell(bound.cell, Coverage::kMissingKey, nullptr);
    }
    if (event.code == SUCCESS) reader_.deleted_key(bound.cell, active_.lists());
  }

  // Handles a result which says that no element of the key `cell` exists. If `at` is given,
  // ignores elements that this cursor has returned or may leave out.
  void cover_cell(uint32_t cell, Coverage coverage, const Cursor* at) {
    if (!reader_.is_judged()) return;
    const CellLists& lists = active_.lists();
    for (uint32_t element = lists.first(cell); element != kNoNumber;
         element = lists.after(element)) {
      if (at == nullptr || returned_[element] >> 1 != at->serial) reader_.absent(element, coverage);
    }
  }

  Cursor& cursor(uint32_t index) {
    Cursor& at = cursors_[index];
    if (at.transaction != reader_.number()) {
      at = Cursor{};
      at.transaction = reader_.number();
    }
    return at;
  }

  void enter(Cursor& at, uint32_t cell, bool owes_key) {
    at.place = CursorPlace::kAtCell;
    at.at_end = false;
    at.cell = cell;
    at.serial = ++serial_;
    at.owes_key = owes_key;
  }

  // Moves the cursor to a record that a call returned. If it was loose, the record anchors it: the
  // scan is judged from there on, but it may leave out further records of this key.
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
  std::vector<Cursor> cursors_;  // by index
  uint32_t serial_ = 0;
};

}  // namespace

void find_dependencies(const Context& context, bool lean, DependencySink& sink) {
  DependencyFinder(context, lean, sink).run();
}

}  // namespace keydrome::certify
