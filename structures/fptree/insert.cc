// Implements put() of Tree (tree.h), which adds a pair. It splits full leaves and inner nodes. A
// fence is the boundary between two nodes (node.h).
#include <algorithm>
#include <numeric>

#include "structures/fptree/tree.h"

namespace keydrome::fptree {

struct Tree::Parts {
  Leaf* leaf = nullptr;
  std::array<Inner*, kLevelsMax> inners{};
  uint32_t inner_count = 0;
};

int Tree::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Probe probe = Probe::of(key, payload);
  const uint8_t print = probe.print(narrow_);
  Path path = path_to(probe);
  path.leaf->ask_home(print);
  if (slot_of(*path.leaf, probe, print) != kNone) return 0;
  Entry entry;
  uint8_t mark = 0;
  if (!make_entry(probe, entry, mark)) return KEYDROME_NO_MEMORY;
  if (path.leaf->is_full()) {
    if (!split(path, probe)) {
      drop_entry(entry, mark);
      return KEYDROME_NO_MEMORY;
    }
    path.leaf = locate(probe);
  }
  path.leaf->write(path.leaf->free_slot(print), print, mark, entry);
  return 1;
}

// Allocates a leaf and the inner nodes that a split needs. Returns false if out of memory.
bool Tree::reserve(const Path& path, Parts& parts) const {
  parts.leaf = memory_.make<Leaf>();
  uint32_t needed = 0;
  while (needed < path.depth && path.nodes[path.depth - 1 - needed]->is_full()) ++needed;
  // One more node, as the new root: the root splits, or the leaf is the root.
  if (needed == path.depth) ++needed;
  bool complete = parts.leaf != nullptr;
  while (complete && parts.inner_count < needed) {
    Inner* inner = memory_.make<Inner>();
    complete = inner != nullptr;
    if (complete) parts.inners[parts.inner_count++] = inner;
  }
  if (complete) return true;
  if (parts.leaf != nullptr) memory_.drop(parts.leaf);
  while (parts.inner_count > 0) memory_.drop(parts.inners[--parts.inner_count]);
  return false;
}

// Splits the full leaf to which the probe belongs. Returns false if out of memory.
//
// Half of the pairs move to the new leaf. If the probe is larger than all pairs of the tree, no
// pair moves, so ascending insertions leave full leaves.
bool Tree::split(const Path& path, const Probe& probe) {
  Leaf& left = *path.leaf;
  std::array<uint8_t, Leaf::kSlots> order;
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) {
    const Entry& other = left.entries[b];
    const Probe second{other.head, narrow_ ? Bytes() : record_of(other)->key(),
                       payload_of(other, left.mark(b))};
    return compare(left.entries[a], left.mark(a), second, narrow_) < 0;
  });
  const uint8_t largest = order.back();
  const bool appends = left.next == nullptr &&
                       compare(left.entries[largest], left.mark(largest), probe, narrow_) < 0;
  const uint32_t stay = appends ? Leaf::kSlots : Leaf::kSlots / 2;
  const uint8_t last = order[stay - 1];

  Probe first = probe;  // the smallest pair of the right leaf
  if (!appends) {
    const Entry& entry = left.entries[order[stay]];
    first = {entry.head, narrow_ ? Bytes() : record_of(entry)->key(),
             payload_of(entry, left.mark(order[stay]))};
  }
  Fence fence{first.head, nullptr};
  if (left.entries[last].head == first.head) {
    fence.rest = memory_.make_record(narrow_ ? Bytes() : first.key, first.payload);
    if (fence.rest == nullptr) return false;
  }
  Parts parts;
  if (!reserve(path, parts)) {
    memory_.drop_record(fence.rest);
    return false;
  }
  Leaf& right = *parts.leaf;
  for (uint32_t i = stay; i < Leaf::kSlots; ++i) {
    const uint8_t slot = order[i];
    const uint8_t print = left.prints[slot];
    right.write(right.free_slot(print), print, left.mark(slot), left.entries[slot]);
    left.clear(slot);
  }
  right.used |= left.used & Leaf::kDivides;
  left.used &= ~Leaf::kDivides;
  if (fence.rest != nullptr) left.used |= Leaf::kDivides;
  right.before = &left;
  right.next = left.next;
  if (right.next != nullptr) right.next->before = &right;
  left.next = &right;
  add_child(path, fence, &right, parts);
  return true;
}

// Adds the right half of a split node to the parent. Splits full parents, from the lowest level
// upwards.
void Tree::add_child(const Path& path, Fence fence, void* right, Parts& parts) {
  for (uint32_t depth = path.depth; depth-- > 0;) {
    Inner* node = path.nodes[depth];
    const uint32_t index = path.children[depth];
    if (!node->is_full()) {
      node->insert(index, fence, right);
      return;
    }
    // The fence in the middle moves up. With ascending insertions, the left node stays nearly full.
    const uint32_t stay = index == Inner::kFences ? Inner::kFences - 1 : Inner::kFences / 2;
    Inner* half = parts.inners[--parts.inner_count];
    const Fence middle = node->fence(stay);
    node->split(stay, *half);
    if (index <= stay) {
      node->insert(index, fence, right);
    } else {
      half->insert(index - stay - 1, fence, right);
    }
    fence = middle;
    right = half;
  }
  Inner* root = parts.inners[--parts.inner_count];
  root->level = ++height_;
  root->children[0] = root_;
  root->insert(0, fence, right);
  root_ = root;
}

}  // namespace keydrome::fptree
