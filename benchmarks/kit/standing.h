// Where a thread stands in its program, and what its open transaction has touched: what can be said
// of a session that did not go on.
//
// The program is the referee's own; only the ordinal of the op is the player's word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/workload.h"

namespace keydrome {

// A call on data, by what it names.
struct Touch {
  uint64_t op = 0;  // ordinal in the program
  uint32_t index = 0;
  std::string key = {};  // as text; empty: whatever a scan comes to
  bool writes = false;
};

struct Standing {
  uint64_t op = 0;
  bool finished = false;               // behind the last op
  bool taking_back = false;            // in abortTransaction after an answer to `op`
  bool in_call = false;                // `op` calls the library; others wait for threads
  std::optional<uint64_t> begin = {};  // kBegin of the open transaction
  std::vector<Touch> touched = {};     // what calls of that transaction before `op` have named
  std::optional<Touch> wants = {};     // what the call of `op` names
  std::string call = {};               // the call as text
};

// `progress` is a ThreadOutcome::progress_op, whatever its value.
Standing standing_of(const Script& script, const std::vector<Op>& ops, uint64_t progress);

// Whether the one may have to wait for a transaction that has done the other. Exactly: both name
// the same key. Otherwise the same index is enough: a gap or a whole index may be locked.
bool in_the_way(const Touch& wants, const Touch& touched, bool exactly);

// "key 7 of \"A\"", "records of \"A\"".
std::string touch_text(const Script& script, const Touch& touch);

}  // namespace keydrome
