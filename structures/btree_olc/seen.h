// Seen: the leaves that a lookup has read, with their versions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "structures/btree_olc/node.h"

namespace keydrome::btree_olc {

class Seen {
 public:
  static constexpr uint32_t kMost = 8;

  bool is_full() const { return count_ == kMost; }
  void add(const Node* leaf, uint64_t version) { all_[count_++] = {leaf, version}; }
  // Returns true if all leaves still have the versions that were read. Then the lookup has seen the
  // state of one moment: when it had read the last leaf, none of the others had changed.
  bool are_unchanged() const {
    return std::all_of(all_, all_ + count_,
                       [](const One& one) { return one.leaf->version.is_unchanged(one.version); });
  }

 private:
  struct One {
    const Node* leaf;
    uint64_t version;
  };

  One all_[kMost];
  uint32_t count_ = 0;
};

// Returns true if the next leaf may have pairs with this key, too. `high` is the upper fence of the
// leaf.
inline bool continues_after(const Fence& high, Span key) {
  return high.exists && equal_bytes(high.pair.key, key);
}

}  // namespace keydrome::btree_olc
