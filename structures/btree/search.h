// Searches the B+-tree: inside one node, and from the root to the leaf that contains a pair.
#pragma once

#include <cstdint>

#include "structures/btree/node.h"

namespace keydrome::btree {

// Returns the number of heads that are smaller than `head`. With `or_equal`, heads equal to `head`
// count too. A head is the first eight key bytes of an entry as a number (entry.h). The binary
// search has no branches that depend on data, and reads at most eight cache lines.
template <bool or_equal>
uint32_t head_rank(const uint64_t* heads, uint32_t count, uint64_t head) {
  const uint64_t* base = heads;
  uint32_t length = count;
  while (length > 1) {
    const uint32_t half = length / 2;
    const uint64_t middle = base[half - 1];
    base += (or_equal ? middle <= head : middle < head) ? half : 0;
    length -= half;
  }
  const auto before = static_cast<uint32_t>(base - heads);
  if (length == 0) return before;
  return before + static_cast<uint32_t>(or_equal ? *base <= head : *base < head);
}

// Returns the number of entries of a node that are smaller than the probe. With `or_equal`, an
// entry equal to the probe counts too.
template <bool or_equal>
uint32_t rank(const uint64_t* heads, Entry* const* entries, uint32_t count, const Probe& probe) {
  uint32_t low = head_rank<false>(heads, count, probe.head);
  if (low == count || heads[low] != probe.head) return low;
  uint32_t high = low + head_rank<true>(heads + low, count - low, probe.head);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order = compare_tied(*entries[middle], probe);
    if (order < 0 || (or_equal && order == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Returns the index of the child whose range contains the probe. This child is to the right of all
// separators that are smaller than the probe or equal to it.
inline uint32_t child_rank(const Inner& node, const Probe& probe) {
  return rank<true>(node.heads, node.separators, node.count, probe);
}

// The inner nodes on the path from the root to a leaf. In each step, `child` is the index of the
// child that is next on the path.
struct Path {
  struct Step {
    Inner* node;
    uint32_t child;
  };
  Step steps[kHeightMax];
  uint32_t length = 0;
};

// Returns the leaf whose range contains the probe. The second overload also stores the path to it.
inline const Leaf* find_leaf(const Node* node, const Probe& probe) {
  while (!node->is_leaf) node = as_inner(node)->children[child_rank(*as_inner(node), probe)];
  return as_leaf(node);
}

inline Leaf* find_leaf(Node* node, const Probe& probe, Path& path) {
  while (!node->is_leaf) {
    Inner* inner = as_inner(node);
    const uint32_t child = child_rank(*inner, probe);
    path.steps[path.length++] = {inner, child};
    node = inner->children[child];
  }
  return as_leaf(node);
}

}  // namespace keydrome::btree
