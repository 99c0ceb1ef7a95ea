// Implements del() and replace() of Tree (tree.h), which delete a pair or change its payload.
#include "structures/fptree/tree.h"

namespace keydrome::fptree {

int Tree::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Probe probe = Probe::of(key, payload);
  const Path path = path_to(probe);
  Leaf& leaf = *path.leaf;
  const uint32_t slot = slot_of(leaf, probe, probe.print(narrow_));
  if (slot == kNone) return 0;
  drop_entry(leaf.entries[slot], leaf.mark(slot));
  leaf.clear(slot);
  if (leaf.slots() == 0) leaf.used |= Leaf::kPlain;
  if (height_ > 0 && (leaf.slots() == 0 || give_pairs_away(path))) remove_leaf(path);
  return 1;
}

// If the leaf has few pairs, moves them to its *heir*, the leaf that takes over the range of a
// removed leaf. Returns true if the pairs have moved.
//
// A leaf is merged at a quarter, not at half: most leaves that are half full soon grow again (T.
// Johnson, D. Shasha, "B-Trees with Inserts and Deletes: Why Free-at-Empty Is Better Than
// Merge-at-Half", 1993). But if leaves were merged only when they are empty, the tree would need
// ever more memory while pairs are replaced.
bool Tree::give_pairs_away(const Path& path) {
  constexpr uint32_t kFew = Leaf::kSlots / 4, kHeirMax = Leaf::kSlots * 3 / 4;
  const Leaf& leaf = *path.leaf;
  const Inner& parent = *path.nodes[path.depth - 1];
  if (leaf.count() > kFew || parent.count == 0) return false;
  const uint32_t child = path.children[path.depth - 1];
  Leaf& heir = *static_cast<Leaf*>(parent.children[child == 0 ? 1 : child - 1]);
  if (heir.count() + leaf.count() > kHeirMax) return false;
  for_each_slot(leaf.slots(), [&](uint32_t slot) {
    const uint8_t print = leaf.prints[slot];
    heir.write(heir.free_slot(print), print, leaf.mark(slot), leaf.entries[slot]);
  });
  return true;
}

// Removes a leaf that is empty or whose pairs have moved, and the inner nodes that have no other
// child. The leaf before it under the same parent, or else the leaf after it, takes over its range.
void Tree::remove_leaf(const Path& path) {
  Leaf* leaf = path.leaf;
  if (leaf->before != nullptr) {
    leaf->before->next = leaf->next;
    // The previous leaf may now end at the fence (the boundary) after the removed leaf. So it needs
    // the flag kDivides that the removed leaf had for this fence.
    leaf->before->used |= leaf->used & Leaf::kDivides;
  }
  if (leaf->next != nullptr) leaf->next->before = leaf->before;
  memory_.drop(leaf);
  uint32_t depth = path.depth - 1;
  // The loop ends at the root at the latest, because an inner root has a fence.
  while (path.nodes[depth]->count == 0) memory_.drop(path.nodes[depth--]);
  Inner* node = path.nodes[depth];
  const uint32_t child = path.children[depth];
  const uint32_t fence = child == 0 ? 0 : child - 1;
  memory_.drop_record(node->rests[fence]);
  node->remove(fence, child);
  while (height_ > 0 && static_cast<Inner*>(root_)->count == 0) {
    auto* root = static_cast<Inner*>(root_);
    root_ = root->children[0];
    --height_;
    memory_.drop(root);
  }
}

int Tree::replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept {
  const Probe old = Probe::of(key, before);
  const Probe fresh = Probe::of(key, now);
  const uint8_t print = old.print(narrow_);
  Leaf& leaf = *locate(old);
  const uint32_t slot = slot_of(leaf, old, print);
  if (slot == kNone) return 0;
  Leaf& target = *locate(fresh);
  if (slot_of(target, fresh, print) != kNone) return 2;
  if (&target != &leaf) {
    const int result = put(key, now);
    if (result == 1) del(key, before);  // cannot fail, because it needs no memory
    return result;
  }
  Entry entry;
  uint8_t mark = 0;
  if (!make_entry(fresh, entry, mark)) return KEYDROME_NO_MEMORY;
  drop_entry(leaf.entries[slot], leaf.mark(slot));
  leaf.write_content(slot, mark, entry);
  return 1;
}

}  // namespace keydrome::fptree
