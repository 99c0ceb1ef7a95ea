// The cold half of Session: illegal answers, retries after DEADLOCK, handles.
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "benchmarks/kit/legal_answers.h"
#include "benchmarks/kit/record_buffers.h"
#include "benchmarks/kit/session.h"

namespace keydrome {
namespace {

constexpr uint32_t kYieldAfterAttempts = 3;
constexpr uint32_t kYieldsMax = 32;

// Lets others run after some attempts, for longer the more there were.
void back_off(uint32_t attempts) {
  if (attempts <= kYieldAfterAttempts) return;
  const uint32_t yields = std::min(attempts - kYieldAfterAttempts, kYieldsMax);
  for (uint32_t i = 0; i < yields; ++i) sched_yield();
}

}  // namespace

bool Session::out_of_patience(uint32_t attempts, uint64_t start_ticks) {
  return patience_->ends(attempts, [&] { return recorder_.ns_since(start_ticks); });
}

// What an answer other than SUCCESS means.
Session::Flow Session::judge_code(const Op& op, std::size_t at, uint32_t code) {
  if (code == SUCCESS) return Flow::kNext;
  if (code == DEADLOCK) {
    ++outcome_->deadlocks;
    return goes_on(op) ? Flow::kNext : Flow::kRetry;
  }
  const bool legal = is_legal_answer(op, is_stream(op), code);
  if (legal || (code <= FAILURE && goes_on(op))) return Flow::kNext;
  return violation(at, code);
}

// After a commit that did not succeed.
Session::Flow Session::finish_unsuccessful(const Op& op, std::size_t at, uint32_t code) {
  const Flow flow = judge_code(op, at, code);
  if (code == TXN_DNE) open_ = false;
  if (flow != Flow::kNext) return flow;
  if (open_) abort_attempt();
  ends_[saved_.transaction] = TransactionEnd::kDeadlocked;
  ++outcome_->deadlocked;
  attempts_ = 0;
  return flow;
}

Session::Flow Session::violation(std::size_t at, uint32_t code) {
  if (outcome_->code_violations++ == 0) {
    outcome_->first_violation = {.op = base_ + at, .code = code, .reserved = 0};
  }
  return Flow::kFailed;
}

// A wait that does not need its event: another thread may be blocked by a lock that this one holds.
void Session::yield(const Op& op) {
  const uint64_t start_ns = now_ns();
  do {
    sched_yield();
  } while (!events_->reached(op.argument, op.payload) &&
           now_ns() - start_ns < uint64_t{op.key} * 1000);
}

// Waits until the next transaction is asked for; not at all when that is past. A long wait sleeps
// through its first part, so that it takes no processor from the library; the rest does not, for
// nobody wakes in time.
void Session::arrive(const Op& op, std::size_t at) {
  known_start_ticks_ = recorder_.ticks_after_go(uint64_t{op.payload} << 32 | op.argument);
  known_start_ = base_ + at + 1;
  while (const uint64_t ns = recorder_.ns_until(known_start_ticks_)) {
    if (ns > kNsPerMs) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(ns / 2));
    } else {
      sched_yield();
    }
  }
}

// The ops that order threads and never fail. False: it is none of them.
bool Session::synchronise(const Op& op) {
  switch (op.code) {
    case OpCode::kSignal:
      events_->signal(op.argument);
      return true;
    case OpCode::kStep:
      baton_->await(op.argument, op.payload);
      return true;
    case OpCode::kStepDone:
      baton_->done(op.argument);
      return true;
    default:
      return false;
  }
}

void Session::keep(const Op& op) {
  const KeyType type = slots_[op.slot].type;
  Record& kept = kept_records_[op.slot];
  kept_ |= static_cast<uint16_t>(1u << op.slot);
  kept = record(type);
  // A get need not write the key, and an integer's record is not cleared as a whole.
  kept.key.type = type;
  if (op.code != OpCode::kGet) return;
  const std::string_view key = pool_key_bytes(*pools_, type, op.key);
  std::memset(&kept.key.keyval, 0, sizeof kept.key.keyval);
  std::memcpy(&kept.key.keyval, key.data(), key.size());
}

Session::Flow Session::call_delete_read(const Op& op, std::size_t at, TxnState* transaction) {
  if ((kept_ >> op.slot & 1u) == 0) return Flow::kNext;
  // The library gets a copy: it may write into what it is passed.
  const KeyType type = slots_[op.slot].type;
  record(type) = kept_records_[op.slot];
  const uint32_t code =
      static_cast<uint32_t>(api_->deleteRecord(slots_[op.slot].handle, transaction, &record(type)));
  ++outcome_->calls;
  place_.valid = false;
  return judge_code(op, at, code);
}

// Books an auto-commit call, which is asked again as long as it answers DEADLOCK.
std::size_t Session::end_auto_commit(const Op& op, std::size_t at, Flow flow,
                                     const AutoCommit& before) {
  TransactionEnd& end = ends_[next_transaction_++];
  const uint64_t retry_start = flow == Flow::kRetry ? recorder_.ticks() : 0;
  for (uint32_t attempt = 1; flow == Flow::kRetry; ++attempt) {
    if (out_of_patience(attempt, retry_start)) {
      flow = violation(at, kCodeNoProgress);
      break;
    }
    sched_yield();
    trace_.rewind(before.trace);
    segment_ = before.segment;
    flow = call(op, at, nullptr);
  }
  if (flow == Flow::kNext) {
    end = TransactionEnd::kCommitted;
    if (before.timed) {
      recorder_.committed(op.class_, before.start_ticks);
    } else {
      recorder_.committed_untimed(op.class_, 1);
    }
  } else {
    end = TransactionEnd::kFailed;
    ++outcome_->failed;
    trace_.rewind(before.trace);
    segment_ = before.segment;
  }
  return at + 1;
}

// Calls outside transactions: create, openIndex, closeIndex. Their evidence is written whatever
// they answer.
std::size_t Session::outside(const Op& op, std::size_t at) {
  const uint64_t start = recorder_.ticks();
  Flow flow = call(op, at, nullptr);
  for (uint32_t attempt = 1; flow == Flow::kRetry; ++attempt) {
    if (out_of_patience(attempt, start)) {
      violation(at, kCodeNoProgress);
      break;
    }
    back_off(attempt);
    flow = call(op, at, nullptr);
  }
  return at + 1;
}

Session::Flow Session::call_create(const Op& op, std::size_t at) {
  const IndexEntry& entry = pools_->indexes[op.argument];
  // The contract's create takes a char*; the image is read-only, so the library gets a copy that
  // lives for ever.
  char* name = names_->name(op.argument);
  const uint32_t code = static_cast<uint32_t>(api_->create(static_cast<KeyType>(entry.type), name));
  ++outcome_->calls;
  if (code == DEADLOCK) return judge_code(op, at, code);
  observe(op, at, code);
  return judge_code(op, at, code);
}

Session::Flow Session::call_open(const Op& op, std::size_t at) {
  save_slots();
  Slot& slot = slots_[op.slot];
  slot = Slot{.handle = nullptr,
              .index = op.argument,
              .type = static_cast<KeyType>(pools_->indexes[op.argument].type),
              .open = false};
  const uint32_t code =
      static_cast<uint32_t>(api_->openIndex(names_->name(op.argument), &slot.handle));
  ++outcome_->calls;
  place_.valid = false;
  kept_ &= static_cast<uint16_t>(~(1u << op.slot));
  slot.open = code == SUCCESS;
  if (code == DEADLOCK) return judge_code(op, at, code);
  observe(op, at, code);
  return judge_code(op, at, code);
}

Session::Flow Session::call_close(const Op& op, std::size_t at) {
  save_slots();
  Slot& slot = slots_[op.slot];
  const uint32_t code = static_cast<uint32_t>(api_->closeIndex(slot.handle));
  ++outcome_->calls;
  place_.valid = false;
  if (code == DEADLOCK) return judge_code(op, at, code);
  slot.open = false;
  observe(op, at, code);
  return judge_code(op, at, code);
}

// Before a transaction opens or closes its first handle.
void Session::save_slots() {
  if (!open_ || saved_.has_slots) return;
  saved_.slots = slots_;
  saved_.has_slots = true;
}

void Session::restore() {
  segment_ = saved_.segment;
  trace_.rewind(saved_.trace);
  next_transaction_ = saved_.transaction;
  outcome_->gets = saved_.gets;
  outcome_->get_hits = saved_.get_hits;
  outcome_->order_violations = saved_.order_violations;
  round_ = saved_.round;
  restore_slots();
}

// The attempt's auto-commit calls run again, so only their last run counts.
void Session::uncount_auto_commits(std::span<const Op> ops) {
  uint64_t number = saved_.transaction + 1;
  for (std::size_t at = saved_.at + 1; number < next_transaction_; ++at) {
    if ((ops[at].flags & kAutoCommit) == 0) continue;
    const bool committed = ends_[number++] == TransactionEnd::kCommitted;
    --(committed ? outcome_->committed[ops[at].class_] : outcome_->failed);
  }
}

// Handles that the attempt opened are closed, and those that it closed are opened again.
void Session::restore_slots() {
  if (!saved_.has_slots) return;
  saved_.has_slots = false;
  for (std::size_t i = 0; i < kSlots; ++i) {
    Slot& now = slots_[i];
    const Slot& before = saved_.slots[i];
    if (now.open == before.open && now.handle == before.handle) continue;
    if (now.open) {
      api_->closeIndex(now.handle);
      ++outcome_->calls;
    }
    now = before;
    if (before.open) {
      now.open = api_->openIndex(names_->name(before.index), &now.handle) == SUCCESS;
      ++outcome_->calls;
    }
  }
}

// Ends the library's transaction after DEADLOCK or an illegal answer. It may be gone already, so
// the answer does not matter, unless it is DEADLOCK again: that one is asked again, for a while.
void Session::abort_attempt() {
  recorder_.taking_back();
  for (uint32_t i = 0; i < kAbortsMax; ++i) {
    const uint32_t code = static_cast<uint32_t>(api_->abortTransaction(transaction_));
    ++outcome_->calls;
    if (code != DEADLOCK) break;
    sched_yield();
  }
  open_ = false;
}

std::size_t Session::retry(std::span<const Op> ops, std::size_t at) {
  abort_attempt();
  if ((ops[saved_.at].flags & kOneAttempt) != 0) return give_up(ops, TransactionEnd::kDeadlocked);
  if (out_of_patience(++attempts_, start_ticks_)) {
    violation(at, kCodeNoProgress);
    return fail_transaction(ops);
  }
  uncount_auto_commits(ops);
  restore();
  back_off(attempts_);
  return saved_.at;
}

std::size_t Session::fail_transaction(std::span<const Op> ops) {
  if (open_) abort_attempt();
  return give_up(ops, TransactionEnd::kFailed);
}

// Goes on behind the transaction, which the library has ended. Its auto-commit calls ended as they
// did; those that it did not come to are not run. Signals in it are still given and
// its steps taken in their turn, because others may wait for them, and handles are opened and
// closed as programmed.
std::size_t Session::give_up(std::span<const Op> ops, TransactionEnd how) {
  const uint64_t begun = next_transaction_;
  restore();
  ends_[next_transaction_++] = how;
  ++(how == TransactionEnd::kFailed ? outcome_->failed : outcome_->deadlocked);
  attempts_ = 0;
  const std::size_t end = std::min(ops.size(), saved_.at + 1 + ops[saved_.at].argument);
  for (std::size_t at = saved_.at + 1; at < end; ++at) {
    const Op& op = ops[at];
    recorder_.progress(base_ + at);
    if (synchronise(op)) continue;
    if (op.code == OpCode::kOpen || op.code == OpCode::kClose) outside(op, at);
    if ((op.flags & kAutoCommit) == 0) continue;
    if (next_transaction_ >= begun) ends_[next_transaction_] = TransactionEnd::kNotRun;
    ++next_transaction_;
  }
  return end;
}

}  // namespace keydrome
