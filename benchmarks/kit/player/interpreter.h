// Interpreter: executes one thread's program (format/program.h) by calling the functions of a
// library.
//
// The interpreter runs inside the jail (a sandbox), in the same process as the library. Therefore
// it knows no workload, no seed and no expected result. It reports the calls in words of 8 bytes
// (format/control_word.h). A trace is memory for whole results. If the thread has a trace, the
// interpreter also reports evidence: the whole result of each call. The judge, which runs outside,
// checks everything that the interpreter reports.
//
// The interpreter treats the library fairly. It zeroes Records before each call, passes Keys and
// Records in private writable memory, and keeps index names valid.
//
// After a call that does not succeed, the interpreter does the following:
//   - DEADLOCK in a transaction: aborts the transaction and repeats it from its kBegin, until the
//     retry budget is spent (retry_budget.h). The evidence of the failed attempt is discarded,
//     because an attempt that cannot commit may read an inconsistent snapshot. The words of the
//     attempt stay if there is room for them.
//   - DEADLOCK from an auto-commit call: makes the call again until the retry budget is spent.
//   - DEADLOCK in a transaction with the flag kOneAttempt: aborts and continues after the
//     transaction. This is no violation.
//   - A code that the contract, the specification of the API, does not allow: reports the first
//     such code, aborts the transaction, gives it up as failed and continues after it.
//   - Any documented code in a transaction with the flag kAnyCode: continues with the next call.
//     If the commit fails, aborts the transaction.
//
// Bare calls, which are made exactly as the program says (kBareCall), are not part of any
// transaction of the interpreter.
//
// run() contains exactly one call instruction for each of the library's ten functions. The
// workload, checks, retries, procedures (which compute the arguments of their calls) and recorded
// phases (in which every call is logged) all share these ten instructions. All other code either
// chooses the next call or handles a result. So neither the return address nor the stack shows a
// library which calls are judged.
// tests/test_call_sites.py checks this in the machine code.
//
// The path of successful calls makes no allocation and takes no lock. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "benchmarks/kit/player/interpreter/state.h"

namespace keydrome::player {

class Interpreter : InterpreterState {
 public:
  explicit Interpreter(const InterpreterInputs& inputs) : InterpreterState(inputs) {}

  // Executes the thread's next piece, a part of its program. The pieces of a phase must be passed
  // in order. The piece is no longer used when run() returns.
  void run(const PieceView& piece);

  // Returns true if the program has ended at a kUntil, an op that ends the program at a given time.
  // The thread then plays no further piece.
  bool ended() const { return ended_; }

  // Writes the number of words and the end time to the outcome, the memory for a thread's results.
  // The caller calls finish() once, after the last piece that the thread plays.
  void finish();

  // Publishes that the thread waits for its next piece, until the next run() begins.
  void await_piece() { publish(base_ | format::kAwaitsPiece); }

 private:
  // interpreter/run.cc implements the frequent ops (operations) and their results.
  static constexpr unsigned step_of(format::OpCode code);
  static constexpr unsigned step_of(Function function);
  void begin(const format::Op& op, uint64_t* word);
  template <format::OpCode kCode>
  void prepare(const format::Op& op, KeyType type, uint64_t*& word, Arguments& with);
  template <format::OpCode kCode>
  bool continues(const format::Op& op, KeyType type, uint64_t*& word, Arguments& with);
  void start_single(uint64_t*& word);
  void end_single(uint64_t*& word);
  uint64_t* start_special(uint64_t* word);
  uint64_t* end_special(uint64_t* word);
  void forget_special();
  static void put(uint64_t*& word, uint64_t value);
  template <bool kIsGet>
  bool end_call(const format::Op& op, const Record* record, uint32_t code, uint64_t*& word);
  bool end_handle_call(const format::Op& op, uint32_t code, uint64_t*& word);
  bool end_commit(const format::Op& op, uint32_t code, uint64_t*& word);
  void end_transaction() {
    open_ = false;
    attempts_ = 0;
  }
  bool continue_scan(const format::Op& op, const Record& record, uint32_t code);
  Function next_call();
  Function next_of_program(const format::Op& op);
  void react(uint32_t code);
  void op_result(const format::Op& op, uint32_t code);
  void end_op(const format::Op& op, Flow flow);
  void end_auto_commit(const format::Op& op, Flow flow);

  // interpreter/calls.cc implements the other ops. A function that returns a Function chooses the
  // next call and sets arguments_.
  void rare_op(const format::Op& op);
  Function rare_call(const format::Op& op);
  Function open_call(uint8_t slot, uint32_t index);
  Function delete_read_call(const format::Op& op);
  Function bare_call(const format::Op& op);
  [[gnu::cold]] Record& hidden_record(const format::Op& op, const uint64_t* word);
  void bare_result(const format::Op& op, uint32_t code);
  void start_scan(const format::Op& op);
  void synchronise(const format::Op& op);
  void repeat(const format::Op& op);
  void until(const format::Op& op);
  void wait(const format::Op& op);
  void yield(const format::Op& op);
  void arrive(const format::Op& op);
  uint16_t index_of(const IdxState* handle) const;
  void begin_recording(Function function);

  // interpreter/results.cc handles the other results.
  Flow flow_of(const format::Op& op, uint32_t code);
  Flow data_flow(const format::Op& op, uint32_t code);
  Flow unusual_in_scan(const format::Op& op, uint32_t code);
  Flow judge_code(const format::Op& op, uint32_t code);
  Flow violation(std::size_t at, uint32_t code, uint32_t detail = 0);
  void write_word(uint64_t word) { *word_++ = word; }
  // Returns the first word of a create, openIndex, closeIndex, or delete of a record that was read.
  static uint64_t rare_call_word(const format::Op& op) {
    using history::EventCall;
    const bool opens = op.code == format::OpCode::kOpen,
               creates = op.code == format::OpCode::kCreate;
    const format::CallWord word{.call = opens     ? EventCall::kOpen
                                        : creates ? EventCall::kCreate
                                        : op.code == format::OpCode::kClose
                                            ? EventCall::kClose
                                            : EventCall::kDeletePair,
                                .slot = creates ? uint8_t{0} : op.slot,
                                .number = opens || creates ? op.argument : 0};
    return word.packed(format::ControlWord::kRareCall);
  }
  void write_rare_call(const format::Op& op, uint32_t code) {
    write_word(rare_call_word(op));
    write_word(format::code_word(code));
  }
  void write_rare_call(history::EventCall call, uint8_t slot, uint32_t index, uint32_t code);
  Flow no_handle();
  void observe_read(const format::Op& op, uint32_t code, uint32_t call_number);
  void keep(const format::Op& op);
  // Returns the key that the last get passed, in the form of pool_key_bytes(). The library may have
  // overwritten it in the Record.
  std::string_view key_of_get(const format::Op& op, KeyType type) const {
    if ((op.flags & format::kHidden) == 0) return pool_key_bytes(*pools_, type, op.key);
    return {reinterpret_cast<const char*>(&hidden_.key), sizeof hidden_.key};
  }

  // interpreter/procedure.cc runs procedures.
  Function next_of_procedure();
  Function procedure_call(const format::Instruction& instruction);
  void procedure_result(uint32_t code);
  void write_computed_call(uint32_t code);
  Flow procedure_flow(uint32_t code);
  Flow scan_flow(uint32_t code);
  Flow computed_failure(uint32_t code, history::EventCall call);
  void end_procedure(format::InstructionCode how);

  // interpreter/recovery.cc handles transactions that do not commit.
  Function next_of_task();
  Function next_to_restore();
  Function next_of_rest();
  void not_begun(const format::Op& op, uint32_t code);
  void begin_again(const format::Op& op);
  void not_committed(const format::Op& op, uint32_t code);
  void aborted_by_program(uint32_t code);
  void end_outside(Flow flow);
  void start_abort(AfterAbort then);
  void attempt_aborted(uint32_t code);
  void retry();
  void fail_transaction();
  void give_up(format::AttemptEnd end);
  void end_attempt(format::AttemptEnd end);
  void restore(bool retries);
  void restored();
  bool is_budget_spent(uint32_t attempts, uint64_t start_ticks);
  // Saves a slot, a variable for a handle, before the open transaction opens or closes it for the
  // first time.
  void save_slot(uint8_t number) {
    const auto bit = static_cast<uint16_t>(1u << number);
    if (!open_ || (saved_.changed_slots & bit) != 0) return;
    saved_.slots[number] = slots_[number];
    saved_.changed_slots |= bit;
  }
  // Discards the old handle of a slot, before an index is opened there.
  void open_slot(uint8_t slot, uint32_t index) {
    slots_[slot] = Slot{.handle = nullptr,
                        .index = index,
                        .opening = ++openings_,
                        .type = static_cast<KeyType>(pools_->indexes[index].type),
                        .open = false};
  }
};

}  // namespace keydrome::player
