// Implements session_check.h: checks the recorded calls of a single client. SessionChecker replays
// the calls on the model (model.h). At the first wrong result, Explainer finds the name of the
// violation and the earlier calls that contradict the result.
#include "checker/model/session_check.h"

#include <algorithm>
#include <utility>

#include "base/keydrome_error.h"
#include "checker/history/calls.h"
#include "checker/history/numbering.h"
#include "checker/history/transactions.h"
#include "checker/model/model.h"
#include "checker/model/session_trace.h"
#include "checker/names.h"

namespace keydrome::model {

using history::Bound;
using history::CallViolation;
using history::CursorScope;
using history::Event;
using history::EventCall;
using history::History;
using history::kNoNumber;
using history::Numbering;
using history::Transactions;
using history::UnknownKey;

namespace {

// The open transaction of the client, if there is one.
struct OpenTransaction {
  uint32_t begun = kNoCall;  // position of its begin; kNoCall while no transaction is open
  // True if a call returned DEADLOCK since the last begin. An auto-commit call that returns
  // DEADLOCK sets the flag as well, and an auto-commit call that succeeds clears it.
  bool failed = false;
  bool is_open() const { return begun != kNoCall; }
};

// Turns a result that the model rejects into a violation, with a name and the earlier calls that
// contradict the result.
class Explainer {
 public:
  Explainer(const std::vector<Event>& events, const Numbering& numbering, const Model& model,
            SessionTrace& trace)
      : events_(events), numbering_(numbering), model_(model), trace_(trace) {}

  SessionViolation explain(uint32_t call, Bound bound, Mismatch mismatch,
                           const OpenTransaction& open) const {
    const Event& event = events_[call];
    const bool exists = mismatch == Mismatch::kRecordIsThere;
    switch (call_of(event)) {
      case EventCall::kGet:
      case EventCall::kNext:
        return explain_read(call, bound, mismatch, open);
      case EventCall::kInsert:
        return about(call, "wrong_insert",
                     exists ? "this pair of key and payload was stored already, so insertRecord "
                              "must return ENTRY_EXISTS"
                            : "this pair of key and payload is not stored, so insertRecord must "
                              "return SUCCESS",
                     bound.element);
      default:
        return about(
            call, "wrong_delete", delete_reason(call_of(event), exists),
            bound.element != kNoNumber ? bound.element : trace_.record_under(bound.cell, model_));
    }
  }

  // Says which result a deleteRecord must return. `exists` is true if it has something to delete.
  static const char* delete_reason(EventCall call, bool exists) {
    if (call == EventCall::kDeleteKey) {
      return exists ? "a record under this key exists, so deleteRecord must return SUCCESS"
                    : "no record under this key exists, so deleteRecord must return KEY_NOTFOUND";
    }
    return exists ? "the record exists, so deleteRecord must return SUCCESS"
                  : "the record does not exist, so deleteRecord must return KEY_NOTFOUND or "
                    "ENTRY_DNE";
  }

  // Explains a call that only breaks an advisory promise, i.e. causes a warning
  // (Model::breaks_delete_code()). The call named a pair of the key `cell`.
  SessionViolation advise(uint32_t call, uint32_t cell) const {
    return about(call, "delete_code", kDeleteCodeText, trace_.record_under(cell, model_));
  }

 private:
  SessionViolation explain_read(uint32_t call, Bound bound, Mismatch mismatch,
                                const OpenTransaction& open) const {
    if (mismatch == Mismatch::kRecordIsMissing) return wrongly_returned(call, bound.element, open);
    if (mismatch == Mismatch::kRecordIsThere) {
      return about_read(call, "missing_record",
                        "a record under this key exists, so get must return it",
                        trace_.record_under(bound.cell, model_), open);
    }
    if (mismatch == Mismatch::kShownTwice) {
      return violation(call, "duplicate_record",
                       "the scan has returned this record before, and must return it only once",
                       {trace_.record(bound.element).returned});
    }
    return explain_step(call, bound, open);
  }

  // Explains a wrong result of getNext: the scan went backwards, skipped a record or ended too
  // early.
  SessionViolation explain_step(uint32_t call, Bound bound, const OpenTransaction& open) const {
    const Event& event = events_[call];
    const uint32_t cursor = numbering_.cursor_of(event);
    const ScanTrace scan = trace_.scan(cursor);
    const bool ends = event.code == DB_END;
    if (!ends && scan.is_placed() && bound.cell < scan.cell) {
      return violation(call, "wrong_order",
                       "the scan went backwards: getNext must return keys in ascending order",
                       {scan.call});
    }
    const uint32_t skipped =
        trace_.skipped(event.index, cursor, ends ? kNoNumber : bound.cell, model_);
    if (!ends && skipped == kNoNumber) {
      return violation(
          call, "wrong_order",
          "getNext must return the next record of the scan, or DB_END if no record is left; after "
          "DB_END, it may also start again at the first record",
          {scan.call});
    }
    return about_read(
        call, "missing_record",
        ends ? "the scan has not yet returned all records, so getNext must not return DB_END"
             : "the scan skipped a record that getNext must return first",
        skipped, open, scan.call);
  }

  // Explains a read that returned a record that does not exist.
  SessionViolation wrongly_returned(uint32_t call, uint32_t element,
                                    const OpenTransaction& open) const {
    const RecordTrace& record = trace_.record(element);
    if (record.inserted == kNoCall) {
      return violation(call, "corrupt_payload", "no call inserted this payload under this key", {});
    }
    const bool insert_rolled_back = trace_.rolled_back_by(record.inserted) != kNoCall;
    const bool deleted =
        record.was_deleted_last() && trace_.rolled_back_by(record.deleted) == kNoCall;
    if (insert_rolled_back && !deleted) {
      return about_read(call, "aborted_read",
                        "the transaction that inserted this record was aborted, so the record must "
                        "not exist",
                        element, open);
    }
    return about_read(call, "deleted_record",
                      "this record was deleted before, so no call may return it", element, open);
  }

  // Makes the violation of a read, as about() does. If the reading transaction itself made the last
  // change of the record, the violation is named "internal" instead of `name`.
  SessionViolation about_read(uint32_t call, std::string name, std::string reason, uint32_t element,
                              const OpenTransaction& open, uint32_t scan = kNoCall) const {
    if (element != kNoNumber && open.is_open() && !is_auto_commit(events_[call])) {
      const RecordTrace& record = trace_.record(element);
      const uint32_t last = record.was_deleted_last() ? record.deleted : record.inserted;
      if (last != kNoCall && last > open.begun) {
        name = "internal";
        reason += record.was_deleted_last()
                      ? "; this transaction itself had deleted the record"
                      : "; this transaction itself had inserted the missing record";
      }
    }
    return about(call, std::move(name), std::move(reason), element, scan);
  }

  // Makes a violation that cites the last insert of the record, the delete after this insert, and
  // the aborts that undid these calls. It also cites `scan`, the read that placed the cursor, if
  // `scan` is not kNoCall.
  SessionViolation about(uint32_t call, std::string name, std::string reason, uint32_t element,
                         uint32_t scan = kNoCall) const {
    std::vector<uint32_t> causes{scan};
    if (element != kNoNumber) {
      const RecordTrace& record = trace_.record(element);
      for (const uint32_t cause :
           {record.inserted, record.was_deleted_last() ? record.deleted : kNoCall}) {
        causes.push_back(cause);
        if (cause != kNoCall) causes.push_back(trace_.rolled_back_by(cause));
      }
    }
    return violation(call, std::move(name), std::move(reason), std::move(causes));
  }

 public:
  static SessionViolation violation(uint32_t call, std::string name, std::string reason,
                                    std::vector<uint32_t> causes) {
    std::erase(causes, kNoCall);
    std::ranges::sort(causes);
    causes.erase(std::ranges::unique(causes).begin(), causes.end());
    return {.name = std::move(name),
            .reason = std::move(reason),
            .position = call,
            .causes = std::move(causes)};
  }

 private:
  const std::vector<Event>& events_;
  const Numbering& numbering_;
  const Model& model_;
  SessionTrace& trace_;
};

// Replays the calls of the client on the model until the first violation.
class SessionChecker {
 public:
  SessionChecker(const History& history, CursorScope scope)
      : events_(history.threads[0]),
        numbering_(history, scope),
        model_(numbering_),
        trace_(history, numbering_),
        explainer_(events_, numbering_, model_, trace_),
        created_(history.indexes.size(), false) {}

  // Checks the events before `end`, up to the first violation.
  SessionCheck run(uint32_t end) {
    for (at_ = 0; at_ < end && !violation_; ++at_) step(events_[at_]);
    return {.violation = std::move(violation_), .advice = std::move(advice_), .problem = {}};
  }

 private:
  void step(const Event& event) {
    const EventCall call = call_of(event);
    if (event.code == DEADLOCK && call != EventCall::kAbort) return deadlock();
    switch (call) {
      case EventCall::kCreate:
        return create(event);
      case EventCall::kOpen:
        return expect(event, created_[event.index] ? SUCCESS : DB_DNE);
      case EventCall::kClose:
        return expect(event, SUCCESS);
      case EventCall::kBegin:
        return begin(event);
      case EventCall::kCommit:
        return commit(event);
      case EventCall::kAbort:
        return abort(event);
      default:
        return data_call(event);
    }
  }

  void deadlock() {
    transaction_.failed = true;
    if (++deadlocks_ < kLoneAttemptsMax) return;
    report("no_progress",
           "this call is the last of " + std::to_string(kLoneAttemptsMax) +
               " calls that returned DEADLOCK without a success in between, although "
               "no other client exists");
  }

  void create(const Event& event) {
    const ErrCode wanted = created_[event.index] ? DB_EXISTS : SUCCESS;
    if (event.code != wanted) return illegal(wanted);
    created_[event.index] = true;
  }

  // Checks an openIndex or a closeIndex, which must return `code`.
  void expect(const Event& event, ErrCode code) {
    if (event.code != code) return illegal(code);
    model_.apply(event, {});
    trace_.reset_scans(event.index);
  }

  void begin(const Event& event) {
    if (event.code != SUCCESS) return illegal(SUCCESS);
    model_.begin();
    model_.settle();
    trace_.begin_transaction();
    transaction_ = {.begun = at_};
  }

  void commit(const Event& event) {
    if (event.code != SUCCESS) return transaction_.failed ? void() : illegal(SUCCESS);
    if (transaction_.failed) {
      return report(
          "commit_after_deadlock",
          "a call of the transaction had returned DEADLOCK, so its commit must not succeed");
    }
    model_.settle();
    transaction_ = {};
    deadlocks_ = 0;
  }

  void abort(const Event& event) {
    // An abort should not return DEADLOCK, but this promise is only advisory. The transaction stays
    // open, and the client calls abortTransaction again.
    if (event.code == DEADLOCK) return;
    if (event.code != SUCCESS && !transaction_.failed) return illegal(SUCCESS);
    if (!transaction_.is_open()) return;
    model_.rewind(0);
    trace_.roll_back(transaction_.begun, at_);
    if (!transaction_.failed) deadlocks_ = 0;
    transaction_ = {};
  }

  void data_call(const Event& event) {
    const bool alone = is_auto_commit(event);
    if (event.code == FAILURE)
      return report("unexpected_failure", "the call was legal, so it must not return FAILURE");
    if (event.code == TXN_DNE || event.code == DB_DNE) {
      return report("illegal_answer",
                    "the contract (keydrome/index.h) allows TXN_DNE and DB_DNE only for a "
                    "transaction or handle that is not open");
    }
    if (alone) {
      model_.begin();
      trace_.begin_transaction();
    }
    const Bound bound = numbering_.bounds[0][at_];
    const Mismatch mismatch = model_.apply(event, bound);
    if (mismatch != Mismatch::kNone) {
      violation_ = explainer_.explain(at_, bound, mismatch, transaction_);
      return;
    }
    if (model_.breaks_delete_code() && !advice_) {
      advice_ = explainer_.advise(at_, bound.cell);
    }
    trace_.note(at_, event, bound);
    if (!alone) return;
    model_.settle();
    deadlocks_ = 0;
    transaction_.failed = false;
  }

  void illegal(ErrCode wanted) {
    report("illegal_answer",
           "the contract (keydrome/index.h) requires " + code_text(wanted) + " here");
  }

  void report(std::string name, std::string reason) {
    violation_ = Explainer::violation(at_, std::move(name), std::move(reason), {});
  }

  const std::vector<Event>& events_;
  const Numbering numbering_;
  Model model_;
  SessionTrace trace_;
  const Explainer explainer_;
  std::vector<bool> created_;  // by index
  std::optional<SessionViolation> violation_, advice_;
  OpenTransaction transaction_;
  uint32_t at_ = 0;  // position of the current call
  // Number of DEADLOCK results since the last success. A success is a commit, an auto-committed
  // call, or the abort of a transaction in which no call returned DEADLOCK.
  uint32_t deadlocks_ = 0;
};

}  // namespace

SessionCheck check_session(const History& history) {
  SessionCheck check;
  if (history.threads.size() != 1) {
    check.problem = "a check with one client must record one thread, but this history has " +
                    std::to_string(history.threads.size()) + " threads; " + kReportError;
    return check;
  }
  Transactions transactions = split_into_transactions(history);
  // With an invalid call or index, Numbering and Model would read outside their arrays.
  if (!transactions.problem.empty()) {
    check.problem = std::move(transactions.problem);
    return check;
  }
  auto end = static_cast<uint32_t>(history.threads[0].size());
  SessionViolation first;
  const auto note = [&](std::string name, std::string reason, uint32_t position) {
    if (position >= end) return;
    end = position;
    first = {
        .name = std::move(name), .reason = std::move(reason), .position = position, .causes = {}};
  };
  for (const CallViolation& found : transactions.call_violations) {
    if (found.name == "undocumented_code") {
      note(found.name,
           "the contract (keydrome/index.h) does not allow this result code for the call",
           found.event.position);
    }
  }
  for (const UnknownKey& unknown : history.unknown_keys) {
    note("corrupt_key", "no call ever passed this key to the library", unknown.position);
  }
  check = SessionChecker(history, CursorScope::kHandle).run(end);
  if (check.violation && has_several_handles(history)) {
    SessionCheck shared = SessionChecker(history, CursorScope::kIndex).run(end);
    const bool is_later =
        !shared.violation || shared.violation->position > check.violation->position;
    if (is_later) check = std::move(shared);
  }
  if (!check.violation && !first.name.empty()) check.violation = std::move(first);
  return check;
}

}  // namespace keydrome::model
