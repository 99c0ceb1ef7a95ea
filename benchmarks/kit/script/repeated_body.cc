// Implements the check of repeated bodies of ThreadBuilder.
#include <array>
#include <cstddef>
#include <span>

#include "base/check.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::script {

// A pass of a body must end in the state in which it began, because the judges follow a program from
// its begin and do not know the pass: the same transaction is open, if any, and the same handles are.
void ThreadBuilder::check_body(uint64_t first) const {
  KEYDROME_CHECK(first < ops_->size());
  bool begun = false;
  std::array<bool, format::kSlots> opened{};
  for (const format::Op& op : std::span(*ops_).subspan(first)) {
    if (op.code == format::OpCode::kBegin) begun = true;
    if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort)
      KEYDROME_CHECK(begun);
    if (op.code == format::OpCode::kOpen) opened[op.slot] = true;
    if (op.code == format::OpCode::kClose) KEYDROME_CHECK(opened[op.slot]);
  }
  for (std::size_t slot = 0; slot < opened.size(); ++slot)
    KEYDROME_CHECK(!opened[slot] || state_->slots[slot] == 0);
  KEYDROME_CHECK(!in_transaction() || first > state_->begin_at);
}

}  // namespace keydrome::script
