// Implements reader.h: decides what each record that the reader saw or missed implies for the order
// of three transactions: the reader, the record's inserter and the record's deleter. The reader is
// the transaction that is examined at the moment. An *element* is the number of a record, a *cell*
// the number of a key (numbering.h).
#include "checker/certify/edges/reader.h"

#include "checker/model/model.h"

namespace keydrome::certify {

using history::kNoNumber;
using history::Transaction;
using model::CellLists;

namespace {

constexpr const char* kSawOwnDelete =
    "A transaction saw a record that an earlier transaction of the same thread had deleted";

}  // namespace

void Reader::present(uint32_t element, EdgeKind kind) {
  if (own_[element] == own_mark(true)) return;
  if (own_[element] == own_mark(false)) {
    if (is_judged_ && rule(kRuleOwnWrites)) {
      report_deleter("internal",
                     "A transaction saw a record that the same transaction had already deleted",
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
  check_session(version.deleter, element, kSawOwnDelete);
  check_own_blind_deletes(version.inserter, element);
  if (version.deleter != kNoNumber && version.deleter != number_) {
    add_edge(number_, version.deleter, EdgeKind::kReadWrite, Coverage::kNone, element);
  }
}

void Reader::inserted(uint32_t element) {
  // The insert also proves that the record of an earlier insert with the same payload no longer
  // existed.
  if (!context_.numbering.earlier.empty() && rule(kRuleMissedDelete)) {
    const uint32_t earlier = context_.numbering.earlier[element];
    if (earlier != kNoNumber) absent(earlier, Coverage::kMissingKey);
  }
  own_[element] = own_mark(true);
}

void Reader::absent(uint32_t element, Coverage coverage) {
  if (!is_judged_ || own_[element] == own_mark(false)) return;
  if (own_[element] == own_mark(true)) {
    if (rule(kRuleOwnWrites))
      report("internal", "A transaction did not see its own insert", element);
    return;
  }
  const Version version = versions_.of[element];
  if (version.inserter == number_ || version.inserter == kNoNumber ||
      version.inserter == version.deleter) {
    return;
  }
  const bool deleted = version.deleter != kNoNumber && version.deleter != number_;
  const bool deleted_later =
      deleted && history::precedes(*transaction_, committed_[version.deleter]);
  if (!deleted || deleted_later) {
    check_session(version.inserter, element,
                  "A transaction did not see a record that an earlier transaction of the same "
                  "thread had inserted");
  }
  add_absence(version, !deleted || (deleted_later && rule(kRuleRealTime)), coverage, element);
}

void Reader::add_absence(Version version, bool exists_later, Coverage coverage, uint32_t element) {
  if (exists_later) {
    add_edge(number_, version.inserter, EdgeKind::kPredicateWrite, coverage, element);
  } else if (rule(kRuleRealTime) &&
             history::precedes(committed_[version.inserter], *transaction_)) {
    add_edge(version.deleter, number_, EdgeKind::kPredicateRead, coverage, element);
  } else if (rule(kRuleChoice)) {
    sink_.add_choice({number_, version.inserter, version.deleter, element, coverage, event_});
  }
}

void Reader::deleted_key(uint32_t cell, const CellLists& lists) {
  if (!is_judged_ || !rule(kRuleDeleteAll)) return forget_own(cell, lists);
  bool deletes = false;
  // The element that a finding names: preferably an open element, whose deleter is not known for
  // certain (versions.h), and otherwise one that another transaction deleted.
  uint32_t suspect = kNoNumber;
  bool lost = false;  // another transaction deleted one of the elements of the key
  for (uint32_t element = lists.first(cell); element != kNoNumber; element = lists.after(element)) {
    if (takes(element)) {
      deletes = true;
      continue;
    }
    absent(element, Coverage::kMissingKey);
    const uint32_t deleter = versions_.of[element].deleter;
    const bool deleted = deleter != kNoNumber && deleter != number_;
    lost |= deleted;
    const bool open = (versions_.notes[element] & kOpenDeleter) != 0;
    if (open || (deleted && suspect == kNoNumber)) suspect = element;
  }
  // While kRuleRealTime is on, `deletes` is true if the call had a record to delete. While the rule
  // is off, `deletes` may be wrong, so only the replay on the model checks the call.
  if (deletes || !rule(kRuleRealTime) || context_.is_unfinished(cell)) return;
  deleted_nothing(suspect, lost);
}

void Reader::deleted_nothing(uint32_t suspect, bool lost) {
  const char* text =
      lost ? "deleteRecord must return KEY_NOTFOUND for a key whose payloads another transaction "
             "has already deleted"
           : "deleteRecord must return KEY_NOTFOUND for a key without payloads";
  const uint32_t deleter = suspect == kNoNumber ? kNoNumber : versions_.of[suspect].deleter;
  sink_.add_finding({lost ? "lost_update" : "internal", text, suspect, event_, transaction_,
                     deleter == number_ ? kNoNumber : deleter, /*is_about_deleter=*/true,
                     /*blind_deleter=*/number_});
}

void Reader::denied_key(uint32_t cell, const CellLists& lists) {
  if (!is_judged_ || !rule(kRuleRealTime)) return;
  for (uint32_t element = lists.first(cell); element != kNoNumber; element = lists.after(element)) {
    if (!certainly_exists(element)) continue;
    DirectFinding found{"delete_code", model::kDeleteCodeText, element,
                        event_,        transaction_,           kNoNumber};
    found.severity = Severity::kAdvisory;
    return sink_.add_finding(found);
  }
}

bool Reader::takes(uint32_t element) {
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

void Reader::forget_own(uint32_t cell, const CellLists& lists) {
  for (uint32_t element = lists.first(cell); element != kNoNumber; element = lists.after(element)) {
    if (own_[element] == own_mark(true)) note_own_delete(element);
  }
}

void Reader::check_session(uint32_t writer, uint32_t element, const char* text) {
  if (rule(kRuleRealTime) || writer == kNoNumber || writer == number_) return;
  const Transaction& earlier = committed_[writer];
  if (earlier.thread != transaction_->thread || !history::precedes(earlier, *transaction_) ||
      context_.is_unfinished_element(element)) {
    return;
  }
  report_deleter("read_your_writes", text, element);
}

void Reader::check_own_blind_deletes(uint32_t inserter, uint32_t element) {
  if (rule(kRuleRealTime) || context_.is_unfinished_element(element)) return;
  const uint32_t cell = context_.numbering.element_cells[element];
  const auto deleters = versions_.blind_deleters.find(cell);
  if (deleters == versions_.blind_deleters.end()) return;
  const bool alone = versions_.elements_of_cell[cell] == 1;
  const Transaction& insert = committed_[inserter];
  if (!alone && insert.thread != transaction_->thread) return;
  for (const uint32_t number : deleters->second) {
    const Transaction& earlier = committed_[number];
    if (number == inserter || earlier.thread != transaction_->thread ||
        earlier.end >= transaction_->begin) {
      continue;
    }
    if (alone || insert.end < earlier.begin) {
      return report("read_your_writes", kSawOwnDelete, element, number);
    }
  }
}

bool Reader::certainly_exists(uint32_t element) const {
  if (own_[element] == own_mark(true)) return true;
  const Version version = versions_.of[element];
  if (own_[element] == own_mark(false) || version.inserter == kNoNumber ||
      (versions_.notes[element] & kOpenDeleter) != 0 || context_.is_unfinished_element(element)) {
    return false;
  }
  return committed_[version.inserter].end < transaction_->begin &&
         (version.deleter == kNoNumber || transaction_->end < committed_[version.deleter].begin);
}

void Reader::present_without_insert(uint32_t element) {
  const uint8_t notes = versions_.notes[element];
  if ((notes & kInsertedByUnfinished) != 0) return;
  if ((notes & kInsertedByFailed) != 0 || versions_.of[element].inserter != kNoNumber) {
    if (rule(kRuleAborted)) report("aborted_read", kAbortedRead, element);
  } else if (context_.history.truncated_threads.empty()) {
    report("corrupt_payload", "A transaction saw a payload that no call inserted under that key",
           element);
  }
}

void Reader::report_dirty(uint32_t element, uint32_t inserter, EdgeKind kind) {
  if (event_end_ < committed_[inserter].begin) {
    report("aborted_read", kAbortedRead, element);
  } else if (kind == EdgeKind::kWriteWrite) {
    report("dirty_write",
           "A transaction deleted an uncommitted record, whose writer called commitTransaction "
           "only later",
           element, inserter);
  } else {
    report("dirty_read",
           "A transaction saw an uncommitted record, whose writer called commitTransaction only "
           "later",
           element, inserter);
  }
}

void Reader::add_edge(uint32_t from, uint32_t to, EdgeKind kind, Coverage coverage,
                      uint32_t element) {
  static constexpr uint32_t kRules[] = {kRuleWriteWrite, kRuleWriteRead, kRulePredicateRead,
                                        kRuleReadWrite, kRulePredicateWrite};
  if (!rule(kRules[static_cast<std::size_t>(kind)])) return;
  if (lean_ && committed_[from].end < committed_[to].begin) return;
  sink_.add_edge({from, to, kind, coverage, element, event_});
}

void Reader::report_deleter(const char* name, const char* text, uint32_t element, uint32_t other) {
  sink_.add_finding({name, text, element, event_, transaction_, other, /*is_about_deleter=*/true});
}

}  // namespace keydrome::certify
