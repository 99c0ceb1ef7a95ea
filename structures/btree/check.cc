// Implements Tree::check(), which tests call. It checks every invariant of the B+-tree in one walk
// over all nodes. A slot of a node contains a pointer to an entry and the entry's head: the first
// eight key bytes as a number.
#include "structures/btree/tree.h"

namespace keydrome::btree {

namespace {

// Return values of check(): the first broken invariant. 0 means that all invariants hold.
enum Broken : int {
  kHeight = 1,  // leaves have different depths, or the tree has too many levels
  kFill,        // a node is too full or too empty
  kHead,        // a head differs from the first eight key bytes of its entry
  kOrder,       // the slots of a node are not strictly ascending
  kBounds,      // a slot is outside the range that separators of inner nodes define
  kList,        // the linked list does not contain the leaves in order
  kPairCount,   // pairs_ differs from the number of entries
};

}  // namespace

struct Tree::Checker {
  uint64_t height;
  const Leaf* last_leaf = nullptr;
  uint64_t pairs = 0;

  // Checks a subtree. All its slots must be >= `low` and < `high`, where nullptr means no bound.
  int check(const Node* node, uint64_t depth, const Entry* low, const Entry* high) {
    if (depth > height || depth > kHeightMax || node->is_leaf != (depth == height)) return kHeight;
    const bool is_root = depth == 1;
    const uint32_t fill_min = !is_root ? kFillMin : node->is_leaf ? 0 : 1;
    if (node->count > kSlots || node->count < fill_min) return kFill;
    return node->is_leaf ? check_leaf(as_leaf(node), low, high)
                         : check_inner(as_inner(node), depth, low, high);
  }

  static int check_slots(const uint64_t* heads, Entry* const* entries, uint32_t count,
                         const Entry* low, const Entry* high) {
    for (uint32_t i = 0; i < count; ++i) {
      const Entry& entry = *entries[i];
      if (heads[i] != head_of(entry.key(), entry.key_size)) return kHead;
      if (i > 0 && compare(*entries[i - 1], entry) >= 0) return kOrder;
      if (low != nullptr && compare(*low, entry) > 0) return kBounds;
      if (high != nullptr && compare(entry, *high) >= 0) return kBounds;
    }
    return 0;
  }

  int check_leaf(const Leaf* leaf, const Entry* low, const Entry* high) {
    if (leaf->previous != last_leaf) return kList;
    if (last_leaf != nullptr && last_leaf->next != leaf) return kList;
    last_leaf = leaf;
    pairs += leaf->count;
    return check_slots(leaf->heads, leaf->entries, leaf->count, low, high);
  }

  int check_inner(const Inner* inner, uint64_t depth, const Entry* low, const Entry* high) {
    const int broken = check_slots(inner->heads, inner->separators, inner->count, low, high);
    if (broken != 0) return broken;
    for (uint32_t i = 0; i <= inner->count; ++i) {
      const Entry* from = i == 0 ? low : inner->separators[i - 1];
      const Entry* to = i == inner->count ? high : inner->separators[i];
      const int below = check(inner->children[i], depth + 1, from, to);
      if (below != 0) return below;
    }
    return 0;
  }
};

int Tree::check() const {
  Checker checker{height()};
  const int broken = checker.check(root_, 1, nullptr, nullptr);
  if (broken != 0) return broken;
  if (checker.last_leaf->next != nullptr) return kList;
  return checker.pairs == pairs_ ? 0 : kPairCount;
}

}  // namespace keydrome::btree
