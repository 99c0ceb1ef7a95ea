// Procedures: what a transaction does when its later keys and payloads depend on what it read.
//
// A procedure is a short list of instructions over registers, rows (payload texts) and one list of
// numbers, as a stored procedure of a database would be. The op kRun plays one with parameters that
// the referee drew, between a kBegin and its kCommit or kAbort. The player still knows no workload,
// and what the program cannot know beforehand the judge takes from the final scan.
//
// A record that must be there and is not, or a field without a number, makes the transaction
// *unfit*: the procedure ends at once. A library may show such things to a transaction that it
// will refuse to commit (optimistic concurrency control does), so it is a fault only if the
// commit succeeds.
//
// A procedure may also roll back, when what it read forbids what it was to do: then the transaction
// is aborted in the place of its commit, and has ended as it should.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "benchmarks/kit/digits.h"

namespace keydrome {

inline constexpr uint32_t kRegisters = 32;
inline constexpr uint32_t kRows = 12;
inline constexpr uint32_t kListMax = 1024;
inline constexpr uint32_t kProcedureCallsMax = 1u << 16;  // of one execution; then it is unfit

enum class InstructionCode : uint8_t {
  // Calls of the library. The key is the number in register `a`; of a string index it is a number
  // in the pool of strings.
  kGet,        // row b <- get(slot c, a); not found: goes on at n, or is unfit with n == 0
  kGetByText,  // row b <- get(slot c, the text of row a as key); not found: likewise
  kScan,       // list <- field n of get(slot c, a) and the getNext calls behind it, up to the first
               // record with key >= register b; at most `limit` records (0: kListMax)
  kInsert,     // insertRecord(slot c, a, next tag + text of row b)
  kDelete,     // deleteRecord(slot c, a, empty payload), which must find the key
  // Values.
  kParameter,  // a <- next parameter
  kSet,        // a <- n
  kAdd,        // a <- b + c
  kSubtract,   // a <- b - c
  kMultiply,   // a <- b * c
  kDivide,     // a <- b / n, n > 0
  kShift,      // a <- b << n
  kText,       // text of row a <- text number b of the payload pool
  kCopy,       // text of row a at n <- `width` characters of row b from place (register c) on
  kLoad,       // a <- field n of row b
  kStore,      // field n of row b <- a
  kCount,      // a <- size of the list
  kElement,    // a <- element number (register b) of the list, from 0
  kSort,       // sorts the list and drops what stands twice
  // Control.
  kJump,       // goes on at n
  kJumpLess,   // goes on at n if a < b
  kJumpEqual,  // goes on at n if a == b
  kResult,     // the result, which is the op's evidence, <- a
  kUnfit,
  kEnd,
  kRollBack,  // ends the procedure; the transaction is aborted where its commit stands
};

// 12 bytes. `n` is a constant or the number of an instruction in the procedure; `field` and `limit`
// stand for what the codes above say.
struct Instruction {
  InstructionCode code = InstructionCode::kEnd;
  uint8_t a = 0, b = 0, c = 0;
  int32_t n = 0;
  Field field = {};
  uint8_t limit = 0;
};
static_assert(sizeof(Instruction) == 12);

constexpr bool is_call(InstructionCode code) { return code <= InstructionCode::kDelete; }
constexpr bool is_write(InstructionCode code) {
  return code == InstructionCode::kInsert || code == InstructionCode::kDelete;
}
constexpr bool is_jump(InstructionCode code) {
  return code >= InstructionCode::kJump && code <= InstructionCode::kJumpEqual;
}

// Where a procedure stands in the pool of instructions.
struct ProcedureEntry {
  uint32_t first = 0, count = 0;
  uint32_t parameters = 0;  // how many it takes at most
  uint32_t tags = 0;        // how many records it inserts at most
  uint32_t calls = 0;       // how many calls it makes at most: room in the log of a recorded run
  uint32_t rolls_back = 0;  // 1: it has a kRollBack
};

}  // namespace keydrome
