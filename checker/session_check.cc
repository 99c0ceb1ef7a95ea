#include "checker/session_check.h"

#include <algorithm>
#include <utility>

#include "checker/calls.h"
#include "checker/model.h"
#include "checker/numbering.h"
#include "checker/transactions.h"

namespace keydrome {
namespace {

constexpr uint32_t kNowhere = 0xffffffff;

// Where a record came and went last.
struct Changes {
  uint32_t inserted = kNowhere;
  uint32_t deleted = kNowhere;
  uint32_t shown = kNowhere;  // by get or getNext
};

// Where the scan of an index stands.
struct Stand {
  uint32_t transaction = 0;      // it stands nowhere in any other
  uint32_t position = kNowhere;  // of the read that placed it
  uint32_t cell = 0;
  uint32_t entered = 0;  // position of the first read in that cell

  void move(uint32_t to_position, uint32_t to_cell) {
    position = entered = to_position;
    cell = to_cell;
  }
};

class SessionChecker {
 public:
  explicit SessionChecker(const History& history)
      : events_(history.threads[0]),
        numbering_(history),
        model_(numbering_),
        changes_(numbering_.element_cells.size()),
        elements_(numbering_.cells.size()),
        undone_(events_.size(), kNowhere),
        stands_(history.indexes.size()),
        created_(history.indexes.size(), false) {
    for (uint32_t i = 0; i < numbering_.element_cells.size(); ++i) {
      elements_[numbering_.element_cells[i]].push_back(i);
    }
  }

  // The first fault before the event `end`.
  std::optional<SessionFault> run(uint32_t end) {
    for (at_ = 0; at_ < end && !fault_; ++at_) step(events_[at_]);
    return std::move(fault_);
  }

 private:
  void step(const Event& event) {
    const EventCall call = call_of(event);
    if (event.code == DEADLOCK && call != EventCall::kAbort) return deadlock();
    switch (call) {
      case EventCall::kCreate:
        return create(event);
      case EventCall::kOpen:
        return open(event);
      case EventCall::kClose:
        if (event.code != SUCCESS) return illegal();
        model_.apply(event, {});
        stand(event.index).position = kNowhere;
        return;
      case EventCall::kBegin:
        if (event.code != SUCCESS) return illegal();
        return begin();
      case EventCall::kCommit:
        return commit(event);
      case EventCall::kAbort:
        return abort(event);
      default:
        return data_call(event);
    }
  }

  void deadlock() {
    failed_ = true;
    if (++deadlocks_ < kLoneAttemptsMax) return;
    accuse("no_progress", "nobody else is there, and it is the tenth DEADLOCK in a row", {});
  }

  void create(const Event& event) {
    if (event.code != (created_[event.index] ? DB_EXISTS : SUCCESS)) return illegal();
    created_[event.index] = true;
  }

  void open(const Event& event) {
    if (event.code != (created_[event.index] ? SUCCESS : DB_DNE)) return illegal();
    model_.apply(event, {});
    stand(event.index).position = kNowhere;
  }

  void begin() {
    model_.begin();
    model_.settle();
    ++transaction_;
    open_ = true;
    failed_ = false;
    begun_ = at_;
  }

  void commit(const Event& event) {
    if (event.code != SUCCESS) return failed_ ? void() : illegal();
    if (failed_) {
      return accuse("commit_after_deadlock", "the transaction had been answered DEADLOCK", {});
    }
    model_.settle();
    open_ = false;
    deadlocks_ = 0;
  }

  void abort(const Event& event) {
    if (event.code == DEADLOCK) return;  // advisory; it is asked again
    if (event.code != SUCCESS && !failed_) return illegal();
    if (!open_) return;
    model_.rewind(0);
    for (uint32_t i = begun_; i < at_; ++i) undone_[i] = at_;
    if (!failed_) deadlocks_ = 0;
    open_ = false;
    failed_ = false;
  }

  void data_call(const Event& event) {
    const bool alone = is_auto_commit(event);
    if (event.code == FAILURE) {
      return accuse("unexpected_failure", "nothing can fail here", {});
    }
    if (event.code == TXN_DNE || event.code == DB_DNE) return illegal();
    if (alone) {
      model_.begin();
      ++transaction_;
    }
    const Bound bound = numbering_.bounds[0][at_];
    const Mismatch mismatch = model_.apply(event, bound);
    if (mismatch != Mismatch::kNone) return name(event, bound, mismatch);
    note(event, bound);
    if (!alone) return;
    model_.settle();
    deadlocks_ = 0;
    failed_ = false;
  }

  // What a right answer says for later ones.
  void note(const Event& event, Bound bound) {
    switch (call_of(event)) {
      case EventCall::kGet:
        stand(event.index).move(at_, bound.cell);
        if (succeeded(event)) changes_[bound.element].shown = at_;
        return;
      case EventCall::kNext:
        return note_next(event, bound);
      case EventCall::kInsert:
        if (succeeded(event)) changes_[bound.element].inserted = at_;
        return;
      case EventCall::kDeletePair:
        if (succeeded(event)) changes_[bound.element].deleted = at_;
        return;
      case EventCall::kDeleteKey:
        if (!succeeded(event)) return;
        for (const uint32_t element : elements_[bound.cell]) changes_[element].deleted = at_;
        return;
      default:
        return;
    }
  }

  void note_next(const Event& event, Bound bound) {
    if (!succeeded(event)) return;
    const uint32_t cell = numbering_.element_cells[bound.element];
    Stand& place = stand(event.index);
    const uint32_t entered = place.position != kNowhere && place.cell == cell ? place.entered : at_;
    place.move(at_, cell);
    place.entered = entered;
    changes_[bound.element].shown = at_;
  }

  void name(const Event& event, Bound bound, Mismatch mismatch) {
    switch (call_of(event)) {
      case EventCall::kGet:
      case EventCall::kNext:
        return name_read(event, bound, mismatch);
      case EventCall::kInsert:
        return accuse_of("wrong_insert",
                         mismatch == Mismatch::kRecordIsThere ? "that pair is stored already"
                                                              : "that pair is not stored",
                         bound.element);
      default: {
        const bool there = mismatch == Mismatch::kRecordIsThere;
        const uint32_t element = bound.element != kNoNumber ? bound.element : any_of(bound.cell);
        return accuse_of("wrong_delete", there ? "a record is there" : "no such record is there",
                         element);
      }
    }
  }

  void name_read(const Event& event, Bound bound, Mismatch mismatch) {
    switch (mismatch) {
      case Mismatch::kRecordIsMissing:
        return name_shown(bound.element);
      case Mismatch::kRecordIsThere:
        return accuse_of("missing_record", "a record of that key is there", any_of(bound.cell));
      case Mismatch::kShownTwice:
        return accuse("duplicate_record", "the scan has shown that record before",
                      {changes_[bound.element].shown});
      default:
        break;
    }
    const Stand place = stand(event.index);
    const bool placed = place.position != kNowhere;
    const bool at_end = event.code == DB_END;
    if (!at_end && placed && bound.cell < place.cell) {
      return accuse("wrong_order", "the scan went backwards", {place.position});
    }
    const uint32_t passed = passed_over(event, place, at_end ? kNoNumber : bound.cell);
    if (!at_end && passed == kNoNumber) {
      return accuse("wrong_order", "that is not the next record of the scan", {place.position});
    }
    accuse_of("missing_record",
              at_end ? "there are records left for the scan" : "the scan passed over a record",
              passed, place.position);
  }

  // A record was shown that is not there.
  void name_shown(uint32_t element) {
    const Changes& known = changes_[element];
    if (known.inserted == kNowhere) {
      return accuse("corrupt_payload", "nobody inserted that payload under that key", {});
    }
    const bool inserter_aborted = undone_[known.inserted] != kNowhere;
    const bool deleted = known.deleted != kNowhere && known.deleted > known.inserted &&
                         undone_[known.deleted] == kNowhere;
    if (inserter_aborted && !deleted) {
      return accuse_of("aborted_read", "the transaction that inserted that record was aborted",
                       element);
    }
    accuse_of("deleted_record", "that record was deleted before", element);
  }

  // A transaction that reads what its own last change contradicts does not see its own changes.
  void accuse_of(std::string name, std::string reason, uint32_t element,
                 uint32_t place = kNowhere) {
    std::vector<uint32_t> causes{place};
    bool own = false;
    if (element != kNoNumber) {
      const Changes& known = changes_[element];
      const bool gone = known.deleted != kNowhere &&
                        (known.inserted == kNowhere || known.deleted > known.inserted);
      const uint32_t last = gone ? known.deleted : known.inserted;
      own = open_ && !is_auto_commit(events_[at_]) && last != kNowhere && last > begun_;
      for (const uint32_t cause : {known.inserted, gone ? known.deleted : kNowhere}) {
        causes.push_back(cause);
        if (cause != kNowhere) causes.push_back(undone_[cause]);
      }
    }
    const EventCall call = call_of(events_[at_]);
    own &= call == EventCall::kGet || call == EventCall::kNext;
    if (own) reason += ", and the transaction made that change itself";
    accuse(own ? "internal" : std::move(name), std::move(reason), std::move(causes));
  }

  void illegal() { accuse("illegal_answer", "the contract does not allow that answer here", {}); }

  void accuse(std::string name, std::string reason, std::vector<uint32_t> causes) {
    std::erase(causes, kNowhere);
    std::sort(causes.begin(), causes.end());
    causes.erase(std::unique(causes.begin(), causes.end()), causes.end());
    fault_ = SessionFault{.name = std::move(name),
                          .reason = std::move(reason),
                          .position = at_,
                          .causes = std::move(causes)};
  }

  Stand& stand(uint32_t index) {
    Stand& place = stands_[index];
    if (place.transaction != transaction_) place = {.transaction = transaction_};
    return place;
  }

  // A record that is there under the key; kNoNumber when there is none.
  uint32_t any_of(uint32_t cell) const {
    for (const uint32_t element : elements_[cell]) {
      if (model_.contains(element)) return element;
    }
    // None: then what was there last.
    return elements_[cell].empty() ? kNoNumber : elements_[cell].front();
  }

  // The first record between where the scan stood and `end`, or one of the key where it stood that
  // it has not shown.
  uint32_t passed_over(const Event& event, const Stand& place, uint32_t end) const {
    const bool placed = place.position != kNowhere;
    const uint32_t first = numbering_.first_cells[event.index];
    const uint32_t last = std::min(end, numbering_.first_cells[event.index + 1]);
    for (uint32_t cell = placed ? place.cell : first; cell < last; ++cell) {
      const bool here = placed && cell == place.cell;
      for (const uint32_t element : elements_[cell]) {
        if (!model_.contains(element)) continue;
        const uint32_t shown = changes_[element].shown;
        if (here && shown != kNowhere && shown >= place.entered) continue;
        return element;
      }
    }
    return kNoNumber;
  }

  const std::vector<Event>& events_;
  const Numbering numbering_;
  Model model_;
  std::vector<Changes> changes_;                 // by element
  std::vector<std::vector<uint32_t>> elements_;  // by cell
  std::vector<uint32_t> undone_;                 // by event: the abort that took it back
  std::vector<Stand> stands_;                    // by index
  std::vector<bool> created_;                    // by index
  std::optional<SessionFault> fault_;
  uint32_t at_ = 0;
  uint32_t transaction_ = 0;  // counts auto-commit calls too
  uint32_t begun_ = 0;        // position of the open transaction's begin
  uint32_t deadlocks_ = 0;    // answers since something got through
  bool open_ = false;
  bool failed_ = false;  // the open transaction was answered DEADLOCK
};

}  // namespace

SessionCheck check_session(const History& history) {
  SessionCheck check;
  if (history.threads.size() != 1) {
    check.problem = "a session is one thread";
    return check;
  }
  Transactions transactions = split_into_transactions(history);
  // Numbers and the model rely on calls and indexes that exist.
  if (!transactions.problem.empty()) {
    check.problem = std::move(transactions.problem);
    return check;
  }
  auto end = static_cast<uint32_t>(history.threads[0].size());
  SessionFault first;
  const auto note = [&](std::string name, std::string reason, uint32_t position) {
    if (position >= end) return;
    end = position;
    first = {
        .name = std::move(name), .reason = std::move(reason), .position = position, .causes = {}};
  };
  for (const WrongAnswer& wrong : transactions.wrong_answers) {
    if (wrong.name == "undocumented_code") {
      note(wrong.name, "the call is not documented to give that answer", wrong.event.position);
    }
  }
  for (const UnknownKey& unknown : history.unknown_keys) {
    note("corrupt_key", "nobody ever passed that key", unknown.position);
  }
  check.fault = SessionChecker(history).run(end);
  if (!check.fault && !first.name.empty()) check.fault = std::move(first);
  return check;
}

}  // namespace keydrome
