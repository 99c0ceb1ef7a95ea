// Implements the fast part of the interpreter, which executes the operations (ops) of one thread.
// It consists of run(), the loop that calls the ten functions of the library, and of the code that
// handles expected results.
//
// A *word* is the 8 bytes that describe a call in the outcome (format/control_word.h). A thread is
// *plain* if its calls are not logged and it leaves only words.
//
// run() prepares, calls and handles the ops that are frequent in timed phases, with one switch per
// op. All other ops and results go through rare_op(), next_of_task() and react().
#include "benchmarks/kit/player/interpreter.h"

#include <sched.h>

#include <cstring>

namespace keydrome::player {
namespace {

// The switch of run() has two kinds of cases. For an op that run() prepares itself, the case number
// is its OpCode. For a call that is already prepared, it is kPrepared plus its Function.
constexpr unsigned kPrepared = 64;

}  // namespace

constexpr unsigned Interpreter::step_of(format::OpCode code) { return static_cast<unsigned>(code); }
constexpr unsigned Interpreter::step_of(Function function) {
  return kPrepared + static_cast<unsigned>(function);
}

void Interpreter::finish() {
  evidence_.finish(*outcome_);
  outcome_->words = static_cast<uint64_t>(word_ - words_.data());
  publish(ended_ ? ~format::kPositionBits : base_);
  clock_.finish();
}

// Begins an attempt of an auto-commit op.
[[gnu::always_inline]] inline void Interpreter::start_single(uint64_t*& word) {
  if (--single_.until_special == 0) [[unlikely]]
    word = start_special(word);
}

// Ends an auto-commit op that succeeded.
[[gnu::always_inline]] inline void Interpreter::end_single(uint64_t*& word) {
  if (single_.special) [[unlikely]]
    word = end_special(word);
}

// Begins an attempt of a special auto-commit op, i.e. of one that is timed or that is repeated
// after DEADLOCK. Only ops outside of transactions are timed. Returns where the next word goes.
[[gnu::noinline]] uint64_t* Interpreter::start_special(uint64_t* word) {
  if (single_.attempts > 0 || open_) {
    single_.until_special = 1;
    return word;
  }
  single_.until_special = format::kTimedEvery;
  single_.special = single_.timed = true;
  *word++ = format::time_word(clock_.since_go());
  return word;
}

// Ends a special auto-commit op that succeeded. Returns where the next word goes.
[[gnu::noinline]] uint64_t* Interpreter::end_special(uint64_t* word) {
  if (single_.timed) *word++ = format::time_word(clock_.since_go());
  forget_special();
  return word;
}

// Writes the word of a call on a record. The cache line of later words is requested in advance.
[[gnu::always_inline]] inline void Interpreter::put(uint64_t*& word, uint64_t value) {
  constexpr std::ptrdiff_t kWordsAhead = 32;
  __builtin_prefetch(word + kWordsAhead, 1);
  *word++ = value;
}

// Sets the state at the beginning of a transaction.
[[gnu::always_inline]] inline void Interpreter::begin(const format::Op& op, uint64_t* word) {
  const std::size_t at = static_cast<std::size_t>(&op - ops_.data());
  if (attempts_ == 0) {
    start_ticks_ = base_ + at == known_start_ ? known_start_ticks_ : clock_.since_go();
    known_start_ = kNowhere;
  }
  saved_.at = at;
  saved_.evidence = evidence_.position();
  saved_.word = word;
  saved_.round = round_;
  saved_.changed_slots = 0;
  accepts_any_code_ = (op.flags & format::kAnyCode) != 0;
  kept_ = 0;
  unfit_ = false;
  rolls_back_ = false;
  transaction_ = nullptr;
}

// Prepares the call of an op that reads or writes records of an open handle. kCode is the op's
// code, except that kNext also stands for kNextToEnd, and kDeleteKey for kDeletePair.
template <format::OpCode kCode>
[[gnu::always_inline]] inline void Interpreter::prepare(const format::Op& op, KeyType type,
                                                        uint64_t*& word, Arguments& with) {
  const bool alone = (op.flags & format::kAutoCommit) != 0;
  with.transaction = alone ? nullptr : transaction_;
  // One branch for both flags, because hidden gets are rare. They are never auto-commit ops.
  if ((op.flags & (format::kAutoCommit | format::kHidden)) != 0) {
    if (kCode == format::OpCode::kGet && !alone)
      return static_cast<void>(with.record = &hidden_record(op, word));
    start_single(word);
  }
  if constexpr (kCode == format::OpCode::kInsert) {
    with.key = &buffers_.key(*pools_, type, op.key);
    with.payload = buffers_.payload(op.argument, pools_->payloads[op.payload]);
  } else if constexpr (kCode == format::OpCode::kNext) {
    start_scan(op);
    single_.word = word;
    with.record = &buffers_.empty_record(type);
  } else {
    with.record = &buffers_.record(*pools_, type, op.key);
    if (kCode == format::OpCode::kDeleteKey && op.code == format::OpCode::kDeletePair)
      put_payload(with.record->payload, op.argument, pools_->payloads[op.payload]);
  }
}

// Writes the word of a get, insertRecord or deleteRecord and ends the call, if its result is
// expected and need not be kept. Otherwise does nothing and returns false. Both expected results
// of a get are tested at once, because a branch between them would often be mispredicted.
template <bool kIsGet>
[[gnu::always_inline]] inline bool Interpreter::end_call(const format::Op& op, const Record* record,
                                                         uint32_t code, uint64_t*& word) {
  if constexpr (kIsGet) {
    const auto is = [](bool condition) { return static_cast<unsigned>(condition); };
    const unsigned expected = is(code == SUCCESS) | is(code == KEY_NOTFOUND);
    if ((expected & is((op.flags & format::kKeep) == 0)) == 0) [[unlikely]]
      return false;
    put(word, format::get_word(record->payload, op.payload, code));
  } else {
    if (code != SUCCESS) [[unlikely]]
      return false;
    put(word, format::code_word(SUCCESS));
  }
  if ((op.flags & format::kAutoCommit) != 0) end_single(word);
  return true;
}

// Writes the words of an openIndex or closeIndex that succeeded. Otherwise does nothing and returns
// false.
[[gnu::always_inline]] inline bool Interpreter::end_handle_call(const format::Op& op, uint32_t code,
                                                                uint64_t*& word) {
  if (code != SUCCESS) return false;
  *word++ = rare_call_word(op);
  *word++ = format::code_word(SUCCESS);
  return true;
}

// Ends the transaction of a successful commit. Does nothing and returns false if the commit failed
// or if the transaction is unfit, i.e. missed a required record (format/procedure.h).
[[gnu::always_inline]] inline bool Interpreter::end_commit(const format::Op& op, uint32_t code,
                                                           uint64_t*& word) {
  if (code != SUCCESS || unfit_) return false;
  known_start_ticks_ = clock_.since_go();
  known_start_ = base_ + static_cast<uint64_t>(&op - ops_.data()) + 1;
  *word++ = format::result_word(format::ControlWord::kResult, known_start_ticks_, SUCCESS);
  end_transaction();
  return true;
}

// Handles one result of a scan op and writes its word to `word_`. Returns true if the scan makes
// another call. run() itself handles the frequent results.
bool Interpreter::continue_scan(const format::Op& op, const Record& record, uint32_t code) {
  const bool to_end = op.code == format::OpCode::kNextToEnd;
  scan_flow_ = Flow::kNext;
  if (code == SUCCESS) {
    write_word(format::record_word(record.payload, op.payload,
                                   format::word_bytes(record.key, scan_.type(), op.payload)));
  } else {
    write_word(format::code_word(code));
  }
  if (code != SUCCESS || (to_end && scan_.left() == 0)) {
    scan_flow_ = unusual_in_scan(op, code);
    if (scan_flow_ != Flow::kNext) return false;
  }
  observe_read(op, code, scan_.number());
  return (!to_end || code == SUCCESS) && scan_.next();
}

// Prepares the op and returns true if it has the same code, flags and slot as the op before it.
// Such ops often follow each other, and then need no switch.
template <format::OpCode kCode>
[[gnu::always_inline]] inline bool Interpreter::continues(const format::Op& op, KeyType type,
                                                          uint64_t*& word, Arguments& with) {
  uint32_t head = 0, head_before = 0;  // code, flags and slot; the other byte is 0
  std::memcpy(&head, &op, sizeof head);
  std::memcpy(&head_before, &op - 1, sizeof head_before);
  if (head != head_before) return false;
  prepare<kCode>(op, type, word, with);
  return true;
}

// Contains all calls to the library, so that the return address of a call does not show whether the
// call is judged. An op costs one switch if it has a case here and its result is expected
// (docs/reference/figures.md). All other ops and results leave this fast path through rare_op() and
// react().
// LIMIT: all ten calls must be in one function, and the time of this loop is part of what is
// measured. A lambda that changes `op` in a case would cost 1 ns per call, because `op` would then
// be in memory.
// NOLINTNEXTLINE(readability-function-size): as above.
void Interpreter::run(const PieceView& piece) {
  const std::span<const format::Op> ops = piece.ops;
  ops_ = ops;
  pools_ = &piece.pools;
  at_ = 0;
  publish(hot_ ? format::kInWords : base_);
  // The next transaction must not take the end of the last commit as its start time, because the
  // thread may have waited for this piece since that commit.
  known_start_ = kNowhere;
  const format::Op* op = ops.data();
  const format::Op* const end = op + ops.size();
  uint64_t* word = word_;
  const auto leave = [&] {
    at_ = static_cast<std::size_t>(op - ops_.data());
    word_ = word;
  };
  const auto come_back = [&] {
    op = ops_.data() + at_;
    word = word_;
  };
  const auto rare = [&] {
    leave();
    rare_op(*op);
    come_back();
  };
  while (op != end || task_ != Task::kProgram) {
    Arguments with;
    unsigned step = 0;
    if (hot_) [[likely]] {
      step = step_of(op->code);
      with.slot = op->slot;
    } else {
      const Function function = next_call();
      come_back();
      if (function == Function::kNone) continue;
      step = step_of(function);
      with = arguments_;
    }
    Slot& slot = slots_[with.slot];
    uint32_t code = 0;
    bool expected = false;
    switch (step) {
      case step_of(format::OpCode::kGet):
        if (!slot.open) [[unlikely]] {
          rare();
          continue;
        }
        prepare<format::OpCode::kGet>(*op, slot.type, word, with);
        [[fallthrough]];
      case step_of(Function::kGet):
        do {
          code = static_cast<uint32_t>(api_->get(slot.handle, with.transaction, with.record));
          expected = hot_ && end_call<true>(*op, with.record, code, word);
          if (expected) ++op;
        } while (expected && op != end &&
                 continues<format::OpCode::kGet>(*op, slot.type, word, with));
        if (!expected) break;
        continue;
      case step_of(format::OpCode::kInsert):
        if (!slot.open) [[unlikely]] {
          rare();
          continue;
        }
        prepare<format::OpCode::kInsert>(*op, slot.type, word, with);
        [[fallthrough]];
      case step_of(Function::kInsert):
        do {
          code = static_cast<uint32_t>(
              api_->insertRecord(slot.handle, with.transaction, with.key, with.payload));
          expected = hot_ && end_call<false>(*op, nullptr, code, word);
          if (expected) ++op;
        } while (expected && op != end &&
                 continues<format::OpCode::kInsert>(*op, slot.type, word, with));
        if (!expected) break;
        continue;
      case step_of(format::OpCode::kDeleteKey):
      case step_of(format::OpCode::kDeletePair):
        if (!slot.open) [[unlikely]] {
          rare();
          continue;
        }
        prepare<format::OpCode::kDeleteKey>(*op, slot.type, word, with);
        [[fallthrough]];
      case step_of(Function::kDelete):
        code =
            static_cast<uint32_t>(api_->deleteRecord(slot.handle, with.transaction, with.record));
        if (!hot_ || !end_call<false>(*op, nullptr, code, word)) break;
        ++op;
        continue;
      case step_of(format::OpCode::kNext):
      case step_of(format::OpCode::kNextToEnd):
        if (!slot.open) [[unlikely]] {
          rare();
          continue;
        }
        prepare<format::OpCode::kNext>(*op, slot.type, word, with);
        [[fallthrough]];
      case step_of(Function::kNext): {
        const bool plain = hot_ && (op->flags & format::kKeep) == 0;
        const char* const key =
            plain ? format::word_bytes(with.record->key, scan_.type(), op->payload) : nullptr;
        // The number of calls that may follow, or 0 if this loop must not handle their results.
        uint32_t left = plain ? scan_.left() : 0;
        while (true) {
          code = static_cast<uint32_t>(api_->getNext(slot.handle, with.transaction, with.record));
          if (code == SUCCESS && left > 0) [[likely]] {
            --left;
            put(word, format::record_word(with.record->payload, op->payload, key));
          } else {
            if (!hot_) break;
            if (plain) scan_.set_left(left);
            leave();
            const bool goes_on = continue_scan(*op, *with.record, code);
            word = word_;
            if (!goes_on) break;
            left = plain ? scan_.left() : 0;
          }
          buffers_.empty_record(scan_.type());
        }
        if (!hot_ || scan_flow_ != Flow::kNext) break;
        if ((op->flags & format::kAutoCommit) != 0) end_single(word);
        ++op;
        continue;
      }
      case step_of(format::OpCode::kBegin):
        begin(*op, word);
        [[fallthrough]];
      case step_of(Function::kBegin):
        code = static_cast<uint32_t>(
            api_->beginTransaction(task_ == Task::kBare ? &bare_begun_ : &transaction_));
        if (!hot_ || code != SUCCESS) break;
        *word++ = format::result_word(format::ControlWord::kResult, start_ticks_, SUCCESS);
        open_ = true;
        ++op;
        continue;
      case step_of(format::OpCode::kCommit):
        if (rolls_back_) [[unlikely]] {
          rare();
          continue;
        }
        with.transaction = transaction_;
        [[fallthrough]];
      case step_of(Function::kCommit):
        code = static_cast<uint32_t>(api_->commitTransaction(with.transaction));
        if (!hot_ || !end_commit(*op, code, word)) break;
        ++op;
        continue;
      case step_of(Function::kAbort):
        code = static_cast<uint32_t>(api_->abortTransaction(with.transaction));
        break;
      case step_of(Function::kCreate):
        code = static_cast<uint32_t>(api_->create(
            static_cast<KeyType>(pools_->indexes[with.index].type), names_->name(with.index)));
        break;
      case step_of(format::OpCode::kOpen):
        save_slot(op->slot);
        kept_ &= static_cast<uint16_t>(~(1u << op->slot));
        open_slot(op->slot, op->argument);
        with.index = op->argument;
        [[fallthrough]];
      case step_of(Function::kOpen):
        code = static_cast<uint32_t>(api_->openIndex(names_->name(with.index), &slot.handle));
        if (!hot_ || !end_handle_call(*op, code, word)) break;
        slot.open = true;
        ++op;
        continue;
      case step_of(format::OpCode::kClose):
        if (!slot.open) [[unlikely]] {
          rare();
          continue;
        }
        save_slot(op->slot);
        [[fallthrough]];
      case step_of(Function::kClose):
        code = static_cast<uint32_t>(api_->closeIndex(slot.handle));
        if (!hot_ || !end_handle_call(*op, code, word)) break;
        slot.open = false;
        ++op;
        continue;
      default:
        rare();
        continue;
    }
    leave();
    react(code);
    come_back();
  }
  leave();
  base_ += ops.size();
}

// Chooses the next call and sets arguments_. Returns kNone if there is no call yet, because an op
// without a call was executed or a task has ended.
Interpreter::Function Interpreter::next_call() {
  const Function function = task_ == Task::kProgram ? next_of_program(op()) : next_of_task();
  if (function != Function::kNone && recording_ != nullptr) begin_recording(function);
  return function;
}

// Prepares the next op of a thread that is not plain. For plain threads, run() prepares the
// frequent ops.
Interpreter::Function Interpreter::next_of_program(const format::Op& op) {
  publish(base_ + at_);
  arguments_.slot = op.slot;
  if (op.code == format::OpCode::kBegin) {
    begin(op, word_);
    return Function::kBegin;
  }
  if (op.code == format::OpCode::kCommit && !rolls_back_) {
    arguments_.transaction = transaction_;
    return Function::kCommit;
  }
  if (!slots_[op.slot].open || !format::is_on_records(op.code)) return rare_call(op);
  const KeyType type = slots_[op.slot].type;
  single_.evidence = evidence_.position();
  switch (op.code) {
    case format::OpCode::kGet:
      prepare<format::OpCode::kGet>(op, type, word_, arguments_);
      return Function::kGet;
    case format::OpCode::kInsert:
      prepare<format::OpCode::kInsert>(op, type, word_, arguments_);
      return Function::kInsert;
    case format::OpCode::kNext:
    case format::OpCode::kNextToEnd:
      prepare<format::OpCode::kNext>(op, type, word_, arguments_);
      set_task(Task::kScan);
      return Function::kNext;
    default:
      prepare<format::OpCode::kDeleteKey>(op, type, word_, arguments_);
      return Function::kDelete;
  }
}

// Handles a result that run() has not handled. The result is unexpected, or it belongs to a thread
// that is not plain or to a task other than kProgram.
void Interpreter::react(uint32_t code) {
  const format::Op& op = this->op();
  if (recording_ != nullptr) {
    recording_->end(code);
    if (task_ == Task::kProgram && op.code == format::OpCode::kGet && !evidence_.enabled() &&
        end_call<true>(op, arguments_.record, code, word_)) {
      ++at_;
      return;
    }
  }
  switch (task_) {
    case Task::kProcedure:
      return procedure_result(code);
    case Task::kBare:
      return bare_result(op, code);
    case Task::kAbort:
      return attempt_aborted(code);
    case Task::kRestore: {
      Slot& slot = slots_[arguments_.slot];
      write_rare_call(slot.open ? history::EventCall::kClose : history::EventCall::kOpen,
                      arguments_.slot, arguments_.index, code);
      slot.open = !slot.open && code == SUCCESS;  // the call closed the slot or reopened it
      return;
    }
    case Task::kScan:
      if (continue_scan(op, *arguments_.record, code)) return;
      set_task(Task::kProgram);
      break;
    case Task::kCall:
      set_task(Task::kProgram);
      break;
    case Task::kProgram:
    case Task::kRest:
      break;
  }
  op_result(op, code);
}

// Handles the result of an op's own call. react() handles the calls of other tasks, such as an
// abort before a retry.
void Interpreter::op_result(const format::Op& op, uint32_t code) {
  switch (op.code) {
    case format::OpCode::kBegin:
      write_word(format::result_word(format::ControlWord::kResult, start_ticks_, code));
      if (code != SUCCESS) return not_begun(op, code);
      open_ = true;
      ++at_;
      return;
    case format::OpCode::kCommit:
      if (rolls_back_) return aborted_by_program(code);
      if (!end_commit(op, code, word_)) return not_committed(op, code);
      ++at_;
      return;
    case format::OpCode::kAbort:
      return aborted_by_program(code);
    default:
      return end_op(op, flow_of(op, code));
  }
}

}  // namespace keydrome::player
