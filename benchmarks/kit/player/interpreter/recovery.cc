// Implements the part of the interpreter that handles transactions which do not commit. The
// interpreter executes the operations (ops) of one thread. It retries a transaction after DEADLOCK,
// gives it up after an illegal code, and handles programmed aborts.
#include <sched.h>

#include <algorithm>

#include "benchmarks/kit/format/legal_answers.h"
#include "benchmarks/kit/player/interpreter.h"

namespace keydrome::player {
namespace {

constexpr uint32_t kYieldAfterAttempts = 3;
constexpr uint32_t kYieldsMax = 32;
// The words, of 8 bytes each, that a create, openIndex or closeIndex leaves.
constexpr uint64_t kRareWords = 2;

// Yields the processor to other threads before the next attempt. The number of yields grows with
// the number of attempts.
void back_off(uint32_t attempts) {
  if (attempts <= kYieldAfterAttempts) return;
  const uint32_t yields = std::min(attempts - kYieldAfterAttempts, kYieldsMax);
  for (uint32_t i = 0; i < yields; ++i) sched_yield();
}

}  // namespace

bool Interpreter::is_budget_spent(uint32_t attempts, uint64_t start_ticks) {
  return retry_budget_->ends(attempts, [&] { return clock_.ns_since(start_ticks); });
}

// Returns the next call of the current task. Returns kNone if the task has ended or changed.
// REQUIRES: the task is not kProgram.
Interpreter::Function Interpreter::next_of_task() {
  switch (task_) {
    case Task::kProcedure:
      return next_of_procedure();
    case Task::kAbort:
      arguments_.transaction = transaction_;
      return Function::kAbort;
    case Task::kRestore:
      return next_to_restore();
    case Task::kRest:
      return next_of_rest();
    case Task::kCall:
    case Task::kBare:
      return function_;
    case Task::kScan:
      arguments_.record = &buffers_.empty_record(scan_.type());
      return Function::kNext;
    case Task::kProgram:
      break;
  }
  return Function::kNone;
}

// Handles the result of a create, openIndex or closeIndex outside a transaction. After DEADLOCK,
// the call is made again until the retry budget, a number of attempts and a time, is spent.
void Interpreter::end_outside(Flow flow) {
  if (flow == Flow::kRetry) {
    if (single_.attempts == 0) single_.deadlock_ticks = clock_.since_go();
    if (!is_budget_spent(++single_.attempts, single_.deadlock_ticks)) {
      take_back_words(word_ - kRareWords);
      return back_off(single_.attempts);
    }
    violation(at_, format::kCodeNoProgress, single_.attempts);
  }
  single_.attempts = 0;
  ++at_;
}

// Handles a result of beginTransaction other than SUCCESS.
void Interpreter::not_begun(const format::Op& op, uint32_t code) {
  if (code != DEADLOCK) {
    violation(at_, code);
    return fail_transaction();
  }
  ++outcome_->deadlocks;
  unplanned_ = word_;
  return transaction_ != nullptr ? start_abort(AfterAbort::kBegin) : begin_again(op);
}

void Interpreter::begin_again(const format::Op& op) {
  if ((op.flags & format::kOneAttempt) != 0) return give_up(format::AttemptEnd::kDeadlocked);
  if (is_budget_spent(++attempts_, start_ticks_)) {
    violation(at_, format::kCodeNoProgress, attempts_);
    return fail_transaction();
  }
  end_attempt(format::AttemptEnd::kRetried);
  sched_yield();
}

// Handles a commit that failed, and a commit that succeeded although the transaction is unfit, i.e.
// missed a required record (format/procedure.h).
void Interpreter::not_committed(const format::Op& op, uint32_t code) {
  write_word(format::result_word(format::ControlWord::kResult, clock_.since_go(), code));
  if (code == SUCCESS) {
    open_ = false;
    violation(unfit_at_, format::kCodeUnfit);
    return fail_transaction();
  }
  const Flow flow = judge_code(op, code);
  if (flow == Flow::kRetry) return start_abort(AfterAbort::kRetry);
  if (flow == Flow::kFailed) {
    if (code == TXN_DNE) open_ = false;
    return fail_transaction();
  }
  // The transaction accepts any code (kAnyCode), so it may have continued after a DEADLOCK. After
  // DEADLOCK the client must abort (convention 3 of index.h), even if the commit returned TXN_DNE,
  // because a library may keep the transaction until the abort.
  start_abort(AfterAbort::kContinue);
}

// Handles the result of an abort that the program, or a procedure (a list of instructions),
// requires.
void Interpreter::aborted_by_program(uint32_t code) {
  if (code == DEADLOCK) {
    ++outcome_->deadlocks;
    return start_abort(AfterAbort::kAborted);
  }
  write_word(format::result_word(format::ControlWord::kAbort, clock_.since_go(), code));
  if (code != SUCCESS && (!accepts_any_code_ || code > FAILURE)) {
    open_ = false;
    violation(at_, code);
    return fail_transaction();
  }
  end_attempt(format::AttemptEnd::kAborted);
  end_transaction();
  ++at_;
}

// Starts the abort of a transaction after DEADLOCK or an illegal code. The result of
// abortTransaction does not matter, because the library may have ended the transaction already.
// Only DEADLOCK makes the interpreter abort again, with at most kAbortsMax calls in total.
void Interpreter::start_abort(AfterAbort then) {
  publish((base_ + at_) | format::kRollingBack);
  unplanned_ = word_;
  set_task(Task::kAbort);
  after_abort_ = then;
  aborts_ = 0;
}

void Interpreter::attempt_aborted(uint32_t code) {
  if (code == DEADLOCK && ++aborts_ < format::kAbortsMax) {
    sched_yield();
    return;
  }
  write_word(format::result_word(format::ControlWord::kAbort, clock_.since_go(), code));
  open_ = false;
  set_task(Task::kProgram);
  switch (after_abort_) {
    case AfterAbort::kBegin:
      return begin_again(op());
    case AfterAbort::kRetry:
      return retry();
    case AfterAbort::kFail:
      return give_up(format::AttemptEnd::kFailed);
    case AfterAbort::kContinue:
      end_attempt(format::AttemptEnd::kContinued);
      end_transaction();
      ++at_;
      return;
    case AfterAbort::kAborted:
      end_attempt(format::AttemptEnd::kAborted);
      end_transaction();
      ++at_;
      return;
  }
}

// Repeats the transaction after an aborted attempt. Gives the transaction up if it has kOneAttempt
// or if the retry budget is spent.
void Interpreter::retry() {
  if ((ops_[saved_.at].flags & format::kOneAttempt) != 0)
    return give_up(format::AttemptEnd::kDeadlocked);
  if (is_budget_spent(++attempts_, start_ticks_)) {
    violation(at_, format::kCodeNoProgress, attempts_);
    return give_up(format::AttemptEnd::kFailed);
  }
  restore(true);
}

void Interpreter::fail_transaction() {
  if (open_) return start_abort(AfterAbort::kFail);
  unplanned_ = word_;
  give_up(format::AttemptEnd::kFailed);
}

void Interpreter::give_up(format::AttemptEnd end) {
  given_up_ = end;
  restore(false);
}

// Removes the attempt's evidence (the results of its calls) from the trace. The task kRestore then
// restores the handles.
void Interpreter::restore(bool retries) {
  publish((base_ + at_) | format::kRollingBack);
  evidence_.rewind(saved_.evidence);
  round_ = saved_.round;
  retries_ = retries;
  restore_slot_ = 0;
  set_task(Task::kRestore);
}

// Returns the next call that closes a handle opened by the attempt, or reopens a handle closed by
// the attempt.
Interpreter::Function Interpreter::next_to_restore() {
  for (; saved_.changed_slots >> restore_slot_ != 0; ++restore_slot_) {
    if ((saved_.changed_slots >> restore_slot_ & 1) == 0) continue;
    Slot& now = slots_[restore_slot_];
    const Slot& before = saved_.slots[restore_slot_];
    if (now.open == before.open && now.opening == before.opening) continue;
    const auto slot = static_cast<uint8_t>(restore_slot_);
    if (now.open) {
      arguments_.slot = slot;
      return Function::kClose;  // the next invocation looks at this slot again
    }
    now = before;
    if (!before.open) continue;
    ++restore_slot_;
    return open_call(slot, before.index);
  }
  saved_.changed_slots = 0;
  restored();
  return Function::kNone;
}

// Writes the last word of an attempt that did not commit. The words of a retried attempt, and those
// of an abort that the program does not contain, need spare room. Without such room, the next words
// overwrite them.
void Interpreter::end_attempt(format::AttemptEnd end) {
  write_word(format::attempt_end_word(end));
  if (end == format::AttemptEnd::kAborted) return;
  const bool retried = end == format::AttemptEnd::kRetried;
  const auto extra = static_cast<uint64_t>(word_ - (retried ? saved_.word : unplanned_));
  if (extra <= spare_) {
    spare_ -= extra;
    return;
  }
  ++outcome_->attempts_overwritten;
  take_back_words(saved_.word);
  if (!retried) write_word(format::attempt_end_word(end));
}

// Continues at the transaction's kBegin for a retry. Otherwise starts to skip the remaining ops of
// the transaction.
void Interpreter::restored() {
  // The next hidden key must not depend on a word of this attempt, because the word may be
  // overwritten.
  if (hidden_.answer >= saved_.word) hidden_.answer = hidden_.answer_before;
  if (retries_) {
    set_task(Task::kProgram);
    end_attempt(format::AttemptEnd::kRetried);
    at_ = saved_.at;
    return back_off(attempts_);
  }
  attempts_ = 0;
  at_ = saved_.at + 1;
  rest_end_ = std::min(ops_.size(), at_ + ops_[saved_.at].argument);
  set_task(Task::kRest);
}

// Skips the rest of a transaction that was given up. Signals and steps are still executed, because
// other threads may wait for them. Handles are still opened and closed as programmed.
Interpreter::Function Interpreter::next_of_rest() {
  for (; at_ < rest_end_; ++at_) {
    const format::Op& op = ops_[at_];
    publish(base_ + at_);
    switch (op.code) {
      case format::OpCode::kOpen:
      case format::OpCode::kClose:
        return rare_call(op);
      case format::OpCode::kSignal:
      case format::OpCode::kStep:
      case format::OpCode::kStepDone:
        wait(op);
        continue;
      default:
        continue;
    }
  }
  end_attempt(given_up_);
  set_task(Task::kProgram);
  return Function::kNone;
}

}  // namespace keydrome::player
