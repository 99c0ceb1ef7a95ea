// Implements check() and statistic() of Tree (tree.h). check() tests the invariants of the
// cache-conscious tree, and statistic() counts leaves and pairs.
#include "structures/csb/tree.h"

namespace keydrome::csb {
namespace {

// The numbers that check() returns: the first broken invariant, or kNone. A head is eight bytes of
// a key as a number (leaf.h). A slot of the directory is a fence, i.e. a lower bound of pairs, with
// its leaf (directory.h).
enum Broken {
  kNone,
  kLeafCount,       // a leaf has more pairs than it has room for
  kEmptyLeaf,       // a leaf other than the last one is empty
  kHead,            // a head in a leaf is wrong
  kKind,            // a leaf has word pairs (entry.h), although keys have other sizes
  kOrder,           // pairs are not ascending
  kPlace,           // the search for a pair leads to another leaf
  kFenceOrder,      // fences are not ascending
  kLeafOrder,       // the list of leaves and the slots do not agree
  kDirectoryBits,   // the bits of the directory do not agree with its pending list
  kDirectoryHeads,  // the heads of the directory are not those of the fences
};

// Checks one leaf. `before` is the previous leaf, which has pairs, or nullptr if there is none.
// `best` is the kind of a leaf without pairs (tree.h).
Broken check_leaf(const Directory& directory, const Leaf& leaf, const Leaf* before, Kind best) {
  if (leaf.count > Leaf::kCapacity) return kLeafCount;
  if (leaf.count == 0 && leaf.next() != nullptr) return kEmptyLeaf;
  if (leaf.kind == Kind::kWords && best != Kind::kWords) return kKind;
  if (!leaf.has_right_groups()) return kHead;
  const Leaf* left = before;  // the leaf of the pair before the current one
  for (uint32_t i = 0; i < leaf.count; ++i, left = &leaf) {
    const StoredPair pair(leaf.kind, leaf.entries[i]);
    if (leaf.entries[i].head != pair->head) return kHead;
    const uint32_t last = i == 0 && before != nullptr ? before->count - 1 : i - 1;
    if (left != nullptr && left->compare_at(last, *pair) >= 0) return kOrder;
    if (directory.locate(*pair).leaf != &leaf || directory.find(*pair) != &leaf) return kPlace;
  }
  return kNone;
}

// Visits the slots in order, and the list of leaves at the same time.
class SlotWalk {
 public:
  explicit SlotWalk(const Leaf* first) : leaf_(first) {}

  // Checks the next slot. Its fence must not be smaller than the previous fence. Its leaf must be
  // the leaf of the previous slot or the next leaf.
  Broken add(const Record* fence, const Leaf* leaf) {
    if (fence_ != nullptr && compare(*fence_, Probe::of(*fence)) > 0) return kFenceOrder;
    if (leaf != leaf_) leaf_ = leaf_->next();
    fence_ = fence;
    return leaf == leaf_ && leaf != nullptr ? kNone : kLeafOrder;
  }
  bool is_at_end() const { return leaf_->next() == nullptr; }

 private:
  const Leaf* leaf_;
  const Record* fence_ = nullptr;
};

Broken check_slots(const Directory& directory, const Leaf* first) {
  if (directory.leaf(0) != first) return kLeafOrder;
  SlotWalk walk(first);
  uint32_t item = 0;
  for (uint32_t slot = 0; slot < directory.slots(); ++slot) {
    Broken broken = walk.add(directory.fence(slot), directory.leaf(slot));
    while (broken == kNone && item < directory.pending_count() &&
           directory.pending_after(item) == slot) {
      broken = walk.add(directory.pending(item).fence, directory.pending(item).leaf);
      ++item;
    }
    if (broken != kNone) return broken;
  }
  if (item != directory.pending_count() || !walk.is_at_end()) return kLeafOrder;
  if (!directory.has_right_bits()) return kDirectoryBits;
  return directory.has_right_heads() ? kNone : kDirectoryHeads;
}

}  // namespace

int Tree::check() const {
  const Leaf* before = nullptr;
  uint32_t leaves = 0;
  for (const Leaf* leaf = first_; leaf != nullptr; leaf = leaf->next()) {
    const Broken broken = check_leaf(*directory_, *leaf, before, kind_);
    if (broken != kNone) return broken;
    if (leaf->next() == nullptr && leaf != last_) return kLeafOrder;
    before = leaf;
    ++leaves;
  }
  return leaves == leaves_ ? check_slots(*directory_, first_) : kLeafOrder;
}

// Counts leaves as nodes. The nodes of the directory are not counted, because they have no memory
// of their own.
uint64_t Tree::statistic(uint32_t which) const {
  uint64_t used = 0;
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return directory_->levels() + 1u;
    case KEYDROME_STATISTIC_NODES:
      return leaves_;
    case KEYDROME_STATISTIC_SLOTS:
      return uint64_t{leaves_} * Leaf::kCapacity;
    case KEYDROME_STATISTIC_SLOTS_USED:
      for (const Leaf* leaf = first_; leaf != nullptr; leaf = leaf->next()) used += leaf->count;
      return used;
    default:
      return 0;
  }
}

}  // namespace keydrome::csb
