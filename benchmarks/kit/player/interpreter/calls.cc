// Implements the part of the interpreter that prepares the less frequent calls. The interpreter
// executes the operations (ops) of one thread by calling the library. This part also executes the
// ops that make no call: they order the threads, or repeat a part of the program.
#include <sched.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "benchmarks/kit/format/hidden_key.h"
#include "benchmarks/kit/player/interpreter.h"

namespace keydrome::player {

using history::EventCall;

namespace {

void put_key(const PoolsView& pools, const format::BareCall& call, uint32_t number, Key& key) {
  const std::string_view bytes = pool_key_bytes(pools, call.key_type, number);
  key.type = call.key_type;
  std::memcpy(&key.keyval, bytes.data(), bytes.size());
  if (call.key_type == VARCHAR) key.keyval.charkey[bytes.size()] = '\0';
}

}  // namespace

// Executes an op that makes no call. For any other op, prepares the first call and sets the task
// that handles the calls of the op.
void Interpreter::rare_op(const format::Op& op) {
  publish(base_ + at_);
  function_ = rare_call(op);
  if (function_ != Function::kNone && task_ == Task::kProgram) set_task(Task::kCall);
  if (hot_) publish(format::kInWords);
}

Interpreter::Function Interpreter::rare_call(const format::Op& op) {
  switch (op.code) {
    case format::OpCode::kCommit:  // a procedure asked for a rollback
    case format::OpCode::kAbort:
      arguments_.transaction = transaction_;
      return Function::kAbort;
    case format::OpCode::kCreate:
      arguments_.index = op.argument;
      return Function::kCreate;
    case format::OpCode::kOpen:
      save_slot(op.slot);
      kept_ &= static_cast<uint16_t>(~(1u << op.slot));
      return open_call(op.slot, op.argument);
    case format::OpCode::kClose:
      if (!slots_[op.slot].open) break;
      save_slot(op.slot);
      arguments_.slot = op.slot;
      return Function::kClose;
    case format::OpCode::kDeleteRead:
      if (!slots_[op.slot].open) break;
      return delete_read_call(op);
    case format::OpCode::kRun:
      procedure_.start(*pools_, op);
      in_scan_ = false;
      set_task(Task::kProcedure);
      return Function::kNone;
    case format::OpCode::kBareCall:
      set_task(Task::kBare);
      return bare_call(op);
    default:
      if (format::is_on_records(op.code)) break;
      synchronise(op);
      return Function::kNone;
  }
  end_op(op, no_handle());
  return Function::kNone;
}

// Prepares the call that opens the index.
Interpreter::Function Interpreter::open_call(uint8_t slot, uint32_t index) {
  open_slot(slot, index);
  arguments_.slot = slot;
  arguments_.index = index;
  return Function::kOpen;
}

// Prepares the call that deletes a kept pair: the last pair that a read with the flag kKeep
// returned through the same slot (a variable for a handle). Passes a copy of the pair, because the
// library may write to its arguments.
Interpreter::Function Interpreter::delete_read_call(const format::Op& op) {
  if ((kept_ >> op.slot & 1u) == 0) {
    write_word(static_cast<uint64_t>(format::ControlWord::kNoCall));
    end_op(op, Flow::kNext);
    return Function::kNone;
  }
  Record& record = buffers_.last_record(slots_[op.slot].type);
  record = kept_records_[op.slot];
  arguments_.slot = op.slot;
  arguments_.transaction = transaction_of(op);
  arguments_.record = &record;
  return Function::kDelete;
}

// Prepares a bare call, which may break the rules of the index API. The call may use a handle or a
// transaction that has ended or never existed, or a key of the wrong type. Bytes that the library
// need not read may contain garbage. Of the interpreter's state, the call changes only the slot and
// the transaction that later bare calls pass.
Interpreter::Function Interpreter::bare_call(const format::Op& op) {
  const format::BareCall bare = format::BareCall::unpacked(op.argument);
  Record& record = buffers_.last_record(VARCHAR);
  std::memset(static_cast<void*>(&record), bare.garbage ? format::BareCall::kGarbage : 0,
              sizeof record);
  if (bare.has_key()) put_key(*pools_, bare, op.key, record.key);
  if (bare.has_payload()) {
    const std::string_view text = pools_->payloads[op.payload];
    text.copy(record.payload, text.size());
    record.payload[text.size()] = '\0';
  }
  constexpr std::array<Function, 11> kFunctions = {
      Function::kCreate, Function::kOpen,   Function::kClose, Function::kBegin,
      Function::kCommit, Function::kAbort,  Function::kGet,   Function::kNext,
      Function::kInsert, Function::kDelete, Function::kDelete};
  bare_begun_ = nullptr;
  if (bare.call == EventCall::kOpen) {
    slots_[op.slot].type = static_cast<KeyType>(pools_->indexes[op.key].type);
  }
  arguments_ = {.slot = op.slot,
                .index = op.key,
                .transaction = bare.in_transaction ? bare_transaction_ : nullptr,
                .record = &record,
                .key = &record.key,
                .payload = record.payload};
  return kFunctions[static_cast<std::size_t>(bare.call)];
}

// Writes the result of a bare call to the trace, the thread's memory for whole results. A bare call
// is never repeated.
void Interpreter::bare_result(const format::Op& op, uint32_t code) {
  const format::BareCall bare = format::BareCall::unpacked(op.argument);
  const Record& record = buffers_.last_record(VARCHAR);
  if (bare.call == EventCall::kBegin && code == SUCCESS) bare_transaction_ = bare_begun_;
  // The evidence of a successful getNext contains the record and the type of its key. The library
  // may have set this type to any number. The evidence of a get contains the bytes in the payload,
  // even if no record was found.
  const bool moved = bare.call == EventCall::kNext && code == SUCCESS;
  uint32_t type = 0;
  if (moved) std::memcpy(&type, &record.key.type, sizeof type);
  evidence_.write_bare(
      position(), type, code,
      moved ? key_bytes(record.key, slots_[op.slot].type) : std::string_view(),
      moved || bare.call == EventCall::kGet ? payload_bytes(record) : std::string_view());
  set_task(Task::kProgram);
  ++at_;
}

// Returns the Record for a get whose key is hidden by the previous hidden get (hidden_key.h).
// `word` is where the word of this get goes. Not inline, because it would slow down other gets.
[[gnu::noinline, gnu::cold]] Record& Interpreter::hidden_record(const format::Op& op,
                                                                const uint64_t* word) {
  const uint64_t answer = hidden_.answer == nullptr ? 0 : *hidden_.answer;
  if (hidden_.answer < saved_.word) hidden_.answer_before = hidden_.answer;
  hidden_.answer = word;
  hidden_.key = integer_bits<INT>(*pools_, op.key) ^ (format::hiding_bits(answer) & op.argument);
  return buffers_.int64_record(hidden_.key);
}

// Starts a scan op. In an auto-commit scan, each getNext is a transaction of its own, which has no
// earlier position, so each reads the first record.
void Interpreter::start_scan(const format::Op& op) {
  at_ = static_cast<std::size_t>(&op - ops_.data());
  const bool to_end = op.code == format::OpCode::kNextToEnd;
  scan_.start(slots_[op.slot].type, op.argument + (to_end ? 1u : 0u));
}

// Converts a handle to the number of an index, for the log of all calls of a recorded phase. This
// is the index of the first open slot with this handle. So if a library returns one handle for
// several indexes, the log shows the same index for all of them.
uint16_t Interpreter::index_of(const IdxState* handle) const {
  // The number for a handle that is not open. No index has this number, so the checker does not
  // judge the history.
  constexpr uint16_t kNoIndex = 0xffff;
  for (const Slot& slot : slots_) {
    if (slot.open && slot.handle == handle) return static_cast<uint16_t>(slot.index);
  }
  return kNoIndex;
}

// Passes the arguments of the next call to the Recording, which logs the call. Only recorded phases
// use this function.
void Interpreter::begin_recording(Function function) {
  constexpr std::array<EventCall, 11> kCalls = {
      EventCall::kCreate, EventCall::kCreate, EventCall::kOpen,      EventCall::kClose,
      EventCall::kBegin,  EventCall::kAbort,  EventCall::kCommit,    EventCall::kGet,
      EventCall::kNext,   EventCall::kInsert, EventCall::kDeletePair};
  static_assert(static_cast<std::size_t>(Function::kDelete) + 1 == kCalls.size());
  uint16_t index = 0;
  if (function == Function::kCreate || function == Function::kOpen) {
    index = static_cast<uint16_t>(arguments_.index);
  } else if (function == Function::kClose || function >= Function::kGet) {
    index = index_of(slots_[arguments_.slot].handle);
  }
  recording_->begin(
      kCalls[static_cast<std::size_t>(function)], arguments_.transaction == nullptr, index,
      arguments_.slot,
      {.record = arguments_.record, .key = arguments_.key, .payload = arguments_.payload});
}

// Executes an op that makes no call.
void Interpreter::synchronise(const format::Op& op) {
  switch (op.code) {
    case format::OpCode::kRepeat:
      return repeat(op);
    case format::OpCode::kUntil:
      return until(op);
    default:
      wait(op);
      if (recording_ != nullptr) recording_->paused();
      break;
  }
  ++at_;
}

// Goes back to the first op of the kRepeat body. After the last repetition, continues with the next
// op.
void Interpreter::repeat(const format::Op& op) {
  if (round_ < op.argument) {
    ++round_;
    at_ -= op.payload;
    return;
  }
  round_ = 0;
  ++at_;
}

// Ends the program if the time of the op has come. The rest of this piece is skipped, and ended()
// tells the caller to request no further piece.
void Interpreter::until(const format::Op& op) {
  ended_ = clock_.since_go() >= clock_.to_ticks(format::ns_after_go(op));
  at_ = ended_ ? ops_.size() : at_ + 1;
}

// Executes an op that orders the threads.
void Interpreter::wait(const format::Op& op) {
  switch (op.code) {
    case format::OpCode::kSignal:
      return events_->signal(op.argument);
    case format::OpCode::kWait:
      return events_->wait(op.argument, op.payload);
    case format::OpCode::kStep:
      return turns_->await(op.argument, op.payload);
    case format::OpCode::kStepDone:
      return turns_->done(op.argument);
    case format::OpCode::kArrive:
      return arrive(op);
    default:
      return yield(op);
  }
}

// Waits for an event for at most op.key microseconds. The time is limited, because this thread may
// hold a lock that blocks the signalling thread.
void Interpreter::yield(const format::Op& op) {
  const uint64_t start_ns = now_ns();
  do {
    sched_yield();
  } while (!events_->reached(op.argument, op.payload) &&
           now_ns() - start_ns < uint64_t{op.key} * 1000);
}

// Waits until the arrival time of the next transaction. Returns at once if this time has passed. A
// long wait begins with sleeps, which leave the processor to the library. In the last millisecond
// the thread only yields the processor, because a sleeping thread would wake too late.
void Interpreter::arrive(const format::Op& op) {
  known_start_ticks_ = clock_.to_ticks(format::ns_after_go(op));
  known_start_ = base_ + at_ + 1;
  while (const uint64_t ns = clock_.ns_until(known_start_ticks_)) {
    if (ns > kNsPerMs) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(ns / 2));
    } else {
      sched_yield();
    }
  }
}

}  // namespace keydrome::player
