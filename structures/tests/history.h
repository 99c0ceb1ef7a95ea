// Decides whether the recorded calls of several threads on one key are linearizable: whether each
// call could have taken effect at one moment between its begin and its end (M. Herlihy, J. Wing,
// "Linearizability: A Correctness Condition for Concurrent Objects", 1990). Linearizability is
// local, so each key can be judged on its own (section 3.3 there).
#pragma once

#include <cstdint>
#include <vector>

namespace keydrome {

// A call on one key. Payloads are numbers from 0 to kPayloadsMost - 1, in the order of their bytes.
struct Call {
  static constexpr uint32_t kPayloadsMost = 3;
  static constexpr int kNone = -1;

  enum class Kind : uint8_t { kPut, kDel, kReplace, kFind };

  Kind kind;
  int payload;     // kFind: the bound `after`, or kNone; kReplace: `before`
  int now;         // only for kReplace: the new payload
  int result;      // kFind: the payload or kNone; others: as in keydrome/structure.h; errors: < 0
  uint64_t begin;  // no two begins or ends are equal
  uint64_t end;
};

// For each thread, its calls in the order in which the thread made them.
using History = std::vector<std::vector<Call>>;

// Returns true if the calls are linearizable. The key must have no payload before the first call.
bool is_linearizable(const History& history);

}  // namespace keydrome
