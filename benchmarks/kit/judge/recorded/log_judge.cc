// Implements judge_logs(): follows each thread's program op by op (operation by operation), and
// consumes the recorded events call by call. The player, which runs in the library's process, has
// executed the program and recorded the events.
#include "benchmarks/kit/judge/recorded/log_judge.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "benchmarks/kit/format/handle_numbers.h"
#include "benchmarks/kit/format/legal_answers.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/expected_events.h"
#include "checker/history/calls.h"

namespace keydrome::judge {

using history::Event;
using history::EventCall;

namespace {

// The call that the program makes next. Without `key` or `payload`, any value is accepted.
struct Call {
  EventCall call;
  uint32_t index = 0;
  std::optional<uint8_t> slot = {};  // of the handle; unknown for the calls of a procedure
  bool alone = false;  // true: an auto-commit call, which passes NULL as its transaction
  std::optional<uint64_t> key = {}, payload = {};
};

// Follows the program of one thread. Its functions have the same names as those of
// player::Interpreter, because both classes must make the same decisions. LIMIT: like the
// interpreter, this class is one large state machine. They share no code, because the interpreter
// decides by the results of its calls, and this class by the events of a log.
class Follower {
 public:
  Follower(const ExpectedEvents& wording, std::span<const format::Op> ops,
           const script::ThreadResult& result)
      : wording_(wording), ops_(ops), result_(result), ends_(result.ends.size()) {}

  // Returns true if a call inside a transaction was passed NULL, because beginTransaction had set
  // no transaction.
  bool has_null_transaction() const { return has_null_; }

  // Returns why the log does not fit the program, or an empty text if it fits.
  std::string follow() {
    for (std::size_t at = 0; at < ops_.size() && !stopped_;) at = step(at);
    if (!fault_.empty() || stopped_) return fault_;
    if (position_ < result_.events.size()) return "the log has more calls than the program";
    return ends_ == result_.ends ? ""
                                 : "the log and the recorded results disagree on how transactions "
                                   "ended";
  }

 private:
  // What the player does after a call: continue, repeat the transaction, or give the transaction
  // up.
  enum class Flow : uint8_t { kNext, kRetry, kFailed };
  // A handle of the thread, selected by Op::slot.
  struct Slot {
    uint32_t index = 0;
    bool open = false;
    uint32_t opening = 0;  // number of the openIndex call
  };
  // The record of a read with kKeep, which a later kDeleteRead deletes.
  struct Kept {
    uint64_t key, payload;
  };
  // The state at the beginning of a transaction. A retry restores it.
  struct Saved {
    std::size_t at = 0;
    uint64_t transaction = 0;
    uint32_t round = 0;
    std::array<Slot, format::kSlots> slots{};
    bool has_slots = false;
  };

  // Consumes the next event, which must be `wanted`. Returns its code, or SUCCESS if stopped.
  uint32_t take(const Call& wanted) {
    if (stopped_) return SUCCESS;
    if (position_ == result_.events.size()) {
      const std::string end = "the log ends too soon, after call " + std::to_string(position_);
      stop(result_.reported->events_full != 0 ? "" : end);
      return SUCCESS;
    }
    const Event& event = result_.events[position_++];
    const bool alone = is_auto_commit(event);
    const bool fits = call_of(event) == wanted.call && (alone || !wanted.alone) &&
                      is_index(event, wanted) && is_handle(event, wanted) &&
                      event.key == wanted.key.value_or(event.key) &&
                      event.payload == wanted.payload.value_or(event.payload);
    if (!fits) {
      stop("call " + std::to_string(position_) + " of the log is not the next call of the program");
    } else if (alone && !wanted.alone) {
      has_null_ = true;
      stop("");
    }
    return event.code;
  }

  // Returns true if the event's index can be the index of the call. A recording identifies an index
  // by its handle. A library that returns one handle for two indexes is faulty, but its log is not
  // forged. Therefore the handle may mean any index that the thread opened.
  bool is_index(const Event& event, const Call& wanted) const {
    if (event.index == wanted.index) return true;
    if (wanted.call == EventCall::kCreate || wanted.call == EventCall::kOpen) return false;
    return was_opened(event.index);
  }

  // Returns true if the event has the number of the handle that the call passes, or if this handle
  // is unknown.
  bool is_handle(const Event& event, const Call& wanted) {
    if (!history::has_handle(wanted.call)) return handle_of(event) == 0;
    if (!wanted.slot) return true;
    const uint8_t bits = handles_.after(wanted.call, *wanted.slot, wanted.index, event.code);
    return bits == handle_of(event) << history::kEventHandleShift;
  }

  bool was_opened(uint32_t index) const {
    return std::find(opened_.begin(), opened_.end(), index) != opened_.end();
  }

  // Ends the comparison. `fault` says why the log does not fit. It is empty if the log fits so far
  // and the rest need not be compared.
  void stop(std::string fault) {
    stopped_ = true;
    fault_ = std::move(fault);
  }

  bool next_is(EventCall call) const {
    return position_ < result_.events.size() && call_of(result_.events[position_]) == call;
  }

  // Follows the op at this position and returns the position of the next op.
  std::size_t step(std::size_t at) {
    const format::Op& op = ops_[at];
    switch (op.code) {
      case format::OpCode::kBegin:
        return begin(at);
      case format::OpCode::kRepeat:
        if (round_ < op.argument) {
          ++round_;
          return at - op.payload;
        }
        round_ = 0;
        return at + 1;
      case format::OpCode::kSignal:
      case format::OpCode::kWait:
      case format::OpCode::kYield:
      case format::OpCode::kStep:
      case format::OpCode::kStepDone:
      case format::OpCode::kArrive:
      case format::OpCode::kUntil:
        return at + 1;
      default:
        break;
    }
    if ((op.flags & format::kAutoCommit) != 0) return auto_commit(at);
    if (!open_) return outside(at);
    const bool ends = op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort;
    const Flow flow = ends ? finish(op) : call(op, false);
    if (flow == Flow::kNext) return at + 1;
    return flow == Flow::kRetry ? retry() : fail();
  }

  std::size_t begin(std::size_t at) {
    saved_ = {.at = at, .transaction = next_, .round = round_};
    set_end(script::TransactionEnd::kNotRun);
    kept_ = {};
    ran_procedure_ = false;
    may_roll_back_ = false;
    accepts_any_code_ = (ops_[at].flags & format::kAnyCode) != 0;
    while (!stopped_) {
      const uint32_t code = take({EventCall::kBegin});
      if (code == SUCCESS) {
        open_ = true;
        return at + 1;
      }
      if (code != DEADLOCK) return fail();
      if (next_is(EventCall::kAbort)) abort_attempt();  // the failed begin had set a transaction
      if ((ops_[at].flags & format::kOneAttempt) != 0)
        return give_up(script::TransactionEnd::kDeadlocked);
      end_retries(++attempts_, saved_.transaction);
    }
    return ops_.size();
  }

  // Follows the commit or abort at the end of a transaction.
  Flow finish(const format::Op& op) {
    // The player replaces a programmed commit with an abort only if a procedure, whose calls depend
    // on earlier reads, rolls back.
    const bool aborts =
        op.code == format::OpCode::kAbort || (may_roll_back_ && next_is(EventCall::kAbort));
    if (aborts) {
      const uint32_t code = take({EventCall::kAbort});
      if (code == DEADLOCK) {
        abort_attempt();
      } else if (code != SUCCESS && (!accepts_any_code_ || code > FAILURE)) {
        open_ = false;
        return Flow::kFailed;
      }
    } else {
      const uint32_t code = take({EventCall::kCommit});
      if (code != SUCCESS) return finish_unsuccessful(op, code);
      // Only the player knows whether a procedure was unfit, i.e. missed a required record
      // (format/procedure.h). If the player reports a failed transaction, the run fails anyway.
      if (ran_procedure_ && reported_end() == script::TransactionEnd::kFailed) {
        open_ = false;
        return Flow::kFailed;
      }
    }
    ends_[saved_.transaction] =
        aborts ? script::TransactionEnd::kAborted : script::TransactionEnd::kCommitted;
    open_ = false;
    attempts_ = 0;
    return Flow::kNext;
  }

  script::TransactionEnd reported_end() const {
    const uint64_t number = saved_.transaction;
    return number < result_.ends.size() ? result_.ends[number] : script::TransactionEnd::kNotRun;
  }

  // Follows a commit that did not succeed.
  Flow finish_unsuccessful(const format::Op& op, uint32_t code) {
    const Flow flow = judge(op, code);
    if (flow != Flow::kNext) {
      if (code == TXN_DNE) open_ = false;
      return flow;
    }
    abort_attempt();
    if (saved_.transaction < ends_.size()) {
      ends_[saved_.transaction] = script::TransactionEnd::kDeadlocked;
    }
    attempts_ = 0;
    return flow;
  }

  // Follows one call. A data call outside a transaction is an auto-commit call.
  Flow call(const format::Op& op, bool alone) {
    Slot& slot = slots_[op.slot];
    if (op.code == format::OpCode::kCreate)
      return judge(op, take({EventCall::kCreate, op.argument}));
    if (op.code == format::OpCode::kOpen) {
      save_slots();
      slot = {.index = op.argument, .open = false, .opening = ++openings_};
      kept_[op.slot].reset();
      const uint32_t code = take({EventCall::kOpen, op.argument, op.slot});
      slot.open = code == SUCCESS;
      if (slot.open && !was_opened(slot.index)) opened_.push_back(slot.index);
      return judge(op, code);
    }
    if (op.code == format::OpCode::kRun) return procedure(op);
    if (!slot.open) return Flow::kFailed;
    if (op.code == format::OpCode::kNext || op.code == format::OpCode::kNextToEnd)
      return scan(op, alone);
    if (op.code == format::OpCode::kClose) {
      save_slots();
      const uint32_t code = take({EventCall::kClose, slot.index, op.slot});
      slot.open = code == DEADLOCK;
      return judge(op, code);
    }
    if (op.code == format::OpCode::kDeleteRead) {
      if (!kept_[op.slot]) return Flow::kNext;
      const Kept kept = *kept_[op.slot];
      // If the library returned an empty payload, the delete removes all payloads of the key.
      const bool whole = kept.payload == hash_bytes("");
      return judge(op, take({whole ? EventCall::kDeleteKey : EventCall::kDeletePair, slot.index,
                             op.slot, alone, kept.key, whole ? 0 : kept.payload}));
    }
    return data_call(op, slot.index, alone);
  }

  // Follows a procedure. Its calls depend on the texts that it read, and a log contains no texts.
  // Therefore all data calls on open indexes are accepted, up to the first call of another kind.
  Flow procedure(const format::Op& op) {
    ran_procedure_ = true;
    may_roll_back_ = may_roll_back_ || wording_.may_roll_back(op);
    while (!stopped_ && position_ < result_.events.size()) {
      const Event& event = result_.events[position_];
      const EventCall kind = call_of(event);
      const bool on_records = kind == EventCall::kGet || kind == EventCall::kNext ||
                              kind == EventCall::kInsert || kind == EventCall::kDeletePair ||
                              kind == EventCall::kDeleteKey;
      if (!on_records || is_auto_commit(event)) break;
      const uint32_t code = take({kind, event.index});
      if (stopped_) break;
      if (code == DEADLOCK) return Flow::kRetry;
      if (!format::is_legal_computed(kind, code)) return Flow::kFailed;
    }
    return Flow::kNext;
  }

  Flow data_call(const format::Op& op, uint32_t index, bool alone) {
    Call wanted{EventCall::kGet, index, op.slot, alone, wording_.key(op, index), {}};
    const bool pair = op.code == format::OpCode::kDeletePair && !wording_.is_empty(op);
    if (op.code == format::OpCode::kInsert || pair) {
      wanted.call =
          op.code == format::OpCode::kInsert ? EventCall::kInsert : EventCall::kDeletePair;
      wanted.payload = wording_.payload(op);
    } else if (op.code != format::OpCode::kGet) {
      wanted.call = EventCall::kDeleteKey;
      wanted.payload = 0;
    }
    // After a wrong answer, a hidden key is wrong, too (format/hidden_key.h). Other judges report
    // the wrong answer. The log is not forged, so this function accepts any hidden key.
    if (op.code == format::OpCode::kGet && (op.flags & format::kHidden) != 0) wanted.key.reset();
    const uint32_t code = take(wanted);
    if (op.code == format::OpCode::kGet && code == SUCCESS) keep(op);
    return judge(op, code);
  }

  // Follows the getNext calls of one op.
  Flow scan(const format::Op& op, bool alone) {
    const bool to_end = op.code == format::OpCode::kNextToEnd;
    const uint32_t calls = op.argument + (to_end ? 1u : 0u);
    for (uint32_t number = 0; number < calls && !stopped_; ++number) {
      const uint32_t code = take({EventCall::kNext, slots_[op.slot].index, op.slot, alone});
      if (code == SUCCESS) {
        if (to_end && number + 1 == calls) return Flow::kFailed;
        keep(op);
      } else if (code != DB_END) {
        const Flow flow = judge(op, code);
        if (flow != Flow::kNext) return flow;
      }
      if (to_end && code != SUCCESS) break;
    }
    return Flow::kNext;
  }

  void keep(const format::Op& op) {
    if ((op.flags & format::kKeep) == 0 || stopped_) return;
    const Event& event = result_.events[position_ - 1];
    kept_[op.slot] = Kept{event.key, event.payload};
  }

  Flow judge(const format::Op& op, uint32_t code) const {
    if (code == SUCCESS) return Flow::kNext;
    const bool outer = (op.flags & format::kAutoCommit) != 0 || !open_;
    const bool goes_on = accepts_any_code_ && !outer;
    if (code == DEADLOCK) return goes_on ? Flow::kNext : Flow::kRetry;
    const bool legal = format::is_legal_answer(op, code) || (code <= FAILURE && goes_on);
    return legal ? Flow::kNext : Flow::kFailed;
  }

  std::size_t auto_commit(std::size_t at) {
    Flow flow = call(ops_[at], true);
    for (uint32_t attempt = 1; flow == Flow::kRetry && !stopped_; ++attempt) {
      end_retries(attempt, next_);
      flow = call(ops_[at], true);
    }
    set_end(flow == Flow::kNext ? script::TransactionEnd::kCommitted
                                : script::TransactionEnd::kFailed);
    return at + 1;
  }

  // Follows a call, such as openIndex, that takes no transaction and is made outside one.
  std::size_t outside(std::size_t at) {
    Flow flow = call(ops_[at], true);
    for (uint32_t attempt = 1; flow == Flow::kRetry && !stopped_; ++attempt) {
      if (attempt % format::kAttemptsAfterwards == 0 && result_.reported->code_violations > 0)
        stop("");
      flow = call(ops_[at], true);
    }
    return at + 1;
  }

  std::size_t retry() {
    abort_attempt();
    if ((ops_[saved_.at].flags & format::kOneAttempt) != 0)
      return give_up(script::TransactionEnd::kDeadlocked);
    end_retries(++attempts_, saved_.transaction);
    restore();
    return saved_.at;
  }

  std::size_t fail() {
    if (open_) abort_attempt();
    return give_up(script::TransactionEnd::kFailed);
  }

  // Stops following if the player reports the transaction as failed and may have given it up after
  // this many attempts. The run then fails anyway. The log alone does not show when the player gave
  // up, because the player also requires a minimum time.
  void end_retries(uint32_t attempts, uint64_t transaction) {
    if (attempts % format::kAttemptsAfterwards != 0 || transaction >= result_.ends.size()) return;
    if (result_.ends[transaction] == script::TransactionEnd::kFailed) stop("");
  }

  void abort_attempt() {
    for (uint32_t i = 0; i < format::kAbortsMax; ++i) {
      if (take({EventCall::kAbort}) != DEADLOCK) break;
    }
    open_ = false;
  }

  // Follows the player to the end of a transaction that it gives up.
  std::size_t give_up(script::TransactionEnd how) {
    const uint64_t begun = next_;
    restore();
    set_end(how);
    attempts_ = 0;
    const std::size_t end = std::min(ops_.size(), saved_.at + 1 + ops_[saved_.at].argument);
    for (std::size_t at = saved_.at + 1; at < end && !stopped_; ++at) {
      const format::Op& op = ops_[at];
      if (op.code == format::OpCode::kOpen || op.code == format::OpCode::kClose) outside(at);
      if ((op.flags & format::kAutoCommit) == 0) continue;
      if (next_ >= begun && next_ < ends_.size()) ends_[next_] = script::TransactionEnd::kNotRun;
      ++next_;
    }
    return end;
  }

  void save_slots() {
    if (!open_ || saved_.has_slots) return;
    saved_.slots = slots_;
    saved_.has_slots = true;
  }

  void restore() {
    next_ = saved_.transaction;
    round_ = saved_.round;
    if (!saved_.has_slots) return;
    saved_.has_slots = false;
    for (std::size_t i = 0; i < format::kSlots; ++i) {
      Slot& now = slots_[i];
      const Slot before = saved_.slots[i];
      const auto slot = static_cast<uint8_t>(i);
      if (now.open == before.open && now.opening == before.opening) continue;
      if (now.open) take({EventCall::kClose, now.index, slot});
      now = before;
      if (!before.open) continue;
      now.opening = ++openings_;
      now.open = take({EventCall::kOpen, before.index, slot}) == SUCCESS;
    }
  }

  void set_end(script::TransactionEnd how) {
    if (next_ < ends_.size()) ends_[next_] = how;
    ++next_;
  }

  const ExpectedEvents& wording_;
  const std::span<const format::Op> ops_;
  const script::ThreadResult& result_;
  std::vector<script::TransactionEnd> ends_;
  std::size_t position_ = 0;  // number of the next event
  bool stopped_ = false;
  bool has_null_ = false;
  std::string fault_;
  std::array<Slot, format::kSlots> slots_{};
  format::HandleNumbers handles_;
  std::vector<uint32_t> opened_;  // every index that was opened, without duplicates
  std::array<std::optional<Kept>, format::kSlots> kept_{};
  Saved saved_;
  bool open_ = false;
  bool accepts_any_code_ = false;  // the transaction has kAnyCode, so it continues after DEADLOCK
  bool ran_procedure_ = false;     // this attempt of the transaction ran a procedure
  bool may_roll_back_ = false;     // this attempt ran a procedure that may roll back
  uint32_t attempts_ = 0, round_ = 0, openings_ = 0;
  uint64_t next_ = 0;  // number of the next transaction
};

}  // namespace

bool judge_logs(const script::Script& script, const script::Outcome& outcome, Findings& findings) {
  const ExpectedEvents wording(script);
  bool fits = true;
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const script::PhaseScript& phase = script.phases[p];
    if (phase.log_capacity.empty()) continue;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      const std::string place = phase_text(phase) + ", thread " + std::to_string(t) + ": ";
      Follower follower(wording, phase.threads[t], outcome.phases[p].threads[t]);
      const std::string fault = follower.follow();
      if (follower.has_null_transaction()) {
        findings.required(
            "illegal_answer",
            place +
                "beginTransaction returned SUCCESS, but it did not set the transaction pointer: "
                "set *txn to the new transaction");
      }
      if (fault.empty()) continue;
      fits = false;
      std::string detail = place;
      detail.append("Keydrome's log of the calls differs from those that the thread had to make: ")
          .append(fault)
          .append(
              ". Keydrome keeps this log in the library's process, so the library must have "
              "overwritten it: look for writes outside the library's own memory");
      findings.required("forged_log", detail);
    }
  }
  return fits;
}

}  // namespace keydrome::judge
