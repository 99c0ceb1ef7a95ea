#include "benchmarks/kit/log_judge.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/legal_answers.h"
#include "benchmarks/kit/record_buffers.h"
#include "benchmarks/kit/session.h"
#include "checker/calls.h"

namespace keydrome {
namespace {

// What the events of a script's calls hold.
class Wording {
 public:
  explicit Wording(const Script& script) : script_(script) {
    for (const std::string_view key : script.pools.varchar_keys)
      varchar_.push_back(hash_bytes(key));
  }

  uint64_t key(const Op& op, uint32_t index) const {
    switch (script_.indexes[index].type) {
      case SHORT:
        return static_cast<uint64_t>(int64_t{script_.pools.int32_keys[op.key]});
      case INT:
        return static_cast<uint64_t>(script_.pools.int64_keys[op.key]);
      default:
        return varchar_[op.key];
    }
  }

  // Whether the payload has no bytes: a delete of it asks for all of the key.
  bool is_empty(const Op& op) const {
    return op.argument == kNoTag && script_.pools.payloads[op.payload].empty();
  }

  bool may_roll_back(const Op& run) const {
    return script_.pools.procedures[run.payload].rolls_back != 0;
  }

  uint64_t payload(const Op& op) const {
    const std::string_view text = script_.pools.payloads[op.payload];
    if (op.argument == kNoTag) return hash_bytes(text);
    std::string tag(kTagBytes, '\0');
    write_tag(op.argument, tag.data());
    return hash_bytes(tag.append(text));
  }

 private:
  const Script& script_;
  std::vector<uint64_t> varchar_;
};

struct Call {
  EventCall call;
  uint32_t index = 0;
  bool alone = false;  // auto-committed
  std::optional<uint64_t> key = {}, payload = {};
};

// Follows one thread of a phase. The names are those of Session.
class Follower {
 public:
  Follower(const Wording& wording, std::span<const Op> ops, const ThreadResult& result)
      : wording_(wording), ops_(ops), result_(result), ends_(result.ends.size()) {}

  // Whether a call of a transaction was passed NULL for it: that is what the library had given.
  bool has_null_transaction() const { return has_null_; }

  // What does not fit; empty when all does.
  std::string follow() {
    const bool full = result_.counters->events_full != 0;
    if (!full && result_.counters->calls != result_.events.size()) {
      return std::to_string(result_.events.size()) + " calls are in it, and " +
             std::to_string(result_.counters->calls) + " were counted";
    }
    for (std::size_t at = 0; at < ops_.size() && !stopped_;) at = step(at);
    if (!fault_.empty() || stopped_) return fault_;
    if (position_ < result_.events.size()) return "it goes on behind the end of the program";
    return ends_ == result_.ends ? "" : "transactions ended otherwise than its answers say";
  }

 private:
  enum class Flow : uint8_t { kNext, kRetry, kFailed };
  struct Slot {
    uint32_t index = 0;
    bool open = false;
    uint32_t opening = 0;  // the how manieth
    bool operator==(const Slot&) const = default;
  };
  struct Kept {
    uint64_t key, payload;
  };
  struct Saved {
    std::size_t at = 0;
    uint64_t transaction = 0;
    uint32_t round = 0;
    std::array<Slot, kSlots> slots{};
    bool has_slots = false;
  };

  // The answer to the next call, which must be this one. Once stopped: SUCCESS, whatever comes.
  uint32_t take(const Call& wanted) {
    if (stopped_) return SUCCESS;
    if (position_ == result_.events.size()) {
      stop(result_.counters->events_full != 0 ? "" : "it ends before its program does");
      return SUCCESS;
    }
    const Event& event = result_.events[position_++];
    const bool alone = is_auto_commit(event);
    const bool fits = call_of(event) == wanted.call && (alone || !wanted.alone) &&
                      is_index(event, wanted) && event.key == wanted.key.value_or(event.key) &&
                      event.payload == wanted.payload.value_or(event.payload);
    if (!fits) {
      stop("event " + std::to_string(position_ - 1) + " is not what the program does next");
    } else if (alone && !wanted.alone) {
      has_null_ = true;
      stop("");
    }
    return event.code;
  }

  // The recorder knows an index by its handle. A library that gives one handle for two indexes is
  // wrong, but forges nothing: any that the thread has opened may be meant.
  bool is_index(const Event& event, const Call& wanted) const {
    if (event.index == wanted.index) return true;
    if (wanted.call == EventCall::kCreate || wanted.call == EventCall::kOpen) return false;
    return was_opened(event.index);
  }

  bool was_opened(uint32_t index) const {
    return std::find(opened_.begin(), opened_.end(), index) != opened_.end();
  }

  void stop(std::string fault) {
    stopped_ = true;
    fault_ = std::move(fault);
  }

  bool next_is(EventCall call) const {
    return position_ < result_.events.size() && call_of(result_.events[position_]) == call;
  }

  std::size_t step(std::size_t at) {
    const Op& op = ops_[at];
    switch (op.code) {
      case OpCode::kBegin:
        return begin(at);
      case OpCode::kRepeat:
        if (round_ < op.argument) {
          ++round_;
          return at - op.payload;
        }
        round_ = 0;
        return at + 1;
      case OpCode::kMark:
      case OpCode::kSignal:
      case OpCode::kWait:
      case OpCode::kYield:
      case OpCode::kStep:
      case OpCode::kStepDone:
      case OpCode::kArrive:
        return at + 1;
      default:
        break;
    }
    if ((op.flags & kAutoCommit) != 0) return auto_commit(at);
    if (!open_) return outside(at);
    const bool ends = op.code == OpCode::kCommit || op.code == OpCode::kAbort;
    const Flow flow = ends ? finish(op) : call(op, false);
    if (flow == Flow::kNext) return at + 1;
    return flow == Flow::kRetry ? retry() : fail();
  }

  std::size_t begin(std::size_t at) {
    saved_ = {.at = at, .transaction = next_, .round = round_};
    set_end(TransactionEnd::kNotRun);
    kept_ = {};
    ran_procedure_ = false;
    may_roll_back_ = false;
    kind_ = op_kind(ops_[at]);
    goes_on_ = (ops_[at].flags & kAnyCode) != 0;
    while (!stopped_) {
      const uint32_t code = take({EventCall::kBegin});
      if (code == SUCCESS) {
        open_ = true;
        return at + 1;
      }
      if (code != DEADLOCK) return fail();
      if (next_is(EventCall::kAbort)) abort_attempt();  // the library had given a handle
      if ((ops_[at].flags & kOneAttempt) != 0) return give_up(TransactionEnd::kDeadlocked);
      lose_patience(++attempts_, saved_.transaction);
    }
    return ops_.size();
  }

  Flow finish(const Op& op) {
    // Where a commit stands an abort is called only to roll back.
    const bool aborts = op.code == OpCode::kAbort || (may_roll_back_ && next_is(EventCall::kAbort));
    if (aborts) {
      const uint32_t code = take({EventCall::kAbort});
      if (code == DEADLOCK) {
        abort_attempt();
      } else if (code != SUCCESS && (!goes_on_ || code > FAILURE)) {
        open_ = false;
        return Flow::kFailed;
      }
    } else {
      const uint32_t code = take({EventCall::kCommit});
      if (code != SUCCESS) return finish_unsuccessful(op, code);
      // Whether a procedure read what cannot have been there only the player can tell; it fails
      // the run.
      if (ran_procedure_ && reported_end() == TransactionEnd::kFailed) {
        open_ = false;
        return Flow::kFailed;
      }
    }
    ends_[saved_.transaction] = aborts ? TransactionEnd::kAborted : TransactionEnd::kCommitted;
    open_ = false;
    attempts_ = 0;
    return Flow::kNext;
  }

  TransactionEnd reported_end() const {
    const uint64_t number = saved_.transaction;
    return number < result_.ends.size() ? result_.ends[number] : TransactionEnd::kNotRun;
  }

  Flow finish_unsuccessful(const Op& op, uint32_t code) {
    const Flow flow = judge(op, code);
    if (code == TXN_DNE) open_ = false;
    if (flow != Flow::kNext) return flow;
    if (open_) abort_attempt();
    if (saved_.transaction < ends_.size()) {
      ends_[saved_.transaction] = TransactionEnd::kDeadlocked;
    }
    attempts_ = 0;
    return flow;
  }

  // A call outside transactions is auto-committed if it is one on records.
  Flow call(const Op& op, bool alone) {
    Slot& slot = slots_[op.slot];
    if (op.code == OpCode::kCreate) return judge(op, take({EventCall::kCreate, op.argument}));
    if (op.code == OpCode::kOpen) {
      save_slots();
      slot = {.index = op.argument, .open = false, .opening = ++openings_};
      kept_[op.slot].reset();
      const uint32_t code = take({EventCall::kOpen, op.argument});
      slot.open = code == SUCCESS;
      if (slot.open && !was_opened(slot.index)) opened_.push_back(slot.index);
      return judge(op, code);
    }
    if (op.code == OpCode::kRun) return procedure(op);
    if (!slot.open) return Flow::kFailed;
    if (op.code == OpCode::kNext || op.code == OpCode::kNextToEnd) return scan(op, alone);
    if (op.code == OpCode::kClose) {
      save_slots();
      const uint32_t code = take({EventCall::kClose, slot.index});
      slot.open = code == DEADLOCK;
      return judge(op, code);
    }
    if (op.code == OpCode::kDeleteRead) {
      if (!kept_[op.slot]) return Flow::kNext;
      const Kept kept = *kept_[op.slot];
      // A payload that the library emptied asks for all of the key.
      const bool whole = kept.payload == hash_bytes("");
      return judge(op, take({whole ? EventCall::kDeleteKey : EventCall::kDeletePair, slot.index,
                             alone, kept.key, whole ? 0 : kept.payload}));
    }
    return data_call(op, slot.index, alone);
  }

  // What a procedure calls depends on what it read, and a log has no texts: any calls on records of
  // open indexes are its own, up to the first that it cannot go on behind.
  Flow procedure(const Op& op) {
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
      if (!is_legal_computed(kind, code)) return Flow::kFailed;
    }
    return Flow::kNext;
  }

  Flow data_call(const Op& op, uint32_t index, bool alone) {
    Call wanted{EventCall::kGet, index, alone, wording_.key(op, index), {}};
    const bool empty = wording_.is_empty(op);
    if (op.code == OpCode::kInsert || (op.code == OpCode::kDeletePair && !empty)) {
      wanted.call = op.code == OpCode::kInsert ? EventCall::kInsert : EventCall::kDeletePair;
      wanted.payload = wording_.payload(op);
    } else if (op.code != OpCode::kGet) {
      wanted.call = EventCall::kDeleteKey;
      wanted.payload = 0;
    }
    const uint32_t code = take(wanted);
    if (op.code == OpCode::kGet && code == SUCCESS) keep(op);
    return judge(op, code);
  }

  Flow scan(const Op& op, bool alone) {
    const bool to_end = op.code == OpCode::kNextToEnd;
    const uint32_t calls = op.argument + (to_end ? 1u : 0u);
    for (uint32_t number = 0; number < calls && !stopped_; ++number) {
      const uint32_t code = take({EventCall::kNext, slots_[op.slot].index, alone});
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

  void keep(const Op& op) {
    if ((op.flags & kKeep) == 0 || stopped_) return;
    const Event& event = result_.events[position_ - 1];
    kept_[op.slot] = Kept{event.key, event.payload};
  }

  Flow judge(const Op& op, uint32_t code) const {
    if (code == SUCCESS) return Flow::kNext;
    const bool outer = (op.flags & kAutoCommit) != 0 || !open_;
    const bool goes_on = goes_on_ && !outer;
    if (code == DEADLOCK) return goes_on ? Flow::kNext : Flow::kRetry;
    const bool is_stream = (outer ? op_kind(op) : kind_) == Kind::kStream;
    const bool legal = is_legal_answer(op, is_stream, code) || (code <= FAILURE && goes_on);
    return legal ? Flow::kNext : Flow::kFailed;
  }

  std::size_t auto_commit(std::size_t at) {
    Flow flow = call(ops_[at], true);
    for (uint32_t attempt = 1; flow == Flow::kRetry && !stopped_; ++attempt) {
      lose_patience(attempt, next_);
      flow = call(ops_[at], true);
    }
    set_end(flow == Flow::kNext ? TransactionEnd::kCommitted : TransactionEnd::kFailed);
    return at + 1;
  }

  std::size_t outside(std::size_t at) {
    Flow flow = call(ops_[at], true);
    for (uint32_t attempt = 1; flow == Flow::kRetry && !stopped_; ++attempt) {
      if (attempt % kAttemptsAfterwards == 0 && result_.counters->code_violations > 0) stop("");
      flow = call(ops_[at], true);
    }
    return at + 1;
  }

  std::size_t retry() {
    abort_attempt();
    if ((ops_[saved_.at].flags & kOneAttempt) != 0) return give_up(TransactionEnd::kDeadlocked);
    lose_patience(++attempts_, saved_.transaction);
    restore();
    return saved_.at;
  }

  std::size_t fail() {
    if (open_) abort_attempt();
    return give_up(TransactionEnd::kFailed);
  }

  // After so many attempts the player gives up when enough time has passed, which a log does not
  // tell exactly. A transaction that is reported as failed fails the run, so what comes behind it
  // need not be followed.
  void lose_patience(uint32_t attempts, uint64_t transaction) {
    if (attempts % kAttemptsAfterwards != 0 || transaction >= result_.ends.size()) return;
    if (result_.ends[transaction] == TransactionEnd::kFailed) stop("");
  }

  void abort_attempt() {
    for (uint32_t i = 0; i < kAbortsMax; ++i) {
      if (take({EventCall::kAbort}) != DEADLOCK) break;
    }
    open_ = false;
  }

  std::size_t give_up(TransactionEnd how) {
    const uint64_t begun = next_;
    restore();
    set_end(how);
    attempts_ = 0;
    const std::size_t end = std::min(ops_.size(), saved_.at + 1 + ops_[saved_.at].argument);
    for (std::size_t at = saved_.at + 1; at < end && !stopped_; ++at) {
      const Op& op = ops_[at];
      if (op.code == OpCode::kOpen || op.code == OpCode::kClose) outside(at);
      if ((op.flags & kAutoCommit) == 0) continue;
      if (next_ >= begun && next_ < ends_.size()) ends_[next_] = TransactionEnd::kNotRun;
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
    for (std::size_t i = 0; i < kSlots; ++i) {
      Slot& now = slots_[i];
      const Slot before = saved_.slots[i];
      if (now == before) continue;
      // The same handle again needs nothing; only the next call tells whether it is the same.
      const bool same = now.open == before.open && now.index == before.index;
      if (same && !(now.open && next_is(EventCall::kClose))) continue;
      if (now.open) take({EventCall::kClose, now.index});
      now = before;
      if (before.open) now.open = take({EventCall::kOpen, before.index}) == SUCCESS;
    }
  }

  void set_end(TransactionEnd how) {
    if (next_ < ends_.size()) ends_[next_] = how;
    ++next_;
  }

  static Kind op_kind(const Op& op) { return static_cast<Kind>(op.kind); }

  const Wording& wording_;
  const std::span<const Op> ops_;
  const ThreadResult& result_;
  std::vector<TransactionEnd> ends_;
  std::size_t position_ = 0;  // of the next event
  bool stopped_ = false;
  bool has_null_ = false;
  std::string fault_;
  std::array<Slot, kSlots> slots_{};
  std::vector<uint32_t> opened_;  // every index that was opened, once
  std::array<std::optional<Kept>, kSlots> kept_{};
  Saved saved_;
  Kind kind_ = Kind::kStream;
  bool open_ = false;
  bool goes_on_ = false;
  bool ran_procedure_ = false;  // in this attempt of the transaction
  bool may_roll_back_ = false;  // by such a procedure
  uint32_t attempts_ = 0, round_ = 0, openings_ = 0;
  uint64_t next_ = 0;  // number of the next transaction
};

}  // namespace

bool judge_logs(const Script& script, const Outcome& outcome, Findings& findings) {
  const Wording wording(script);
  bool fits = true;
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const PhaseScript& phase = script.phases[p];
    if (phase.log_capacity.empty()) continue;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      const std::string place = "phase " + phase.name + ", thread " + std::to_string(t) + ": ";
      Follower follower(wording, phase.threads[t], outcome.phases[p].threads[t]);
      const std::string fault = follower.follow();
      if (follower.has_null_transaction()) {
        findings.required("illegal_answer",
                          place + "beginTransaction answered SUCCESS and gave no transaction");
      }
      if (fault.empty()) continue;
      fits = false;
      std::string detail = place;
      detail.append("the recorded log is not that of its program: ").append(fault);
      findings.required("forged_log", detail.append("; it was changed in the library's process"));
    }
  }
  return fits;
}

}  // namespace keydrome
