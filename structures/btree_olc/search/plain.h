// SearchPlain: the search among the heads of a node, for any processor. A head is eight bytes of a
// pair as a number, and eight heads are a group (node.h). Another thread may change the leaf
// meanwhile. The result is then meaningless, but not larger than kSlots.
#pragma once

#include <cstdint>

#include "structures/btree_olc/node.h"

namespace keydrome::btree_olc {

struct SearchPlain {
  static constexpr const char* kDescription =
      "B+-tree with optimistic lock coupling; searches nodes without vector instructions";

  // Returns the number of the group in which a search for `head` ends. It is equal to the count
  // of groups after group 0 whose first head is < `head`, or <= `head` if `or_equal`. No branch
  // depends on the heads.
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t group_of(const Node& node, uint64_t head) {
    uint32_t group = 0;
    for (uint32_t i = 0; i < kGroups - 1; ++i) group += is_below<or_equal>(node.summary[i], head);
    return group;
  }
  // Returns the number of heads of the group that are < `head`, or <= `head` if `or_equal`.
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t below_in(const Node& node, uint32_t group, uint64_t head) {
    uint32_t below = 0;
    for (uint32_t i = 0; i < 8; ++i) below += is_below<or_equal>(node.heads[8 * group + i], head);
    return below;
  }

 private:
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t is_below(const uint64_t& other, uint64_t head) {
    return static_cast<uint32_t>(or_equal ? load(other) <= head : load(other) < head);
  }
};

}  // namespace keydrome::btree_olc
