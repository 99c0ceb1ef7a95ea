// Implements word_follower.h: follows a program op by op and consumes the words of each.
#include "benchmarks/kit/script/word_follower.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "benchmarks/kit/format/legal_answers.h"
#include "benchmarks/kit/format/program_walk.h"

namespace keydrome::script {
namespace {

using format::AttemptEnd;
using format::ControlWord;
using format::OpCode;
using history::EventCall;

constexpr EventCall call_of(OpCode code) {
  switch (code) {
    case OpCode::kCreate:
      return EventCall::kCreate;
    case OpCode::kOpen:
      return EventCall::kOpen;
    case OpCode::kClose:
      return EventCall::kClose;
    case OpCode::kGet:
      return EventCall::kGet;
    case OpCode::kInsert:
      return EventCall::kInsert;
    case OpCode::kDeleteKey:
      return EventCall::kDeleteKey;
    case OpCode::kDeletePair:
    case OpCode::kDeleteRead:
      return EventCall::kDeletePair;
    default:
      return EventCall::kNext;
  }
}

constexpr bool is_rare(OpCode code) {
  return code == OpCode::kCreate || code == OpCode::kOpen || code == OpCode::kClose ||
         code == OpCode::kDeleteRead;
}

// The words of a thread. Consumes them one by one, and keeps some of them at the front of the array.
class WordStream {
 public:
  explicit WordStream(std::vector<uint64_t>& words) : words_(words) {}

  bool at_end() const { return at_ == words_.size(); }
  // Returns the next word, or 0 at the end. No word is 0, except perhaps the key of a procedure.
  uint64_t peek() const { return at_end() ? 0 : words_[at_]; }
  uint64_t take() {
    const uint64_t word = peek();
    if (!at_end()) ++at_;
    return word;
  }
  bool skip_if(ControlWord kind) {
    if (!format::is(peek(), kind)) return false;
    ++at_;
    return true;
  }

  void keep(uint64_t word) { words_[kept_++] = word; }
  std::size_t kept() const { return kept_; }
  void keep_only(std::size_t count) { kept_ = count; }
  void finish() { words_.resize(kept_); }

 private:
  std::vector<uint64_t>& words_;
  std::size_t at_ = 0;    // of the next word
  std::size_t kept_ = 0;  // number of words kept; at most at_
};

// Counts the transactions of a thread: how they ended, and when.
class Ledger {
 public:
  Ledger(const TickClock& clock, uint64_t transactions, Followed& out)
      : out_(out), timings_(clock, out.totals) {
    out_.ends.assign(transactions, TransactionEnd::kNotRun);
  }

  uint64_t next() const { return next_; }
  void begin_attempt() {
    first_ = next_++;
    nested_.clear();
  }
  // Forgets an attempt that is repeated.
  void retry() { next_ = first_; }

  void end_attempt(TransactionEnd end, uint8_t class_number, uint64_t begin, uint64_t now) {
    set(first_, end);
    switch (end) {
      case TransactionEnd::kCommitted:
        timings_.committed(class_number, begin, now);
        break;
      case TransactionEnd::kAborted:
        ++out_.totals.aborted;
        break;
      case TransactionEnd::kFailed:
        ++out_.totals.failed;
        break;
      default:
        ++out_.totals.deadlocked;
        break;
    }
    for (const auto& [nested_class, committed] : nested_) count(nested_class, committed);
  }

  // Ends an auto-commit op in an attempt, which counts if the attempt is not repeated.
  void nested(uint8_t class_number, bool committed) {
    set(next_++, committed ? TransactionEnd::kCommitted : TransactionEnd::kFailed);
    nested_.emplace_back(class_number, committed);
  }
  void single(uint8_t class_number, bool committed) {
    set(next_++, committed ? TransactionEnd::kCommitted : TransactionEnd::kFailed);
    count(class_number, committed);
  }
  void timed_single(uint8_t class_number, uint64_t begin, uint64_t end) {
    set(next_++, TransactionEnd::kCommitted);
    timings_.committed(class_number, begin, end);
  }
  // Passes an auto-commit op that a transaction did not reach when it was given up.
  void pass(uint64_t reached) {
    if (next_ >= reached) set(next_, TransactionEnd::kNotRun);
    ++next_;
  }
  void finish(uint64_t now) { timings_.finish(now); }

 private:
  void set(uint64_t transaction, TransactionEnd end) {
    if (transaction < out_.ends.size()) out_.ends[transaction] = end;
  }
  void count(uint8_t class_number, bool committed) {
    committed ? timings_.committed_untimed(class_number) : void(++out_.totals.failed);
  }

  Followed& out_;
  Timings timings_;
  uint64_t next_ = 0;   // number of the next transaction
  uint64_t first_ = 0;  // number of the open transaction
  std::vector<std::pair<uint8_t, bool>>
      nested_;  // auto-commit ops of the attempt: class, committed
};

// Follows the program. A function that returns bool returns false if the words do not fit; misfit()
// has then noted why. LIMIT: one state machine, the counterpart of player::Interpreter.
class Follower {
 public:
  Follower(std::span<const format::Op> ops, const TickClock& clock, uint64_t ended_ticks,
           std::vector<uint64_t>& words, CallObserver* observer)
      : ops_(ops),
        ended_(ended_ticks),
        words_(words),
        ledger_(clock, format::count_transactions(ops), out_),
        observer_(observer) {}

  Result<Followed> follow() {
    while (at_ < ops_.size()) {
      if (!step()) return Error{fault_};
    }
    if (!words_.at_end()) return Error{"words after the end of its program"};
    ledger_.finish(ended_);
    words_.finish();
    return std::move(out_);
  }

 private:
  struct Saved {
    std::size_t at = 0, kept = 0;
    uint32_t round = 0;
  };

  bool misfit(const char* what) {
    fault_ = std::string("words that do not fit operation ") + std::to_string(at_) +
             " of its program (" + what + ")";
    return false;
  }

  // Returns false if the time is impossible.
  bool see(uint64_t ticks) { return ticks <= ended_ || misfit("a time after the end"); }

  bool step() {
    const format::Op& op = ops_[at_];
    if (op.code == OpCode::kBegin) return begin(op);
    if (op.code == OpCode::kRepeat) return repeat(op);
    const bool calls = is_rare(op.code) || format::is_on_records(op.code) ||
                       op.code == OpCode::kRun || op.code == OpCode::kCommit ||
                       op.code == OpCode::kAbort;
    if (!calls) return ++at_, true;
    if (open_ && attempt_ends_here()) return end_attempt();
    if ((op.flags & format::kAutoCommit) != 0) return auto_commit(op);
    if (!open_ && !is_rare(op.code)) return misfit("a call outside of a transaction");
    switch (op.code) {
      case OpCode::kCommit:
        return commit(op);
      case OpCode::kAbort:
        return misfit("an abort is missing");
      case OpCode::kRun:
        return procedure(op);
      default:
        return data_op(op) && (++at_, true);
    }
  }

  bool repeat(const format::Op& op) {
    if (round_ < op.argument) {
      ++round_;
      at_ -= op.payload;
      return true;
    }
    round_ = 0;
    ++at_;
    return true;
  }

  bool attempt_ends_here() const {
    return format::is_result(words_.peek(), ControlWord::kAbort) ||
           format::is_attempt_end(words_.peek());
  }

  bool begin(const format::Op& op) {
    saved_ = {.at = at_, .kept = words_.kept(), .round = round_};
    ledger_.begin_attempt();
    rolls_back_ = unfit_ = false;
    if (format::is_attempt_end(words_.peek())) return end_attempt();  // it was overwritten
    const uint64_t word = words_.take();
    if (!format::is_result(word, ControlWord::kResult)) return misfit("no begin");
    start_ = format::ticks_of(word);
    stream_ = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
    ++out_.totals.calls;
    if (observer_ != nullptr) observer_->begin(format::result_of(word), start_);
    if (!see(start_)) return false;
    if (format::result_of(word) != SUCCESS) return end_attempt();
    open_ = true;
    ++at_;
    return true;
  }

  bool commit(const format::Op&) {
    const uint64_t word = words_.take();
    if (rolls_back_ || !format::is_result(word, ControlWord::kResult)) return misfit("no commit");
    const uint64_t now = format::ticks_of(word);
    ++out_.totals.calls;
    if (observer_ != nullptr) observer_->end(EventCall::kCommit, format::result_of(word), now);
    if (!see(now)) return false;
    if (format::result_of(word) != SUCCESS || unfit_) return end_attempt();
    ledger_.end_attempt(TransactionEnd::kCommitted, ops_[saved_.at].class_, start_, now);
    open_ = false;
    ++at_;
    return true;
  }

  // Follows the end of an attempt that did not commit: an abort, handles that are closed and opened
  // again, and the word that says how the thread goes on.
  bool end_attempt() {
    if (format::is_result(words_.peek(), ControlWord::kAbort)) {
      const uint64_t word = words_.take();
      ++out_.totals.calls;
      if (observer_ != nullptr) {
        observer_->end(EventCall::kAbort, format::result_of(word), format::ticks_of(word));
      }
      if (!see(format::ticks_of(word))) return false;
    }
    while (format::is(words_.peek(), ControlWord::kRareCall)) {
      if (!rare_call(nullptr, EventCall::kCreate)) return false;
    }
    if (!format::is_attempt_end(words_.peek())) return misfit("no end of an attempt");
    const AttemptEnd end = format::attempt_end_of(words_.take());
    open_ = false;
    return is_possible(end) ? go_on_after(end) : misfit("an impossible end of an attempt");
  }

  bool is_possible(AttemptEnd end) const {
    const uint8_t flags = ops_[saved_.at].flags;
    const OpCode code = ops_[at_].code;
    switch (end) {
      case AttemptEnd::kAborted:
        return code == OpCode::kAbort || (code == OpCode::kCommit && rolls_back_);
      case AttemptEnd::kDeadlocked:
        return (flags & format::kOneAttempt) != 0;
      case AttemptEnd::kContinued:
        return (flags & format::kAnyCode) != 0 && (code == OpCode::kCommit || at_ == saved_.at);
      default:
        return true;
    }
  }

  bool go_on_after(AttemptEnd end) {
    if (end == AttemptEnd::kRetried) {
      ledger_.retry();
      words_.keep_only(saved_.kept);
      round_ = saved_.round;
      at_ = saved_.at;
      return true;
    }
    const TransactionEnd ended = end == AttemptEnd::kAborted  ? TransactionEnd::kAborted
                                 : end == AttemptEnd::kFailed ? TransactionEnd::kFailed
                                                              : TransactionEnd::kDeadlocked;
    ledger_.end_attempt(ended, 0, 0, 0);
    if (end != AttemptEnd::kAborted) words_.keep_only(saved_.kept);
    const bool reached_end = end == AttemptEnd::kAborted || ops_[at_].code == OpCode::kCommit;
    if (reached_end && end != AttemptEnd::kFailed && end != AttemptEnd::kDeadlocked) {
      ++at_;
      return true;
    }
    return skip_rest();
  }

  // Passes the ops of a transaction that was given up.
  bool skip_rest() {
    const uint64_t reached = ledger_.next();
    ledger_.retry();
    ledger_.pass(reached);  // the transaction itself
    const std::size_t end = std::min(ops_.size(), saved_.at + 1 + ops_[saved_.at].argument);
    for (at_ = saved_.at + 1; at_ < end; ++at_) {
      if ((ops_[at_].flags & format::kAutoCommit) != 0) ledger_.pass(reached);
    }
    round_ = saved_.round;
    return true;
  }

  bool auto_commit(const format::Op& op) {
    const std::size_t kept = words_.kept();
    const bool timed = format::is(words_.peek(), ControlWord::kTime);
    const uint64_t start = timed ? format::ticks_of(words_.take()) : 0;
    if (timed && !tell_time(start)) return false;
    legal_ = true;
    if (!data_op(op)) return false;
    ++at_;
    if (!legal_) words_.keep_only(kept);
    if (open_) {
      ledger_.nested(op.class_, legal_);
    } else if (!timed || !legal_) {
      ledger_.single(op.class_, legal_);
    } else {
      if (!format::is(words_.peek(), ControlWord::kTime)) return misfit("no time");
      const uint64_t end = format::ticks_of(words_.take());
      ledger_.timed_single(op.class_, start, end);
      return tell_time(end);
    }
    return true;
  }

  bool tell_time(uint64_t ticks) {
    if (observer_ != nullptr) observer_->time(ticks);
    return see(ticks);
  }

  // Follows the calls of an op other than begin, commit, abort and procedures.
  bool data_op(const format::Op& op) {
    if (words_.skip_if(ControlWord::kNoCall)) {
      legal_ = op.code == OpCode::kDeleteRead;
      return true;
    }
    if (is_rare(op.code)) return rare_call(&op, call_of(op.code));
    if (format::is_scan(op.code)) return scan(op);
    const uint64_t word = words_.take();
    if (word == 0 || format::is_control(word)) return misfit("no result");
    note(op, word);
    const uint32_t code = format::code_of_word(word);
    const bool stream = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
    legal_ = code == SUCCESS || format::is_legal_answer(op, stream, code);
    return true;
  }

  bool scan(const format::Op& op) {
    const bool to_end = op.code == OpCode::kNextToEnd;
    const uint32_t calls = op.argument + (to_end ? 1u : 0u);
    for (uint32_t number = 0; number < calls; ++number) {
      const uint64_t word = words_.take();
      if (word == 0 || format::is_control(word)) return misfit("no result of getNext");
      note(op, word);
      const uint32_t code = format::code_of_word(word);
      const bool endless = to_end && code == SUCCESS && number + 1 == calls;
      legal_ = (code == SUCCESS && !endless) || code == DB_END;
      if (code == SUCCESS || code == DB_END) {
        if (to_end && code == DB_END) return true;
        continue;
      }
      // With kAnyCode the transaction goes on. Otherwise it fails, and so does an auto-commit op.
      if ((op.flags & format::kAutoCommit) != 0 || to_end || attempt_ends_here()) return true;
    }
    return true;
  }

  void note(const format::Op& op, uint64_t word) {
    words_.keep(word);
    ++out_.totals.calls;
    if (observer_ == nullptr) return;
    FollowedCall call{};
    call.call = call_of(op.code);
    call.alone = (op.flags & format::kAutoCommit) != 0;
    call.index = slots_[op.slot];
    call.op = &op;
    call.word = word;
    observer_->call(call);
  }

  // Follows a call of create, openIndex, closeIndex or for a kDeleteRead. `op` is null for a call that
  // reverts or repeats what a failed attempt did.
  bool rare_call(const format::Op* op, EventCall wanted) {
    if (!format::is(words_.peek(), ControlWord::kRareCall)) return misfit("no call");
    const format::CallWord call = format::CallWord::unpacked(words_.take());
    const uint64_t word = words_.take();
    const bool fits = op == nullptr
                          ? call.call == EventCall::kOpen || call.call == EventCall::kClose
                          : call.call == wanted && call.slot == slot_of(*op);
    const bool numbered =
        op != nullptr && (wanted == EventCall::kCreate || wanted == EventCall::kOpen);
    if (!fits || call.slot >= format::kSlots || (numbered && call.number != op->argument) ||
        word == 0 || format::is_control(word)) {
      return misfit("another call");
    }
    ++out_.totals.calls;
    const uint32_t code = format::code_of_word(word);
    if (op != nullptr) legal_ = is_legal(*op, code);
    if (call.call == EventCall::kOpen && code == SUCCESS) slots_[call.slot] = call.number;
    if (observer_ == nullptr) return true;
    FollowedCall seen{};
    seen.call = call.call;
    seen.alone = op != nullptr && (op->flags & format::kAutoCommit) != 0;
    seen.index = call.call == EventCall::kCreate ? call.number : slots_[call.slot];
    seen.op = op;
    seen.word = word;
    observer_->call(seen);
    return true;
  }

  static uint8_t slot_of(const format::Op& op) { return op.code == OpCode::kCreate ? 0 : op.slot; }
  static bool is_legal(const format::Op& op, uint32_t code) {
    const bool stream = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
    return code == SUCCESS || format::is_legal_answer(op, stream, code);
  }

  bool procedure(const format::Op& op) {
    while (format::is(words_.peek(), ControlWord::kComputedCall)) {
      if (!computed_call(op)) return false;
    }
    if (words_.skip_if(ControlWord::kNoCall) || attempt_ends_here()) return ++at_, true;
    if (!format::is(words_.peek(), ControlWord::kProcedureEnds)) return misfit("no procedure");
    const format::InstructionCode how = format::procedure_end_of(words_.take());
    rolls_back_ = rolls_back_ || how == format::InstructionCode::kRollBack;
    unfit_ = unfit_ || how == format::InstructionCode::kUnfit;
    ++at_;
    return true;
  }

  bool computed_call(const format::Op& op) {
    const format::CallWord call = format::CallWord::unpacked(words_.take());
    const bool known = call.call == EventCall::kGet || call.call == EventCall::kNext ||
                       call.call == EventCall::kInsert || call.call == EventCall::kDeleteKey;
    const uint64_t key = known && format::has_key_word(call.call) ? words_.take() : 0;
    const uint64_t word = words_.take();
    if (!known || call.slot >= format::kSlots || word == 0 || format::is_control(word)) {
      return misfit("no call of its procedure");
    }
    ++out_.totals.calls;
    if (call.call == EventCall::kGet && stream_) {
      ++out_.totals.gets;
      if (format::code_of_word(word) == SUCCESS) ++out_.totals.get_hits;
    }
    if (observer_ == nullptr) return true;
    FollowedCall seen{};
    seen.call = call.call;
    seen.index = slots_[call.slot];
    seen.op = &op;
    seen.computed = true;
    seen.key_is_text = call.key_is_text;
    seen.key = key;
    seen.tag = call.number;
    seen.word = word;
    observer_->call(seen);
    return true;
  }

  const std::span<const format::Op> ops_;
  const uint64_t ended_;
  WordStream words_;
  Followed out_;
  Ledger ledger_;
  CallObserver* const observer_;
  std::string fault_;
  std::size_t at_ = 0;  // position of the current op
  uint32_t round_ = 0;  // repetition of the kRepeat body
  Saved saved_;         // at the begin of the open transaction
  uint64_t start_ = 0;  // ticks of that begin
  bool open_ = false;
  bool stream_ = false;  // the open transaction belongs to the workload itself
  bool rolls_back_ = false, unfit_ = false;
  bool legal_ = true;  // the last result of an auto-commit op is one that the contract allows
  std::array<uint32_t, format::kSlots> slots_{};  // the index that each slot has open
};

}  // namespace

Result<Followed> follow_words(std::span<const format::Op> ops, const TickClock& clock,
                              uint64_t ended_ticks, std::vector<uint64_t>& words,
                              CallObserver* observer) {
  return Follower(ops, clock, ended_ticks, words, observer).follow();
}

}  // namespace keydrome::script
