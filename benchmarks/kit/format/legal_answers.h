// Defines which result codes contract A (the index API) allows for each op, in addition to SUCCESS
// and DEADLOCK. An op is one operation of a program (program.h).
//
// The player, the process that calls the library, uses these rules to count violations while a
// program runs. The judge uses them too. Whether an ENTRY_EXISTS is legal is known only to the
// referee, the process in which the judge runs (is_unexpected_entry()).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/program.h"
#include "keydrome/index.h"

namespace keydrome::format {

// The player calls abortTransaction at most this many times for one abort while the call returns
// DEADLOCK.
inline constexpr uint32_t kAbortsMax = 100;

// How often the player retries a transaction or auto-commit call after DEADLOCK
// (player/retry_budget.h). Findings of the judge contain these numbers, so they are defined here.
// Normally each transaction has at least kAttemptsMax attempts. After kLossesMax transactions have
// used up all their attempts, each later transaction fails when it has received DEADLOCK
// kAttemptsAfterwards times in a row.
inline constexpr uint32_t kAttemptsMax = 10'000;
inline constexpr uint32_t kLossesMax = 3;
inline constexpr uint32_t kAttemptsAfterwards = 10;

// Returns the bit of a code in the sets that allowed_codes() returns.
constexpr uint32_t code_bit(ErrCode code) { return 1u << static_cast<uint32_t>(code); }

// Returns the set of codes that the op may return in addition to SUCCESS and DEADLOCK.
constexpr uint32_t allowed_codes(OpCode op) {
  switch (op) {
    case OpCode::kGet:
    case OpCode::kDeleteKey:
      return code_bit(KEY_NOTFOUND);
    case OpCode::kNext:
    case OpCode::kNextToEnd:
      return code_bit(DB_END);
    case OpCode::kInsert:
      return code_bit(ENTRY_EXISTS);
    case OpCode::kDeletePair:
    case OpCode::kDeleteRead:  // the transaction may have deleted the record itself
      return code_bit(ENTRY_DNE) | code_bit(KEY_NOTFOUND);
    default:
      return 0;
  }
}

// Returns true if the op may return `code`. REQUIRES: `code` is neither SUCCESS nor DEADLOCK.
constexpr bool is_legal_answer(const Op& op, uint32_t code) {
  if (code > FAILURE) return false;
  if ((op.flags & kAnyCode) != 0) return true;
  return (allowed_codes(op.code) >> code & 1u) != 0;
}

// Returns true for an ENTRY_EXISTS that the contract does not allow. Every payload of the workload
// is unique, so the pair of an insert cannot be stored already. Only two kinds of ops insert a pair
// a second time on purpose: ops with kMayExist, and ops of the extra transactions that check the
// library. `is_stream` is false for ops of these extra transactions. After any ENTRY_EXISTS, the
// player continues the transaction.
constexpr bool is_unexpected_entry(const Op& op, bool is_stream, uint32_t code) {
  return op.code == OpCode::kInsert && code == ENTRY_EXISTS && is_stream &&
         (op.flags & (kMayExist | kAnyCode)) == 0;
}

// Returns true if a call of a procedure (procedure.h) may return `code`. REQUIRES: `code` is not
// DEADLOCK.
constexpr bool is_legal_computed(history::EventCall call, uint32_t code) {
  switch (call) {
    case history::EventCall::kGet:
    case history::EventCall::kDeleteKey:
      return code == SUCCESS || code == KEY_NOTFOUND;
    case history::EventCall::kNext:
      return code == SUCCESS || code == DB_END;
    default:
      return code == SUCCESS;
  }
}

}  // namespace keydrome::format
