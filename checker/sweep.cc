#include "checker/sweep.h"

#include <algorithm>
#include <numeric>

#include "checker/cell_lists.h"
#include "checker/rules.h"

namespace keydrome {
namespace {

// The elements that can matter to the transaction at hand; see the header.
class ActiveElements {
 public:
  explicit ActiveElements(const Case& the_case)
      : case_(the_case),
        lists_(the_case.numbering),
        by_begin_(the_case.transactions.committed.size()),
        begins_from_(the_case.transactions.committed.size() + 1, UINT64_MAX) {
    const std::vector<Transaction>& committed = the_case.transactions.committed;
    std::iota(by_begin_.begin(), by_begin_.end(), 0);
    std::sort(by_begin_.begin(), by_begin_.end(),
              [&](uint32_t a, uint32_t b) { return committed[a].begin < committed[b].begin; });
    for (std::size_t i = committed.size(); i-- > 0;) {
      begins_from_[i] = std::min(begins_from_[i + 1], committed[i].begin);
    }
  }

  const CellLists& lists() const { return lists_; }

  void move_to(uint32_t number) {
    const std::vector<Transaction>& committed = case_.transactions.committed;
    while (added_ < by_begin_.size() &&
           committed[by_begin_[added_]].begin <= committed[number].end) {
      add(by_begin_[added_++]);
    }
    while (removed_ < number && committed[removed_].end < begins_from_[number]) remove(removed_++);
  }

 private:
  void add(uint32_t number) {
    const Transaction& transaction = case_.transactions.committed[number];
    const std::vector<Bound>& bounds = case_.numbering.bounds[transaction.thread];
    for_each_call(case_.history, transaction, [&](uint32_t position, const Event& event) {
      if (call_of(event) != EventCall::kInsert || !succeeded(event)) return;
      const uint32_t element = bounds[position].element;
      if (!lists_.contains(element)) lists_.insert(element);
    });
  }

  void remove(uint32_t number) {
    const Transaction& transaction = case_.transactions.committed[number];
    const std::vector<Bound>& bounds = case_.numbering.bounds[transaction.thread];
    for_each_call(case_.history, transaction, [&](uint32_t position, const Event& event) {
      if (!succeeded(event)) return;
      const Bound bound = bounds[position];
      if (call_of(event) == EventCall::kDeletePair) {
        remove_deleted(number, bound.element);
      } else if (call_of(event) == EventCall::kDeleteKey) {
        for (uint32_t element = lists_.first(bound.cell); element != kNoNumber;) {
          const uint32_t following = lists_.after(element);
          remove_deleted(number, element);
          element = following;
        }
      }
    });
  }

  // Open elements stay, where their absence is looked at: another option may keep them longer.
  void remove_deleted(uint32_t number, uint32_t element) {
    const bool open =
        (case_.writers.notes[element] & kOpenDeleter) != 0 && case_.rule(kRuleEitherOr);
    if (case_.writers.of[element].deleter == number && !open && lists_.contains(element)) {
      lists_.remove(element);
    }
  }

  const Case& case_;
  CellLists lists_;
  std::vector<uint32_t> by_begin_;
  std::vector<uint64_t> begins_from_;  // the earliest begin of this transaction and all later ones
  std::size_t added_ = 0;
  uint32_t removed_ = 0;
};

class Sweep {
 public:
  Sweep(const Case& the_case, bool lean, SweepSink& sink)
      : case_(the_case),
        committed_(the_case.transactions.committed),
        writers_(the_case.writers),
        sink_(sink),
        lean_(lean && the_case.rule(kRuleRealTime)),
        active_(the_case),
        own_(the_case.numbering.element_cells.size(), 0),
        notes_(the_case.numbering.element_cells.size(), 0),
        cursors_(the_case.history.indexes.size()) {}

  void run() {
    for (uint32_t i = 0; i < committed_.size(); ++i) {
      active_.move_to(i);
      number_ = i;
      read(committed_[i]);
    }
    if (!case_.rule(kRuleFailedReaders)) return;
    is_judged_ = false;
    for (const Transaction& other : case_.transactions.others) {
      ++number_;
      read(other);
    }
  }

 private:
  enum class Place : uint8_t { kStart, kAtCell, kLoose };
  struct Cursor {
    uint32_t transaction = kNoNumber;
    uint32_t cell = 0;
    uint32_t serial = 0;
    Place place = Place::kStart;
    bool at_end = false;
    bool found = false;  // the cell was entered by a record, not by KEY_NOTFOUND
  };

  void read(const Transaction& transaction) {
    reader_ = &transaction;
    const std::vector<Bound>& bounds = case_.numbering.bounds[transaction.thread];
    for_each_call(case_.history, transaction, [&](uint32_t position, const Event& event) {
      event_ = {transaction.thread, position};
      event_end_ = event.end;
      call(event, bounds[position]);
    });
  }

  void call(const Event& event, Bound bound) {
    switch (call_of(event)) {
      case EventCall::kOpen:
      case EventCall::kClose:
        cursor(event.index).place = Place::kLoose;
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
    enter(at, bound.cell, event.code == SUCCESS);
    if (event.code == SUCCESS) {
      notes_[bound.element] = at.serial * 2;
      present(bound.element, EdgeKind::kWriteRead);
    } else if (case_.rule(kRuleMissingKey)) {
      cover_cell(bound.cell, Coverage::kMissingKey, nullptr);
    }
  }

  void next(const Event& event, Bound bound) {
    if (event.code != SUCCESS && event.code != DB_END) return;
    Cursor& at = cursor(event.index);
    const bool shows = event.code == SUCCESS;
    if (bound.cell == kAnyCursor) at.place = Place::kLoose;
    if (at.place == Place::kLoose) {
      if (shows) present(bound.element, EdgeKind::kWriteRead);
      return;
    }
    if (shows && at.place == Place::kAtCell && bound.cell <= at.cell) {
      step_back_or_stay(at, bound);
      return;
    }
    leave(event, at, shows ? bound.cell : case_.numbering.first_cells[event.index + 1], shows);
    if (!shows) {
      at.at_end = true;
      return;
    }
    enter(at, bound.cell, true);
    notes_[bound.element] = at.serial * 2;
    present(bound.element, EdgeKind::kWriteRead);
  }

  void step_back_or_stay(Cursor& at, Bound bound) {
    const bool again = bound.cell == at.cell && notes_[bound.element] == at.serial * 2;
    if ((again || bound.cell < at.cell) && at.at_end) {
      at.place = Place::kLoose;  // it started again behind the end: advisory
    } else if (again && is_judged_ && case_.rule(kRuleScanOrder)) {
      accuse("duplicate_record", "A scan showed the same record twice", bound.element);
    } else if (bound.cell < at.cell && is_judged_ && case_.rule(kRuleScanOrder)) {
      accuse("wrong_order", "A scan went backwards", bound.element);
    }
    if (bound.cell == at.cell) notes_[bound.element] = at.serial * 2;
    present(bound.element, EdgeKind::kWriteRead);
    if (bound.cell < at.cell && at.place == Place::kAtCell) {
      enter(at, bound.cell, true);
      at.place = Place::kLoose;
    }
  }

  // The step from the cursor to `target` showed nothing else of the cursor's cell and nothing
  // between.
  void leave(const Event& event, const Cursor& at, uint32_t target, bool shows) {
    const bool starts = at.place == Place::kStart;
    if (!starts && at.found && case_.rule(kRuleRestOfKey)) {
      cover_cell(at.cell, Coverage::kRestOfKey, &at);
    }
    const uint32_t from = starts ? case_.numbering.first_cells[event.index] : at.cell + 1;
    const Coverage coverage = !shows   ? Coverage::kTail
                              : starts ? Coverage::kBeforeFirst
                                       : Coverage::kGap;
    const uint32_t rule = !shows ? kRuleTail : starts ? kRuleBeforeFirst : kRuleGap;
    if (!case_.rule(rule)) return;
    const CellLists& lists = active_.lists();
    for (uint32_t cell = lists.next_occupied(from); cell < target;
         cell = lists.next_occupied(cell + 1)) {
      cover_cell(cell, coverage, nullptr);
    }
  }

  void insert(const Event& event, Bound bound) {
    if (event.code == ENTRY_EXISTS && case_.rule(kRuleExists)) {
      present(bound.element, EdgeKind::kWriteRead);
    }
    if (event.code != SUCCESS) return;
    own_[bound.element] = own_mark(true);
    const Cursor& at = cursor(event.index);
    if (at.place == Place::kAtCell && at.cell == bound.cell) {
      notes_[bound.element] = at.serial * 2 + 1;
    }
  }

  void delete_pair(const Event& event, Bound bound) {
    if (event.code == SUCCESS) {
      present(bound.element, EdgeKind::kWriteWrite);
      own_[bound.element] = own_mark(false);
      Cursor& at = cursor(event.index);
      if (at.place == Place::kAtCell && at.cell == bound.cell) at.place = Place::kLoose;
    } else if (event.code == ENTRY_DNE && case_.rule(kRuleMissedDelete)) {
      absent(bound.element, Coverage::kMissingKey);
    } else if (event.code == KEY_NOTFOUND && case_.rule(kRuleMissedDelete)) {
      cover_cell(bound.cell, Coverage::kMissingKey, nullptr);
    }
  }

  void delete_key(const Event& event, Bound bound) {
    if (event.code == KEY_NOTFOUND && case_.rule(kRuleMissedDelete)) {
      cover_cell(bound.cell, Coverage::kMissingKey, nullptr);
    }
    if (event.code != SUCCESS || !is_judged_ || !case_.rule(kRuleDeleteAll)) {
      if (event.code == SUCCESS) forget_own(bound.cell);
      return;
    }
    bool deletes = false;
    uint32_t blamed = kNoNumber;  // an element that it could have deleted, rather an open one
    bool lost = false;            // another transaction deleted that
    const CellLists& lists = active_.lists();
    for (uint32_t element = lists.first(bound.cell); element != kNoNumber;
         element = lists.after(element)) {
      if (own_[element] == own_mark(true)) {
        own_[element] = own_mark(false);
        deletes = true;
      } else if (own_[element] != own_mark(false) && writers_.of[element].deleter == number_ &&
                 writers_.of[element].inserter != number_) {
        // That it was there shows only at commit: no question of having seen it too early.
        edge(writers_.of[element].inserter, number_, EdgeKind::kWriteWrite, Coverage::kNone,
             element);
        own_[element] = own_mark(false);
        deletes = true;
      } else {
        absent(element, Coverage::kMissingKey);
        const bool open = (writers_.notes[element] & kOpenDeleter) != 0;
        const bool deleted = writers_.of[element].deleter != kNoNumber;
        lost |= deleted;
        if (open || (deleted && blamed == kNoNumber)) blamed = element;
      }
    }
    // By real time it is known what it must have found; without, it is left to the replay.
    if (deletes || !case_.rule(kRuleRealTime)) return;
    const char* text =
        lost ? "All payloads of a key were deleted, but another transaction had deleted them"
             : "All payloads of a key without any were deleted";
    sink_.finding({lost ? "lost_update" : "internal", text, blamed, event_, reader_, kNoNumber,
                   /*is_about_deleter=*/true, /*robbed=*/number_});
  }

  // A failed transaction's own inserts are in no list; whatever it deleted is not looked at.
  void forget_own(uint32_t cell) {
    const CellLists& lists = active_.lists();
    for (uint32_t element = lists.first(cell); element != kNoNumber;
         element = lists.after(element)) {
      if (own_[element] == own_mark(true)) own_[element] = own_mark(false);
    }
  }

  // Every active element of the cell that the cursor, if any, has not shown and need not show.
  void cover_cell(uint32_t cell, Coverage coverage, const Cursor* at) {
    if (!is_judged_) return;
    const CellLists& lists = active_.lists();
    for (uint32_t element = lists.first(cell); element != kNoNumber;
         element = lists.after(element)) {
      if (at == nullptr || notes_[element] >> 1 != at->serial) absent(element, coverage);
    }
  }

  // The reader saw the element, or deleted it.
  void present(uint32_t element, EdgeKind kind) {
    if (own_[element] == own_mark(true)) return;
    if (own_[element] == own_mark(false)) {
      if (is_judged_ && case_.rule(kRuleOwnWrites)) {
        accuse_deleter("internal", "A transaction still saw a record that it had deleted", element);
      }
      return;
    }
    const Writer writer = writers_.of[element];
    if (writer.inserter == kNoNumber || (is_judged_ && writer.inserter == number_)) {
      present_without_insert(element);
      return;
    }
    const Transaction& insert = committed_[writer.inserter];
    if (event_end_ < insert.commit_begin && case_.rule(kRuleDirty)) {
      accuse_dirty(element, writer.inserter, kind);
    }
    if (!is_judged_) return;
    if (writer.deleter == writer.inserter) {
      if (case_.rule(kRuleIntermediate)) {
        accuse_deleter("intermediate_read",
                       "A record was seen that its transaction deleted before it committed",
                       element, writer.inserter);
      }
      return;
    }
    edge(writer.inserter, number_, kind, Coverage::kNone, element);
    if (writer.deleter != kNoNumber && writer.deleter != number_) {
      edge(number_, writer.deleter, EdgeKind::kReadWrite, Coverage::kNone, element);
    }
  }

  void accuse_dirty(uint32_t element, uint32_t inserter, EdgeKind kind) {
    if (event_end_ < committed_[inserter].begin) {
      accuse("aborted_read", "A record was seen whose transaction did not commit", element);
    } else if (kind == EdgeKind::kWriteWrite) {
      accuse("dirty_write", "A record was deleted before its transaction asked to commit it",
             element, inserter);
    } else {
      accuse("dirty_read", "A record was seen before its transaction asked to commit it", element,
             inserter);
    }
  }

  void present_without_insert(uint32_t element) {
    const uint8_t notes = writers_.notes[element];
    if ((notes & kInsertedByFailed) != 0 || writers_.of[element].inserter != kNoNumber) {
      if (case_.rule(kRuleAborted)) {
        accuse("aborted_read", "A record was seen whose transaction did not commit", element);
      }
    } else if ((notes & kInsertedByUnfinished) == 0 && case_.history.cut_threads.empty()) {
      accuse("corrupt_payload", "A payload was seen that nobody stored under that key", element);
    }
  }

  // A call of the reader would have shown the element if it were there.
  void absent(uint32_t element, Coverage coverage) {
    if (!is_judged_ || own_[element] == own_mark(false)) return;
    if (own_[element] == own_mark(true)) {
      if (case_.rule(kRuleOwnWrites)) {
        accuse("internal", "A transaction did not see its own insert", element);
      }
      return;
    }
    const Writer writer = writers_.of[element];
    if (writer.inserter == number_ || writer.inserter == kNoNumber ||
        writer.inserter == writer.deleter) {
      return;
    }
    const bool deleted = writer.deleter != kNoNumber && writer.deleter != number_;
    const bool timed = case_.rule(kRuleRealTime);
    if (!deleted || (timed && reader_->end < committed_[writer.deleter].begin)) {
      edge(number_, writer.inserter, EdgeKind::kPredicateWrite, coverage, element);
    } else if (timed && committed_[writer.inserter].end < reader_->begin) {
      edge(writer.deleter, number_, EdgeKind::kPredicateRead, coverage, element);
    } else if (case_.rule(kRuleEitherOr)) {
      sink_.either_or({number_, writer.inserter, writer.deleter, element, coverage, event_});
    }
  }

  void edge(uint32_t from, uint32_t to, EdgeKind kind, Coverage coverage, uint32_t element) {
    static constexpr uint32_t kRules[] = {kRuleWriteWrite, kRuleWriteRead, kRulePredicateRead,
                                          kRuleReadWrite, kRulePredicateWrite};
    if (!case_.rule(kRules[static_cast<std::size_t>(kind)])) return;
    if (lean_ && committed_[from].end < committed_[to].begin) return;
    sink_.edge({from, to, kind, coverage, element, event_});
  }

  void accuse(const char* name, const char* text, uint32_t element, uint32_t other = kNoNumber) {
    sink_.finding({name, text, element, event_, reader_, other});
  }

  void accuse_deleter(const char* name, const char* text, uint32_t element,
                      uint32_t other = kNoNumber) {
    sink_.finding({name, text, element, event_, reader_, other, /*is_about_deleter=*/true});
  }

  Cursor& cursor(uint32_t index) {
    Cursor& at = cursors_[index];
    if (at.transaction != number_) {
      at = Cursor{};
      at.transaction = number_;
    }
    return at;
  }

  void enter(Cursor& at, uint32_t cell, bool found) {
    at.place = Place::kAtCell;
    at.at_end = false;
    at.cell = cell;
    at.serial = ++serial_;
    at.found = found;
  }

  uint32_t own_mark(bool there) const { return (number_ + 1) * 2 + (there ? 1 : 0); }

  const Case& case_;
  const std::vector<Transaction>& committed_;
  const Writers& writers_;
  SweepSink& sink_;
  const bool lean_;
  ActiveElements active_;
  std::vector<uint32_t> own_;    // by element: what the reader itself did to it, see own_mark()
  std::vector<uint32_t> notes_;  // by element: serial * 2 shown by the cursor, + 1 need not show
  std::vector<Cursor> cursors_;  // by index
  uint32_t serial_ = 0;
  uint32_t number_ = 0;  // of the reader
  const Transaction* reader_ = nullptr;
  EventRef event_;
  uint64_t event_end_ = 0;
  bool is_judged_ = true;  // false: the reader failed; only where its reads came from matters
};

}  // namespace

void sweep(const Case& the_case, bool lean, SweepSink& sink) { Sweep(the_case, lean, sink).run(); }

}  // namespace keydrome
