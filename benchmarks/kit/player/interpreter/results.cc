// Implements the part of the interpreter that handles the results of single calls. The interpreter
// executes the operations (ops) of one thread by calling the library. This part decides how to
// continue after a result code, and writes evidence (the result of a call) for the judge.
#include <sched.h>

#include <cstring>

#include "benchmarks/kit/format/legal_answers.h"
#include "benchmarks/kit/player/interpreter.h"

namespace keydrome::player {

// Decides how to continue after a result code. Counts DEADLOCKs and violations.
Interpreter::Flow Interpreter::judge_code(const format::Op& op, uint32_t code) {
  if (code == SUCCESS) return Flow::kNext;
  if (code == DEADLOCK) {
    ++outcome_->deadlocks;
    return accepts_any_code(op) ? Flow::kNext : Flow::kRetry;
  }
  const bool legal = format::is_legal_answer(op, code);
  if (legal || (code <= FAILURE && accepts_any_code(op))) return Flow::kNext;
  return violation(at_, code);
}

// `detail` is explained at format::IllegalAnswer.
Interpreter::Flow Interpreter::violation(std::size_t at, uint32_t code, uint32_t detail) {
  if (outcome_->code_violations++ == 0) {
    outcome_->first_violation = {.op = base_ + at, .code = code, .detail = detail};
  }
  return Flow::kFailed;
}

// Handles an op that can make no call, because its index could not be opened.
Interpreter::Flow Interpreter::no_handle() {
  write_word(static_cast<uint64_t>(format::ControlWord::kNoCall));
  return violation(at_, format::kCodeNoHandle);
}

// Writes the words (8 bytes each) of a call that restores a slot, the variable for a handle, after
// a failed attempt. The call closes or reopens the handle.
void Interpreter::write_rare_call(history::EventCall call, uint8_t slot, uint32_t index,
                                  uint32_t code) {
  const format::CallWord word{.call = call, .slot = slot, .number = index};
  write_word(word.packed(format::ControlWord::kRareCall));
  write_word(format::code_word(code));
}

// Handles the result of an op that neither begins nor ends a transaction.
Interpreter::Flow Interpreter::flow_of(const format::Op& op, uint32_t code) {
  Slot& slot = slots_[op.slot];
  switch (op.code) {
    case format::OpCode::kNext:
    case format::OpCode::kNextToEnd:
      return scan_flow_;
    case format::OpCode::kDeleteRead:
      write_rare_call(op, code);
      return judge_code(op, code);
    case format::OpCode::kOpen:
      slot.open = code == SUCCESS;
      break;
    case format::OpCode::kClose:
      if (code != DEADLOCK) slot.open = false;
      break;
    case format::OpCode::kCreate:
      break;
    default:
      return data_flow(op, code);
  }
  write_rare_call(op, code);
  if (code != DEADLOCK) evidence_.write_code(position(), code);
  return judge_code(op, code);
}

// Handles the result of a get, insertRecord or deleteRecord.
Interpreter::Flow Interpreter::data_flow(const format::Op& op, uint32_t code) {
  const bool is_get = op.code == format::OpCode::kGet;
  const Record& record = buffers_.last_record(slots_[op.slot].type);
  write_word(is_get ? format::get_word(record.payload, op.payload, code) : format::code_word(code));
  const Flow flow = judge_code(op, code);
  if (flow != Flow::kNext) return flow;
  is_get ? observe_read(op, code, 0) : evidence_.write_code(position(), code);
  return flow;
}

// Handles a result of getNext that is not the next expected record: a record too many, DB_END or a
// failure.
Interpreter::Flow Interpreter::unusual_in_scan(const format::Op& op, uint32_t code) {
  if (code == SUCCESS) return violation(at_, format::kCodeEndless);
  return code == DB_END ? Flow::kNext : judge_code(op, code);
}

// Writes the evidence of a get or of one getNext. If the op has kKeep, also keeps the record,
// because a later kDeleteRead op may delete it.
void Interpreter::observe_read(const format::Op& op, uint32_t code, uint32_t call_number) {
  if ((op.flags & format::kKeep) != 0 && code == SUCCESS) keep(op);
  if (!evidence_.enabled()) return;
  std::string_view key, payload;
  const KeyType type = slots_[op.slot].type;
  const Record& record = buffers_.last_record(type);
  if (code == SUCCESS) {
    key = op.code == format::OpCode::kGet ? key_of_get(op, type) : key_bytes(record.key, type);
    payload = payload_bytes(record);
  }
  evidence_.write_read(position(), call_number, code, key, payload);
}

// Stores the record that a read returned, because a later kDeleteRead may delete the record.
void Interpreter::keep(const format::Op& op) {
  const KeyType type = slots_[op.slot].type;
  Record& kept = kept_records_[op.slot];
  kept_ |= static_cast<uint16_t>(1u << op.slot);
  kept = buffers_.last_record(type);
  // Set the whole key, because a get need not write it and because CallBuffers does not clear every
  // byte of an integer index's record.
  kept.key.type = type;
  if (op.code != format::OpCode::kGet) return;
  const std::string_view key = key_of_get(op, type);
  std::memset(&kept.key.keyval, 0, sizeof kept.key.keyval);
  std::memcpy(&kept.key.keyval, key.data(), key.size());
}

// Continues after an op that neither begins nor ends a transaction: with the next op, with a retry,
// or after a failed transaction.
void Interpreter::end_op(const format::Op& op, Flow flow) {
  if ((op.flags & format::kAutoCommit) != 0) return end_auto_commit(op, flow);
  if (!open_) return end_outside(flow);
  switch (flow) {
    case Flow::kNext:
      ++at_;
      return;
    case Flow::kRetry:
      return start_abort(AfterAbort::kRetry);
    case Flow::kFailed:
      return fail_transaction();
  }
}

// Ends an auto-commit op. After DEADLOCK, repeats the op until the retry budget is spent.
void Interpreter::end_auto_commit(const format::Op& op, Flow flow) {
  if (flow == Flow::kNext) {
    if (single_.special) word_ = end_special(word_);
    ++at_;
    return;
  }
  evidence_.rewind(single_.evidence);
  if (flow == Flow::kRetry) {
    if (single_.attempts == 0) {
      single_.deadlock_ticks = clock_.since_go();
      single_.until_timed = single_.until_special;
      single_.until_special = 1;
      single_.special = true;
    }
    if (!is_budget_spent(++single_.attempts, single_.deadlock_ticks)) {
      take_back_words(format::is_scan(op.code) ? single_.word : word_ - 1);
      sched_yield();
      return;
    }
    violation(at_, format::kCodeNoProgress, single_.attempts);
  }
  forget_special();
  ++at_;
}

void Interpreter::forget_special() {
  if (single_.attempts > 0) single_.until_special = single_.until_timed;
  single_.attempts = 0;
  single_.special = single_.timed = false;
}

}  // namespace keydrome::player
