// Implements word_follower.h: follows a program op by op (operation by operation) and consumes the
// words of each op, 8 bytes per call.
#include "benchmarks/kit/script/word_follower.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "benchmarks/kit/format/legal_answers.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/script/transaction_counts.h"

namespace keydrome::script {
namespace {

using format::AttemptEnd;
using format::ControlWord;
using format::OpCode;
using history::EventCall;

constexpr bool is_rare(OpCode code) {
  return code == OpCode::kCreate || code == OpCode::kOpen || code == OpCode::kClose ||
         code == OpCode::kDeleteRead;
}

constexpr bool makes_calls(OpCode code) {
  return is_rare(code) || format::is_on_records(code) || code == OpCode::kRun ||
         code == OpCode::kCommit || code == OpCode::kAbort;
}

// Returns true if an attempt of a transaction may end like this at an op with this code. `flags`
// are those of the transaction's kBegin. `at_begin` is true if the op is this kBegin.
constexpr bool is_possible(AttemptEnd end, OpCode code, bool at_begin, uint8_t flags,
                           bool rolls_back) {
  switch (end) {
    case AttemptEnd::kAborted:
      return code == OpCode::kAbort || (code == OpCode::kCommit && rolls_back);
    case AttemptEnd::kDeadlocked:
      return (flags & format::kOneAttempt) != 0;
    case AttemptEnd::kContinued:
      return (flags & format::kAnyCode) != 0 && (code == OpCode::kCommit || at_begin);
    default:
      return true;
  }
}

// The words of a thread. Consumes them one by one, and keeps some of them at the front of the
// array.
class WordStream {
 public:
  explicit WordStream(std::vector<uint64_t>& words) : words_(words) {}

  bool at_end() const { return at_ == words_.size(); }
  // Returns the next word, or 0 at the end. No word is 0, except perhaps a key or the result of a
  // procedure (a list of instructions).
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
  // Takes and keeps the next word if it is the result SUCCESS of a call.
  bool keep_success() {
    if (at_end() || (words_[at_] & format::kWordCode) != format::code_word(SUCCESS)) return false;
    words_[kept_++] = words_[at_++];
    return true;
  }
  std::size_t kept() const { return kept_; }
  void keep_only(std::size_t count) { kept_ = count; }
  void finish() { words_.resize(kept_); }

 private:
  std::vector<uint64_t>& words_;
  std::size_t at_ = 0;    // position of the next word
  std::size_t kept_ = 0;  // number of words kept; at most at_
};

// Reads the words of single calls, and tells the observer about them. A function that returns bool
// returns false if the words do not fit; misfit() has then noted why.
class CallReader {
 public:
  CallReader(uint64_t ended_ticks, std::vector<uint64_t>& words, CallObserver* observer)
      : words_(words), ended_(ended_ticks), observer_(observer) {}

 protected:
  bool misfit(const char* what) {
    fault_ = what;
    return false;
  }

  bool is_next(ControlWord kind) const { return format::is(words_.peek(), kind); }
  bool attempt_ends_here() const {
    return format::is_result(words_.peek(), ControlWord::kAbort) ||
           format::is_attempt_end(words_.peek());
  }

  // Returns false if the time is impossible.
  bool see(uint64_t ticks) { return ticks <= ended_ || misfit("a call ended after its thread"); }

  // Takes a kTime.
  bool time(uint64_t& ticks) {
    if (!is_next(ControlWord::kTime)) return misfit("the time of a call is missing");
    ticks = format::ticks_of(words_.take());
    if (observer_ != nullptr) observer_->time(ticks);
    return see(ticks);
  }

  // Takes the result of a commit or abort.
  bool end_call(EventCall call, ControlWord kind, uint32_t& code, uint64_t& ticks) {
    const uint64_t word = words_.take();
    if (!format::is_result(word, kind)) return misfit("the commit or abort is missing");
    code = format::result_of(word);
    ticks = format::ticks_of(word);
    ++totals_.calls;
    if (observer_ != nullptr) observer_->end(call, code, ticks);
    return see(ticks);
  }

  // Takes the evidence word of a call.
  bool result(uint64_t& word) {
    word = words_.take();
    if (word == 0 || format::is_control(word)) return misfit("the result of a call is missing");
    ++totals_.calls;
    return true;
  }

  // Follows gets and writes of a transaction from the beginning of `ops`, as long as they returned
  // SUCCESS. Returns their number. Most calls succeed, and this loop takes a fraction of the time
  // of data_op().
  std::size_t successes(std::span<const format::Op> ops) {
    if (observer_ != nullptr) return 0;
    std::size_t count = 0;
    while (count < ops.size() && format::is_data_call(ops[count].code) &&
           (ops[count].flags & format::kAutoCommit) == 0 && words_.keep_success()) {
      ++count;
    }
    totals_.calls += count;
    return count;
  }

  // Follows the calls of an op other than begin, commit, abort and procedures. `is_stream` is true
  // if the op belongs to the workload itself and not to an extra check.
  bool data_op(const format::Op& op, bool is_stream) {
    if (words_.skip_if(ControlWord::kNoCall)) {
      legal_ = op.code == OpCode::kDeleteRead;
      return true;
    }
    if (is_rare(op.code)) return programmed_call(op);
    if (format::is_scan(op.code)) return scan(op);
    uint64_t word = 0;
    if (!result(word)) return false;
    keep(op, word);
    const uint32_t code = format::code_of_word(word);
    legal_ = is_legal(op, code);
    unexpected_entry_ = format::is_unexpected_entry(op, is_stream, code);
    return true;
  }

  // Follows an openIndex or closeIndex after a failed attempt. The call undoes a change that the
  // attempt made to a handle, or makes a change that the skipped rest of the transaction contains.
  bool reverting_call() {
    const format::CallWord call = format::CallWord::unpacked(words_.take());
    const bool fits = call.call == EventCall::kOpen || call.call == EventCall::kClose;
    return fits ? rare_call(call, nullptr) : misfit("another call is recorded");
  }

  // Takes one call of the procedure that the op runs.
  bool computed_call(const format::Op& op, bool is_stream) {
    const format::CallWord call = format::CallWord::unpacked(words_.take());
    const bool known = call.call == EventCall::kGet || call.call == EventCall::kNext ||
                       call.call == EventCall::kInsert || call.call == EventCall::kDeleteKey;
    if (!known || call.slot >= format::kSlots) return misfit("no transaction can make this call");
    FollowedCall seen = followed(call.call, call.slot, &op);
    seen.computed = true;
    seen.key_is_text = call.key_is_text;
    seen.key = format::has_key_word(call.call) ? words_.take() : 0;
    seen.tag = call.number;
    if (!result(seen.word)) return false;
    if (call.call == EventCall::kGet && is_stream) {
      ++totals_.gets;
      if (format::code_of_word(seen.word) == SUCCESS) ++totals_.get_hits;
    }
    tell(seen);
    return true;
  }

  WordStream words_;
  ThreadTotals totals_;
  const uint64_t ended_;
  CallObserver* const observer_;
  std::string fault_;
  // Whether the player may continue after the last result. Calls of procedures do not set it.
  bool legal_ = true;
  bool unexpected_entry_ = false;  // format::is_unexpected_entry() of the last result

 private:
  FollowedCall followed(EventCall call, uint8_t slot, const format::Op* op) const {
    FollowedCall seen{};
    seen.call = call;
    seen.index = slots_[slot];
    seen.slot = slot;
    seen.op = op;
    seen.alone = op != nullptr && (op->flags & format::kAutoCommit) != 0;
    return seen;
  }

  void tell(const FollowedCall& call) {
    if (observer_ != nullptr) observer_->call(call);
  }

  void keep(const format::Op& op, uint64_t word) {
    words_.keep(word);
    if (observer_ == nullptr) return;
    FollowedCall call = followed(call_of(op.code), op.slot, &op);
    call.word = word;
    tell(call);
  }

  bool scan(const format::Op& op) {
    const bool to_end = op.code == OpCode::kNextToEnd;
    // In a transaction with kAnyCode, a kNext continues after any code. In any other transaction,
    // an illegal code ends the attempt.
    const bool stops = to_end || (op.flags & format::kAutoCommit) != 0;
    const uint32_t calls = op.argument + (to_end ? 1u : 0u);
    for (uint32_t number = 0; number < calls; ++number) {
      uint64_t word = 0;
      if (!result(word)) return false;
      keep(op, word);
      const uint32_t code = format::code_of_word(word);
      const bool is_endless = to_end && code == SUCCESS && number + 1 == calls;
      legal_ = code == DB_END || (code == SUCCESS && !is_endless);
      if (to_end && code == DB_END) return true;
      if (!legal_ && (stops || attempt_ends_here())) return true;
    }
    return true;
  }

  // Follows a create, openIndex, closeIndex, or delete of a record that was read.
  bool programmed_call(const format::Op& op) {
    if (!is_next(ControlWord::kRareCall)) return misfit("the call is missing");
    const format::CallWord call = format::CallWord::unpacked(words_.take());
    const bool creates = op.code == OpCode::kCreate;
    const bool fits = call.call == call_of(op.code) && call.slot == (creates ? 0 : op.slot);
    const bool is_numbered = creates || op.code == OpCode::kOpen;
    if (!fits || (is_numbered && call.number != op.argument))
      return misfit("another call is recorded");
    return rare_call(call, &op);
  }

  bool rare_call(const format::CallWord& call, const format::Op* op) {
    uint64_t word = 0;
    if (call.slot >= format::kSlots || !result(word)) return misfit("the call has no result");
    const uint32_t code = format::code_of_word(word);
    if (op != nullptr) legal_ = is_legal(*op, code);
    if (call.call == EventCall::kOpen && code == SUCCESS) slots_[call.slot] = call.number;
    FollowedCall seen = followed(call.call, call.slot, op);
    if (call.call == EventCall::kCreate || call.call == EventCall::kOpen) seen.index = call.number;
    seen.word = word;
    tell(seen);
    return true;
  }

  static bool is_legal(const format::Op& op, uint32_t code) {
    return code == SUCCESS || format::is_legal_answer(op, code);
  }

  std::array<uint32_t, format::kSlots> slots_{};  // the index that each slot has open
};

// The state of a Follower at the begin of a transaction.
struct BeginState {
  std::size_t at = 0, kept = 0, results = 0;
  uint32_t round = 0;
};

// Follows the transactions of the program. It is the counterpart of player::Interpreter and makes
// the same decisions, but finds in the words how each attempt ended.
class Follower : CallReader {
 public:
  Follower(std::span<const format::Op> ops, const TickClock& clock, uint64_t ended_ticks,
           std::vector<uint64_t>& words, CallObserver* observer, const Schedule& schedule)
      : CallReader(ended_ticks, words, observer),
        ops_(ops),
        counts_(clock, schedule, format::count_transactions(ops), out_.ends, totals_) {}

  Result<Followed> follow() {
    while (at_ < ops_.size()) {
      if (open_) at_ += successes(ops_.subspan(at_));
      if (at_ < ops_.size() && ops_[at_].code == OpCode::kUntil && words_.at_end()) {
        ops_ = ops_.first(at_);  // the clock ended the program here
      }
      if (at_ == ops_.size() || step()) continue;
      return Error{"results that do not fit operation " + std::to_string(at_) +
                   " of the thread's program: " + fault_};
    }
    if (!words_.at_end()) return Error{"results after the end of the thread's program"};
    out_.ops = ops_.size();
    counts_.finish(ended_);
    words_.finish();
    out_.totals = std::move(totals_);
    return std::move(out_);
  }

  // Follows the words as far as they go. Returns the number of the op that they reach.
  uint64_t reached() {
    while (at_ < ops_.size() && step()) {
    }
    return at_;
  }

 private:
  bool step() {
    const format::Op& op = ops_[at_];
    if (op.code == OpCode::kBegin) return begin(op);
    if (op.code == OpCode::kRepeat) return repeat(op);
    if (!makes_calls(op.code)) return go_on();
    if (open_ && attempt_ends_here()) return end_attempt();
    if ((op.flags & format::kAutoCommit) != 0) return auto_commit(op);
    if (!open_ && !is_rare(op.code)) return misfit("the call's transaction has already ended");
    switch (op.code) {
      case OpCode::kCommit:
        return commit();
      case OpCode::kAbort:
        return misfit("the abort is missing");
      case OpCode::kRun:
        return procedure(op);
      default:
        if (!data_op(op, is_stream_)) return false;
        note_unexpected_entry();
        return go_on();
    }
  }

  void note_unexpected_entry() {
    if (!std::exchange(unexpected_entry_, false)) return;
    const bool any_code = open_ && (ops_[saved_.at].flags & format::kAnyCode) != 0 &&
                          (ops_[at_].flags & format::kAutoCommit) == 0;
    if (!any_code && out_.unexpected_entries++ == 0) out_.first_unexpected_entry = at_;
  }

  bool go_on() {
    ++at_;
    return true;
  }

  bool repeat(const format::Op& op) {
    if (round_ == op.argument) {
      round_ = 0;
      return go_on();
    }
    ++round_;
    at_ -= op.payload;
    return true;
  }

  bool begin(const format::Op& op) {
    saved_ = {.at = at_, .kept = words_.kept(), .results = out_.results.size(), .round = round_};
    counts_.begin_attempt();
    rolls_back_ = is_unfit_ = false;
    // Only the end of this attempt is left if its other words were overwritten.
    if (format::is_attempt_end(words_.peek())) return end_attempt();
    const uint64_t word = words_.take();
    if (!format::is_result(word, ControlWord::kResult)) return misfit("the begin is missing");
    start_ = format::ticks_of(word);
    is_stream_ = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
    ++totals_.calls;
    if (observer_ != nullptr) observer_->begin(format::result_of(word), start_);
    if (!see(start_)) return false;
    if (format::result_of(word) != SUCCESS) return end_attempt();
    open_ = true;
    return go_on();
  }

  bool commit() {
    uint32_t code = 0;
    uint64_t now = 0;
    if (rolls_back_) return misfit("the abort that the transaction demands is missing");
    if (!end_call(EventCall::kCommit, ControlWord::kResult, code, now)) return false;
    if (code != SUCCESS || is_unfit_) return end_attempt();
    counts_.end_attempt(TransactionEnd::kCommitted, ops_[saved_.at].class_, start_, now);
    open_ = false;
    return go_on();
  }

  // Follows the end of an attempt that did not commit: an abort, handles that are closed and opened
  // again, and the word that says how the thread continues.
  bool end_attempt() {
    uint32_t code = 0;
    uint64_t now = 0;
    if (format::is_result(words_.peek(), ControlWord::kAbort) &&
        !end_call(EventCall::kAbort, ControlWord::kAbort, code, now)) {
      return false;
    }
    while (is_next(ControlWord::kRareCall)) {
      if (!reverting_call()) return false;
    }
    if (!format::is_attempt_end(words_.peek())) return misfit("the end of the attempt is missing");
    const AttemptEnd end = format::attempt_end_of(words_.take());
    open_ = false;
    const bool fits =
        is_possible(end, ops_[at_].code, at_ == saved_.at, ops_[saved_.at].flags, rolls_back_);
    return fits ? continue_after(end) : misfit("the recorded end of the attempt is impossible");
  }

  bool continue_after(AttemptEnd end) {
    if (end == AttemptEnd::kRetried) {
      counts_.retry();
      words_.keep_only(saved_.kept);
      out_.results.resize(saved_.results);
      round_ = saved_.round;
      at_ = saved_.at;
      return true;
    }
    const bool aborted = end == AttemptEnd::kAborted;
    counts_.end_attempt(aborted                      ? TransactionEnd::kAborted
                        : end == AttemptEnd::kFailed ? TransactionEnd::kFailed
                                                     : TransactionEnd::kDeadlocked,
                        0, 0, 0);
    if (!aborted) words_.keep_only(saved_.kept);
    if (!aborted) out_.results.resize(saved_.results);
    const bool at_its_end = at_ != saved_.at && (aborted || end == AttemptEnd::kContinued);
    return at_its_end ? go_on() : skip_rest();
  }

  // Skips the ops of a transaction that was given up.
  bool skip_rest() {
    const uint64_t reached = counts_.next();
    counts_.retry();
    counts_.pass(reached);  // the transaction itself
    const std::size_t end = std::min(ops_.size(), saved_.at + 1 + ops_[saved_.at].argument);
    for (at_ = saved_.at + 1; at_ < end; ++at_) {
      if ((ops_[at_].flags & format::kAutoCommit) != 0) counts_.pass(reached);
    }
    round_ = saved_.round;
    return true;
  }

  bool auto_commit(const format::Op& op) {
    const std::size_t kept = words_.kept();
    const bool is_timed = is_next(ControlWord::kTime);
    uint64_t start = 0, end = 0;
    if (is_timed && !time(start)) return false;
    if (!data_op(op, static_cast<format::Kind>(op.kind) == format::Kind::kStream)) return false;
    note_unexpected_entry();
    if (!legal_) words_.keep_only(kept);
    if (is_timed && legal_) {
      if (!time(end)) return false;
      counts_.timed_single(op.class_, start, end);
    } else {
      open_ ? counts_.nested(op.class_, legal_) : counts_.single(op.class_, legal_);
    }
    return go_on();
  }

  bool procedure(const format::Op& op) {
    while (is_next(ControlWord::kComputedCall)) {
      if (!computed_call(op, is_stream_)) return false;
    }
    if (words_.skip_if(ControlWord::kNoCall) || attempt_ends_here()) return go_on();
    if (!is_next(ControlWord::kProcedureEnds)) return misfit("the end of the operation is missing");
    const format::InstructionCode how = format::procedure_end_of(words_.take());
    rolls_back_ = rolls_back_ || how == format::InstructionCode::kRollBack;
    is_unfit_ = is_unfit_ || how == format::InstructionCode::kUnfit;
    out_.results.push_back({at_, round_, static_cast<int64_t>(words_.take())});
    return go_on();
  }

  std::span<const format::Op> ops_;
  Followed out_;
  TransactionCounts counts_;
  std::size_t at_ = 0;                     // position of the current op
  uint32_t round_ = 0;                     // repetition of the kRepeat body
  BeginState saved_;                       // at the begin of the open transaction
  uint64_t start_ = 0;                     // ticks of that begin
  bool open_ = false, is_stream_ = false;  // is a transaction open? is it of the workload itself?
  bool rolls_back_ = false, is_unfit_ = false;
};

}  // namespace

Result<Followed> follow_words(std::span<const format::Op> ops, const TickClock& clock,
                              uint64_t ended_ticks, std::vector<uint64_t>& words,
                              CallObserver* observer, const Schedule& schedule) {
  return Follower(ops, clock, ended_ticks, words, observer, schedule).follow();
}

uint64_t reached_op(std::span<const format::Op> ops, std::vector<uint64_t> words) {
  return Follower(ops, TickClock(1), UINT64_MAX, words, nullptr, {}).reached();
}

}  // namespace keydrome::script
