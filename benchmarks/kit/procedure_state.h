// What a running procedure holds, and everything of it that calls no library (procedure.h).
//
// One for each session; lives in the jail. Never allocates. Untrusted is only what the library
// wrote into rows: a procedure that computes with it must not leave its bounds.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "benchmarks/kit/pools_view.h"
#include "benchmarks/kit/procedure.h"
#include "benchmarks/kit/program.h"
#include "benchmarks/kit/zeroed.h"

namespace keydrome {

inline constexpr uint32_t kTextBytesMax = MAX_PAYLOAD_LEN - kTagBytes;

class ProcedureState {
 public:
  void start(const PoolsView& pools, const Op& op) {
    pools_ = &pools;
    const ProcedureEntry& entry = pools.procedures[op.payload];
    code_ = pools.instructions.subspan(entry.first, entry.count);
    parameters_ = pools.parameters.subspan(op.key);
    next_tag_ = op.argument;
    at_ = 0;
    calls_ = 0;
    count_ = 0;
    result_ = 0;
    stopped_ = false;
  }

  // The next call of the library to make, or kEnd, kRollBack or kUnfit. `at_` stands behind it.
  const Instruction& next_call() {
    while (!stopped_) {
      const Instruction& instruction = code_[at_++];
      if (is_call(instruction.code)) {
        return calls_++ < kProcedureCallsMax ? instruction : kUnfitInstruction;
      }
      if (instruction.code >= InstructionCode::kEnd) return instruction;
      stopped_ = !compute(instruction);
    }
    return kUnfitInstruction;
  }

  void jump(int32_t to) { at_ = static_cast<uint32_t>(to); }
  // The transaction is unfit: next_call() says so.
  void stop() { stopped_ = true; }
  int64_t value(uint8_t number) const { return registers_[number]; }
  int64_t result() const { return result_; }
  uint32_t take_tag() { return next_tag_++; }

  std::string_view text(uint8_t row) const { return {rows_[row].text, rows_[row].size}; }
  // The text of a payload that the library gave: what is behind its tag.
  void set_row(uint8_t row, std::string_view payload);

  void clear_list() { count_ = 0; }
  // False when the payload has no such number or the list is full.
  bool append(std::string_view payload, Field field);
  uint32_t count() const { return count_; }

 private:
  // copy_text() reads kReadAhead bytes from the beginning of a text.
  struct Row {
    uint32_t size;
    char text[kReadAhead];
  };

  static constexpr Instruction kUnfitInstruction{.code = InstructionCode::kUnfit};

  bool compute(const Instruction& instruction);
  bool arithmetic(const Instruction& instruction);
  bool copy(const Instruction& instruction);
  bool store(const Instruction& instruction);
  void sort();

  const PoolsView* pools_ = nullptr;
  std::span<const Instruction> code_;
  std::span<const int64_t> parameters_;
  uint32_t at_ = 0;
  uint32_t calls_ = 0;
  uint32_t next_tag_ = 0;
  uint32_t count_ = 0;
  int64_t result_ = 0;
  bool stopped_ = false;
  std::array<int64_t, kRegisters> registers_{};
  std::array<Row, kRows> rows_{};
  std::array<int64_t, kListMax> list_{};
};

}  // namespace keydrome
