// Walks through a thread's program (its list of operations, program.h) in execution order and
// reports the transaction that each op belongs to. The judge and the script builder use it to
// match a program with its results.
//
// Transactions are numbered from 0 in execution order: one number for each kBegin and one for each
// kAutoCommit op. The ops that a kRepeat repeats count once for each repetition. Retries are not
// counted.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "benchmarks/kit/format/control_word.h"
#include "benchmarks/kit/format/program.h"

namespace keydrome::format {

inline constexpr uint64_t kNoTransaction = UINT64_MAX;

// One execution of one op.
struct Step {
  uint64_t op = 0;                        // number of the op in the program
  uint32_t round = 0;                     // repetition of the enclosing kRepeat body, from 0
  uint64_t transaction = kNoTransaction;  // number of the op's transaction
  Kind kind = Kind::kStream;
};

// Calls visit(const Step&) for each execution of each op. Skips kRepeat ops themselves. `visit` may
// itself handle some of the following ops and return their number; these ops are then skipped. They
// must be gets and writes of the same transaction. REQUIRES: the program is well formed, as
// ScriptBuilder writes it.
template <typename Visitor>
void walk_program(std::span<const Op> ops, Visitor&& visit) {
  uint64_t next_transaction = 0, open_transaction = kNoTransaction;
  uint32_t round = 0;
  Kind open_kind = Kind::kStream;
  for (uint64_t at = 0; at < ops.size(); ++at) {
    const Op& op = ops[at];
    if (op.code == OpCode::kRepeat) {
      KEYDROME_CHECK(op.payload <= at && op.payload > 0);
      if (round < op.argument) {
        ++round;
        at -= op.payload + uint64_t{1};
      } else {
        round = 0;
      }
      continue;
    }
    Step step{.op = at, .round = round, .transaction = open_transaction, .kind = open_kind};
    if (op.code == OpCode::kBegin) {
      open_transaction = next_transaction++;
      open_kind = static_cast<Kind>(op.kind);
      step.transaction = open_transaction;
      step.kind = open_kind;
    } else if ((op.flags & kAutoCommit) != 0) {
      step.transaction = next_transaction++;
      step.kind = static_cast<Kind>(op.kind);
    }
    if constexpr (std::is_void_v<decltype(visit(static_cast<const Step&>(step)))>) {
      visit(static_cast<const Step&>(step));
    } else {
      at += visit(static_cast<const Step&>(step));
    }
    if (op.code == OpCode::kCommit || op.code == OpCode::kAbort) open_transaction = kNoTransaction;
  }
}

// Returns the largest number of words that one execution of the op leaves in the final attempt of
// its transaction. A word is 8 bytes in which the player, which calls the library, reports a call
// (control_word.h). `procedures` are those of the script.
inline uint64_t words_of(const Op& op, std::span<const ProcedureEntry> procedures) {
  switch (op.code) {
    case OpCode::kNext:
      return op.argument;
    case OpCode::kNextToEnd:
      return op.argument + uint64_t{1};
    case OpCode::kAbort:
    case OpCode::kCreate:
    case OpCode::kDeleteRead:
      return 2;
    case OpCode::kOpen:
    case OpCode::kClose:
      // Two words for each of three calls: the call, its reversal before a retry, the call again.
      return 6;
    case OpCode::kRun:
      // Three words for each call; two for the end and the result; one more if it rolls back.
      return uint64_t{3} * procedures[op.payload].calls + 3;
    case OpCode::kBegin:
    case OpCode::kCommit:
      return 1;
    default:
      return is_data_call(op.code) ? 1 : 0;
  }
}

// Returns the largest number of words that the program leaves without failed attempts. Every
// kTimedEvery-th auto-commit op leaves two more words, for its begin and end times.
inline uint64_t count_words(std::span<const Op> ops, std::span<const ProcedureEntry> procedures) {
  uint64_t count = 0, singles = 0;
  walk_program(ops, [&](const Step& step) {
    const Op& op = ops[step.op];
    count += words_of(op, procedures);
    if ((op.flags & kAutoCommit) != 0) ++singles;
  });
  return count + 2 * (singles / kTimedEvery + 1);
}

// Returns the number of transactions that the program runs.
inline uint64_t count_transactions(std::span<const Op> ops) {
  const auto starts = [](const Op& op) {
    return op.code == OpCode::kBegin || (op.flags & kAutoCommit) != 0;
  };
  uint64_t count = 0;
  bool repeats = false;
  for (const Op& op : ops) {
    count += starts(op) ? 1 : 0;
    repeats = repeats || op.code == OpCode::kRepeat;
  }
  if (!repeats) return count;
  count = 0;
  walk_program(ops, [&](const Step& step) { count += starts(ops[step.op]) ? 1 : 0; });
  return count;
}

}  // namespace keydrome::format
