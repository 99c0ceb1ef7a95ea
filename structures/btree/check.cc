// Verifies every invariant of the tree; costs a full walk.
#include "structures/btree/tree.h"

namespace keydrome::btree {

namespace {

// What `check` returns; 0 is reserved for a sound tree.
enum Broken : int {
  kHeight = 1,  // leaves at different depths, or too many levels
  kFill,        // a node too full or too empty
  kHead,        // a head that is not its entry's
  kOrder,       // slots not strictly ascending
  kBounds,      // a slot outside the range that the separators above give the node
  kList,        // the linked list is not the leaves in order
  kPairCount,   // the counter is not the number of entries
};

}  // namespace

struct Tree::Checker {
  uint64_t height;
  const Leaf* last_leaf = nullptr;
  uint64_t pairs = 0;

  // `low` <= all slots of the subtree < `high`; nullptr stands for no bound.
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
