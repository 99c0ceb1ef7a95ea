// SearchPlain: the search among the heads of a node (node.h), for any processor. The leaf may
// change meanwhile; the result is then some number up to kSlots.
#pragma once

#include <cstdint>

#include "structures/btree_olc/node.h"

namespace keydrome::btree_olc {

struct SearchPlain {
  static constexpr const char* kDescription =
      "B+-tree with optimistic lock coupling; searches nodes without vector instructions";

  // Returns the number of heads that are < `head`, or <= `head` if `or_equal`. No branch depends on
  // the heads.
  template <bool or_equal>
  __attribute__((always_inline)) static uint32_t heads_below(const Node& node, uint64_t head) {
    uint32_t group = 0;
    for (uint32_t i = 0; i < kGroups - 1; ++i) group += is_below<or_equal>(node.summary[i], head);
    uint32_t below = 8 * group;
    const uint64_t* heads = node.heads + below;
    for (uint32_t i = 0; i < 8; ++i) below += is_below<or_equal>(heads[i], head);
    return below;
  }

 private:
  template <bool or_equal>
  __attribute__((always_inline)) static uint32_t is_below(const uint64_t& other, uint64_t head) {
    return static_cast<uint32_t>(or_equal ? load(other) <= head : load(other) < head);
  }
};

}  // namespace keydrome::btree_olc
