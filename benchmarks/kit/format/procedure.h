// Defines procedures: transactions whose later keys and payloads depend on their earlier reads.
//
// A procedure is a short list of instructions, like a stored procedure of a database. Its variables
// are registers (numbers), rows (payload texts) and one list of numbers. The operation (op) kRun
// (program.h) executes a procedure between a kBegin and its kCommit or kAbort. The referee, the
// process that generates the operations, chooses the parameters. So the player, the process that
// executes the operations, needs no knowledge of the workload.
//
// The referee cannot predict which records a procedure writes. Therefore the judge derives the
// written records from the final scan, which reads all records at the end of the run.
//
// If a required record is missing, or if a field contains no number, the transaction becomes
// *unfit*. The procedure then ends at once. An unfit transaction alone is no violation, because a
// library with optimistic concurrency control can show an inconsistent state and then refuse the
// commit. Only a successful commit of an unfit transaction is a violation.
//
// A procedure may also roll back, for example if an account balance is too low. The transaction is
// then aborted instead of committed, and it counts as ended correctly.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/digits.h"

namespace keydrome::format {

inline constexpr uint32_t kRegisters = 32;  // numbers that a procedure can store
inline constexpr uint32_t kRows = 12;       // payload texts that a procedure can store
inline constexpr uint32_t kListMax = 1024;  // numbers in the list
// The largest number of calls in one execution of a procedure. One more call makes the transaction
// unfit.
inline constexpr uint32_t kProcedureCallsMax = 1u << 16;

// The instructions. In the comments, `a`, `b`, `c` and `n` are the fields of the Instruction, and
// `x <- y` assigns y to x. Where the comment of an instruction says nothing else, `a`, `b` and `c`
// are numbers of registers.
enum class InstructionCode : uint8_t {
  // Calls to the library on the index whose handle is in slot c, a variable of the thread. The key
  // is the number in register a. For an index with string keys, that number selects a string from
  // the pool, a list of keys. A tag is the unique number at the beginning of each payload.
  kGet,        // row b <- get(a); if not found: jumps to n, or becomes unfit if n == 0
  kGetByText,  // row b <- get(the text of row a as key); if not found: the same as kGet
  kScan,       // list <- `field` of each record that a scan returns: a get of key a, then getNext
               // calls until a key is not < b; at most `limit` records, or kListMax if limit == 0
  kInsert,     // insertRecord(a, next unused tag + text of row b)
  kDelete,     // deleteRecord(a, empty payload); becomes unfit if the key is not found
  // Computations.
  kParameter,  // a <- the next parameter of this execution
  kSet,        // a <- n
  kAdd,        // a <- b + c
  kSubtract,   // a <- b - c
  kMultiply,   // a <- b * c
  kDivide,     // a <- b / n, n > 0
  kShift,      // a <- b << n
  kText,       // row a <- the text of the payload pool whose number is in register b
  kCopy,       // replaces field.width characters of row a, from position field.at on, by as many
               // characters of row b, from the position in register c on
  kLoad,       // a <- the number in `field` of row b
  kStore,      // `field` of row b <- a
  kCount,      // a <- the length of the list
  kElement,    // a <- the element of the list whose number, counted from 0, is in register b
  kSort,       // sorts the list and removes duplicates
  // Control flow. n is the number of an instruction in the procedure.
  kJump,       // jump to n
  kJumpLess,   // jump to n if a < b
  kJumpEqual,  // jump to n if a == b
  kResult,     // result <- a; after the procedure, the player reports the result to the judge
  kUnfit,      // ends the procedure; the transaction becomes unfit
  kEnd,        // ends the procedure
  kRollBack,   // ends the procedure; the transaction is aborted instead of committed
};

// One instruction, 12 bytes. InstructionCode says what each field means.
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

// One procedure: where its instructions are in the list of the instructions of all procedures, and
// upper bounds for one execution.
struct ProcedureEntry {
  uint32_t first = 0, count = 0;  // number of its first instruction, and how many it has
  uint32_t parameters = 0;        // parameters that one execution reads
  uint32_t tags = 0;              // records that one execution inserts
  uint32_t calls = 0;       // calls to the library; if all calls are logged, sets the log's size
  uint32_t rolls_back = 0;  // 1: the procedure contains a kRollBack
};

}  // namespace keydrome::format
