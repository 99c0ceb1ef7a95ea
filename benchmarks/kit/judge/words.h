// Assigns the words of a thread to the ops that left them. A word is the 8 bytes in which the
// player, the process that calls the library, reports the result of a call
// (format/evidence_word.h). An op is one operation of the thread's program, and makes one call or
// several.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/script/outcome_reader.h"

namespace keydrome::judge {

// `rest` begins with the words of one execution of the op. Returns how many words these are. The op
// kNextToEnd calls getNext until a call returns no record, so its last word is the first word whose
// code is not SUCCESS.
inline uint64_t words_left(const format::Op& op, std::span<const uint64_t> rest) {
  const uint64_t most = format::words_of(op, {});
  if (op.code != format::OpCode::kNextToEnd) return most;
  uint64_t records = 0;
  while (records + 1 < most && records < rest.size() &&
         format::code_of_word(rest[records]) == SUCCESS) {
    ++records;
  }
  return records + 1;
}

// Calls visit(const Step&, std::span<const uint64_t> words, std::span<const uint64_t> rest) for
// each execution of an op that reads or writes records, in program order. `words` are the words of
// this execution, and `rest` are the words of the following ops. Transactions that did not end as
// programmed are skipped, because the reader of the outcome has removed their words.
//
// `visit` returns the number of following ops that it has judged itself; they are then skipped.
// These ops must be gets and writes of the same transaction, with one word each.
//
// Returns false if the words do not fit the program. The words come from the player's process, so
// the library may have changed them.
template <typename Visit>
bool for_each_words(std::span<const format::Op> ops, const script::ThreadResult& result,
                    Visit&& visit) {
  std::span<const uint64_t> rest = result.words;
  bool fits = true, kept = true, open = false;
  format::walk_program(ops, [&](const format::Step& step) -> uint64_t {
    const format::Op& op = ops[step.op];
    if (op.code == format::OpCode::kBegin) {
      kept = ended_as_programmed(result, step.transaction);
      open = true;
    } else if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort) {
      open = false;
    }
    if (!fits || !format::is_on_records(op.code) || (open && !kept)) return 0;
    const bool alone = (op.flags & format::kAutoCommit) != 0;
    if (alone && result.ends[step.transaction] != script::TransactionEnd::kCommitted) return 0;
    const uint64_t count = words_left(op, rest);
    fits = count <= rest.size();
    if (!fits) return 0;
    const std::span<const uint64_t> words = rest.first(count);
    rest = rest.subspan(count);
    const uint64_t more = visit(step, words, rest);
    rest = rest.subspan(more);
    return more;
  });
  return fits && rest.empty();
}

}  // namespace keydrome::judge
