// Value: what a leaf stores for one key: a payload, or a pointer to a set of payloads (payloads.h).
// A key has a set if it has several payloads, or one payload for which the leaf has no place.
#pragma once

#include <cstdint>

#include "structures/btree/bytes.h"

namespace keydrome::btree {

// A pointer to a set of payloads. Its lowest bit is 1 if the set is a tree (payloads.h). The value
// 0 means that there is no set.
using PayloadSet = uint64_t;

struct Value {
  Span payload;  // if `set` is 0
  PayloadSet set = 0;
};

// A lower bound for the payloads of a key. If payload.data is nullptr, there is no bound.
struct PayloadBound {
  Span payload;
  bool after = false;  // excludes the payload itself

  bool excludes_payload() const { return after && payload.data != nullptr; }
  bool admits(Span candidate) const {
    if (payload.data == nullptr) return true;
    const int order = compare_bytes(candidate, payload);
    return order > 0 || (order == 0 && !after);
  }
};

}  // namespace keydrome::btree
