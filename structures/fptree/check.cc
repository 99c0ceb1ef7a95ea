// Implements check() and statistic() of Tree (tree.h). check() tests the invariants of the B+-tree,
// and statistic() counts nodes and pairs.
#include "structures/fptree/tree.h"

namespace keydrome::fptree {
namespace {

// The numbers that check() returns: the first broken invariant, or kNothing. README.md lists the
// invariants with these numbers, 1 to 9.
enum Broken { kNothing, kLevel, kFenceOrder, kPlace, kPrint, kTwice, kMark, kEmpty, kLinks, kKey };

}  // namespace

class Tree::Checker {
 public:
  explicit Checker(const Tree& tree) : tree_(tree) {}

  // Checks a subtree. Its pairs must be >= `low` and < `high`; nullptr means no bound.
  Broken check(const void* node, uint32_t level, const Fence* low, const Fence* high) {
    if (level == 0) return check_leaf(*static_cast<const Leaf*>(node), low, high);
    const auto& inner = *static_cast<const Inner*>(node);
    if (inner.level != level || inner.count > Inner::kFences) return kLevel;
    if (level == tree_.height_ && inner.count == 0) return kLevel;
    if (!inner.has_right_lasts()) return kFenceOrder;
    Fence before;
    for (uint32_t i = 0; i < inner.count; ++i) {
      const Fence fence = inner.fence(i);
      if (low != nullptr && !is_smaller(*low, fence)) return kFenceOrder;
      if (const Broken broken = check(inner.children[i], level - 1, low, &fence)) return broken;
      before = fence;
      low = &before;
    }
    if (low != nullptr && high != nullptr && !is_smaller(*low, *high)) return kFenceOrder;
    return check(inner.children[inner.count], level - 1, low, high);
  }
  bool is_complete() const { return leaf_ == nullptr || leaf_->next == nullptr; }

 private:
  Probe probe_of(const Entry& entry, uint8_t mark) const {
    return {entry.head, tree_.narrow_ ? Bytes() : record_of(entry)->key(), payload_of(entry, mark)};
  }
  bool is_smaller(const Fence& a, const Fence& b) const {
    if (a.head != b.head) return a.head < b.head;
    if (b.rest == nullptr) return false;
    if (a.rest == nullptr) return true;
    return compare_rest(*a.rest, {b.head, b.rest->key(), b.rest->payload()}, tree_.narrow_) < 0;
  }
  bool is_before(const Fence& fence, const Probe& pair) const {
    if (fence.head != pair.head || fence.rest == nullptr) return fence.head <= pair.head;
    return compare_rest(*fence.rest, pair, tree_.narrow_) <= 0;
  }

  Broken check_leaf(const Leaf& leaf, const Fence* low, const Fence* high) {
    if (leaf.before != leaf_ || (leaf_ != nullptr && leaf_->next != &leaf)) return kLinks;
    if (leaf_ != nullptr && low != nullptr && low->rest != nullptr && !leaf_->divides()) {
      return kLinks;
    }
    leaf_ = &leaf;
    if (leaf.slots() == 0 && tree_.height_ > 0) return kEmpty;
    Broken broken = kNothing;
    for_each_slot(leaf.slots(), [&](uint32_t slot) {
      if (broken == kNothing) broken = check_slot(leaf, slot, low, high);
    });
    return broken;
  }

  Broken check_slot(const Leaf& leaf, uint32_t slot, const Fence* low, const Fence* high) const {
    const Entry& entry = leaf.entries[slot];
    const uint8_t mark = leaf.mark(slot);
    if (mark != leaf.marks[slot]) return kMark;
    if (mark != kOutside && (!tree_.narrow_ || mark > kInlineBytes)) return kMark;
    const Probe pair = probe_of(entry, mark);
    if (!tree_.narrow_ && head_of(pair.key) != pair.head) return kKey;
    if (leaf.prints[slot] != pair.print(tree_.narrow_)) return kPrint;
    if (low != nullptr && !is_before(*low, pair)) return kPlace;
    if (high != nullptr && is_before(*high, pair)) return kPlace;
    return tree_.slot_of(leaf, pair, leaf.prints[slot]) == slot ? kNothing : kTwice;
  }

  const Tree& tree_;
  const Leaf* leaf_ = nullptr;  // the previous leaf
};

int Tree::check() const {
  Checker checker(*this);
  const Broken broken = checker.check(root_, height_, nullptr, nullptr);
  if (broken != kNothing) return broken;
  return checker.is_complete() ? kNothing : kLinks;
}

uint64_t Tree::statistic(uint32_t which) const {
  if (which == KEYDROME_STATISTIC_HEIGHT) return height_ + 1;
  const void* first = root_;
  uint64_t leaves = 0, pairs = 0;
  for (uint32_t level = height_; level > 0; --level) {
    first = static_cast<const Inner*>(first)->children[0];
  }
  for (const auto* leaf = static_cast<const Leaf*>(first); leaf != nullptr; leaf = leaf->next) {
    ++leaves;
    pairs += leaf->count();
  }
  switch (which) {
    case KEYDROME_STATISTIC_NODES:
      return leaves + count_inners(root_, height_);
    case KEYDROME_STATISTIC_SLOTS:
      return leaves * Leaf::kSlots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return pairs;
    default:
      return 0;
  }
}

uint64_t Tree::count_inners(const void* node, uint32_t level) {
  if (level == 0) return 0;
  const auto& inner = *static_cast<const Inner*>(node);
  uint64_t count = 1;
  for (uint32_t i = 0; i <= inner.count && level > 1; ++i) {
    count += count_inners(inner.children[i], level - 1);
  }
  return count;
}

}  // namespace keydrome::fptree
