// Computes where a thread is in its program, and what its open transaction has touched. The
// referee, the trusted process that runs the benchmark, uses this to describe a thread that hangs.
//
// A program is the list of operations that the referee generated for one thread. Only the number of
// the current operation comes from the player, the jailed process that runs the library. The
// library could forge this number, so program_position() accepts every value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/script/script.h"

namespace keydrome {

// The records that one call for data (a get, an insert, a delete or a scan) refers to.
struct Touch {
  uint64_t op = 0;  // number of the operation in the program
  uint32_t index = 0;
  std::string key = {};  // as text; empty: any record that a scan can reach
  bool writes = false;
};

struct ProgramPosition {
  uint64_t op = 0;
  bool finished = false;               // the thread has played its last operation
  bool rolling_back = false;           // in abortTransaction, because of the result of `op`
  bool awaits_piece = false;           // waits for the part of its program that begins with `op`
  bool in_call = false;                // `op` calls the library; false: the thread waits for others
  std::optional<uint64_t> begin = {};  // number of the kBegin of the open transaction
  std::vector<Touch> touched = {};     // records of the open transaction's calls before `op`
  std::optional<Touch> wants = {};     // records that the call of `op` requests
  std::string call = {};               // the call as text, such as insertRecord("A", 2)
};

// Returns the position for `reached`: the number of an operation, with the bits kAwaitsPiece and
// kRollingBack of ThreadOutcome::position (benchmarks/kit/format/outcome.h).
ProgramPosition program_position(const script::Script& script, const std::vector<format::Op>& ops,
                                 uint64_t reached);

// Returns true if a call that requests `wants` may have to wait for a transaction that has touched
// `touched`. At least one of the two must be a write. With `exactly`, both must name the same key.
// Without `exactly`, the same index is enough, because the library may lock a key range or the
// whole index.
bool may_block(const Touch& wants, const Touch& touched, bool exactly);

// Returns text such as "key 7 of \"A\"" or, for a scan, "records of \"A\"".
std::string touch_text(const script::Script& script, const Touch& touch);

}  // namespace keydrome
