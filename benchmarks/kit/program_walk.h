// Walking a thread's program in the order of its execution, with the number of the transaction that
// each op is in.
//
// The numbering is the one of outcome.h: a transaction for each kBegin and for each kAutoCommit op,
// repeated bodies counted as often as they run. Retries are no part of it.
#pragma once

#include <cstdint>
#include <span>

#include "base/check.h"
#include "benchmarks/kit/program.h"

namespace keydrome {

inline constexpr uint64_t kNoTransaction = UINT64_MAX;

// One execution of one op.
struct Step {
  uint64_t op = 0;                        // ordinal in the program
  uint32_t round = 0;                     // of the kRepeat body that it is in, from 0
  uint64_t transaction = kNoTransaction;  // its number
  Kind kind = Kind::kStream;
};

// Calls visit(const Step&) for each op, kRepeat itself excepted. The program must be well formed
// (ScriptBuilder).
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
    visit(static_cast<const Step&>(step));
    if (op.code == OpCode::kCommit || op.code == OpCode::kAbort) open_transaction = kNoTransaction;
  }
}

// How many transactions the program runs.
inline uint64_t count_transactions(std::span<const Op> ops) {
  uint64_t count = 0;
  walk_program(ops, [&](const Step& step) {
    const Op& op = ops[step.op];
    if (op.code == OpCode::kBegin || (op.flags & kAutoCommit) != 0) ++count;
  });
  return count;
}

}  // namespace keydrome
