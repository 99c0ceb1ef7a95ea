// ProcedureState: the variables of a running procedure, a transaction that computes its keys and
// payloads from earlier reads (format/procedure.h). The variables are registers (numbers), rows
// (payload texts) and one list of numbers. ProcedureState executes every instruction that makes no
// call to the library. The interpreter executes the others.
//
// The instructions come from the referee, the process that generates the operations, and are
// trusted. The contents of rows come from the library and are not trusted. So every access whose
// position depends on a row is checked to be within bounds.
//
// Never allocates. Not thread-safe; each interpreter has its own object.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "benchmarks/kit/format/procedure.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/player/arguments.h"
#include "benchmarks/kit/player/pools_view.h"

namespace keydrome::player {

inline constexpr uint32_t kTextBytesMax = MAX_PAYLOAD_LEN - format::kTagBytes;

class ProcedureState {
 public:
  // Prepares the execution of the procedure that a kRun op names.
  void start(const PoolsView& pools, const format::Op& op) {
    pools_ = &pools;
    const format::ProcedureEntry& entry = pools.procedures[op.payload];
    code_ = pools.instructions.subspan(entry.first, entry.count);
    first_parameter_ = op.key;
    next_parameter_ = op.key;
    next_tag_ = op.argument;
    at_ = 0;
    calls_ = 0;
    count_ = 0;
    result_ = 0;
    stopped_ = false;
  }

  // Executes instructions up to the next one that calls the library, and returns this instruction.
  // Returns kEnd, kRollBack or kUnfit if the procedure ends without another call.
  const format::Instruction& next_call() {
    while (!stopped_) {
      const format::Instruction& instruction = code_[at_++];
      if (format::is_call(instruction.code)) {
        return calls_++ < format::kProcedureCallsMax ? instruction : kUnfitInstruction;
      }
      if (instruction.code >= format::InstructionCode::kEnd) return instruction;
      stopped_ = !compute(instruction);
    }
    return kUnfitInstruction;
  }

  void jump(int32_t to) { at_ = static_cast<uint32_t>(to); }
  // Makes the transaction unfit, so that it must not commit (format/procedure.h). Each later
  // next_call() returns kUnfit.
  void stop() { stopped_ = true; }
  int64_t value(uint8_t number) const { return registers_[number]; }
  int64_t result() const { return result_; }
  // Returns the string key with this number. If the number is a parameter that this execution has
  // read, the key comes from the piece, the part of the program that the thread executes now.
  // Otherwise it comes from the session's image, the data that all phases share. Returns nothing
  // if neither contains the key.
  std::optional<std::string_view> string_key(int64_t number) const;
  uint32_t take_tag() { return next_tag_++; }
  uint32_t last_tag() const { return next_tag_ - 1; }

  std::string_view text(uint8_t row) const { return {rows_[row].text, rows_[row].size}; }
  // Stores the text of a payload that the library returned, without the tag (its first 8 letters),
  // in the row.
  void set_row(uint8_t row, std::string_view payload);

  void clear_list() { count_ = 0; }
  // Appends the number in the payload's field to the list. Returns false if the field contains no
  // number or if the list is full.
  bool append(std::string_view payload, format::Field field);
  uint32_t count() const { return count_; }

 private:
  // A payload text. The array has kReadAhead bytes, because copy_text() reads that many.
  struct Row {
    uint32_t size;
    char text[format::kReadAhead];
  };

  static constexpr format::Instruction kUnfitInstruction{.code = format::InstructionCode::kUnfit};

  // These functions execute one instruction. They return false if the transaction becomes unfit.
  bool compute(const format::Instruction& instruction);
  bool arithmetic(const format::Instruction& instruction);
  bool copy(const format::Instruction& instruction);
  bool store(const format::Instruction& instruction);
  // Sorts the list and removes duplicates.
  void sort();

  const PoolsView* pools_ = nullptr;
  std::span<const format::Instruction> code_;
  uint32_t first_parameter_ = 0, next_parameter_ = 0;  // numbers in the piece's pool
  uint32_t at_ = 0;
  uint32_t calls_ = 0;
  uint32_t next_tag_ = 0;
  uint32_t count_ = 0;
  int64_t result_ = 0;
  bool stopped_ = false;
  std::array<int64_t, format::kRegisters> registers_{};
  std::array<Row, format::kRows> rows_{};
  std::array<int64_t, format::kListMax> list_{};
};

}  // namespace keydrome::player
