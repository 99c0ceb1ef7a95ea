// Which answers the contract allows to an op of a program, beside SUCCESS and DEADLOCK.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "benchmarks/kit/program.h"
#include "keydrome/index.h"

namespace keydrome {

// How often an abort that is answered DEADLOCK is asked again.
inline constexpr uint32_t kAbortsMax = 100;

constexpr uint32_t code_bit(ErrCode code) { return 1u << static_cast<uint32_t>(code); }

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

constexpr bool is_legal_answer(const Op& op, bool is_stream, uint32_t code) {
  if (code > FAILURE) return false;
  if ((op.flags & kAnyCode) != 0) return true;
  // A payload of a stream is new, so it cannot be there already, unless the program says otherwise.
  if (code == ENTRY_EXISTS && is_stream && (op.flags & kMayExist) == 0) return false;
  return (allowed_codes(op.code) >> code & 1u) != 0;
}

// Of a call that a procedure makes, beside SUCCESS and DEADLOCK.
constexpr bool is_legal_computed(EventCall call, uint32_t code) {
  switch (call) {
    case EventCall::kGet:
    case EventCall::kDeleteKey:
      return code == SUCCESS || code == KEY_NOTFOUND;
    case EventCall::kNext:
      return code == SUCCESS || code == DB_END;
    default:
      return code == SUCCESS;
  }
}

}  // namespace keydrome
