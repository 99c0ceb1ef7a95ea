// Implements Tree::put: adds an entry (a pair of key and payload) to a leaf of the B+-tree. If the
// leaf is full, splits it. A split adds a separator to the parent, so a full parent is split, too,
// and so on upwards.
#include <utility>

#include "structures/btree/separator.h"
#include "structures/btree/slots.h"
#include "structures/btree/tree.h"

namespace keydrome::btree {

// All memory that one insertion needs. It is allocated before the tree changes, so that a failed
// allocation leaves the tree unchanged. The destructor frees memory that was not used.
struct Tree::Reserve {
  explicit Reserve(Memory& source) : memory(source) {}
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  ~Reserve() {
    if (entry != nullptr) memory.drop_entry(entry);
    if (separator != nullptr) memory.drop_entry(separator);
    if (leaf != nullptr) memory.drop_node(leaf);
    while (inner_count > 0) memory.drop_node(inners[--inner_count]);
  }

  bool take_inner() {
    inners[inner_count] = memory.make_node<Inner>();
    if (inners[inner_count] == nullptr) return false;
    ++inner_count;
    return true;
  }

  template <class Type>
  static Type* give(Type*& owned) {
    return std::exchange(owned, nullptr);
  }
  Inner* give_inner() { return inners[--inner_count]; }

  Memory& memory;
  Entry* entry = nullptr;
  Entry* separator = nullptr;
  Leaf* leaf = nullptr;
  Inner* inners[kHeightMax + 1] = {};
  uint32_t inner_count = 0;
};

int Tree::put(const Probe& probe) {
  Path path;
  Leaf* leaf = find_leaf(root_, probe, path);
  const uint32_t slot = rank<false>(leaf->heads, leaf->entries, leaf->count, probe);
  if (slot < leaf->count && leaf->heads[slot] == probe.head &&
      compare_tied(*leaf->entries[slot], probe) == 0) {
    return 0;
  }
  Reserve reserve(memory_);
  reserve.entry = memory_.make_entry(probe.key, probe.key_size, probe.payload, probe.payload_size);
  if (reserve.entry == nullptr) return -1;
  if (leaf->count == kSlots) return split_and_insert(path, leaf, slot, reserve);
  Slots::of(*leaf).insert(slot, leaf->count, Reserve::give(reserve.entry));
  ++leaf->count;
  ++pairs_;
  return 1;
}

// Inserts reserve.entry at `slot` of a full leaf: splits the leaf, and adds the new leaf to its
// parent. Allocates all further memory first, and returns -1 without a change if that fails.
int Tree::split_and_insert(const Path& path, Leaf* leaf, uint32_t slot, Reserve& reserve) {
  const bool append = leaf->next == nullptr && slot == kSlots;
  const uint32_t keep = append ? kAppendKeep : (kSlots + 1) / 2;

  Gathered all;
  all.slots().copy_from(Slots::of(*leaf), kSlots);
  all.slots().insert(slot, kSlots, reserve.entry);

  const Entry& last_left = *all.entries[keep - 1];
  const Entry& first_right = *all.entries[keep];
  const SeparatorSize size = separator_size(last_left, first_right);
  reserve.separator = memory_.make_entry(first_right.key(), size.key_size, first_right.payload(),
                                         size.payload_size);
  reserve.leaf = memory_.make_node<Leaf>();
  if (reserve.separator == nullptr || reserve.leaf == nullptr) return -1;
  uint32_t level = path.length;
  while (level > 0 && path.steps[level - 1].node->count == kSlots) {
    if (!reserve.take_inner()) return -1;
    --level;
  }
  if (level == 0 && !reserve.take_inner()) return -1;  // the new root

  Reserve::give(reserve.entry);
  Leaf* right = Reserve::give(reserve.leaf);
  Slots::of(*leaf).copy_from(all.slots(), keep);
  leaf->count = keep;
  Slots::of(*right).copy_from(all.slots().from(keep), kSlots + 1 - keep);
  right->count = kSlots + 1 - keep;
  right->previous = leaf;
  right->next = leaf->next;
  if (leaf->next != nullptr) leaf->next->previous = right;
  leaf->next = right;

  insert_child(path, Reserve::give(reserve.separator), right, reserve);
  ++pairs_;
  return 1;
}

// Inserts `separator` and the new node `right` into the last inner node of the path, directly after
// the node that was split. If the inner node is full, splits it, and continues in the same way with
// the level above. A split of the root makes a new root.
void Tree::insert_child(const Path& path, Entry* separator, Node* right, Reserve& reserve) {
  for (uint32_t level = path.length; level > 0; --level) {
    Inner* node = path.steps[level - 1].node;
    const uint32_t at = path.steps[level - 1].child;

    Gathered all;
    all.slots().copy_from(Slots::of(*node), node->count);
    all.slots().insert(at, node->count, separator);
    const uint32_t total = node->count + 1;
    move_items(all.children, node->children, at + 1);
    all.children[at + 1] = right;
    move_items(all.children + at + 2, node->children + at + 1, node->count - at);

    const bool fits = total <= kSlots;
    const uint32_t keep = fits ? total : at == kSlots ? kAppendKeep - 1 : kSlots / 2;
    Slots::of(*node).copy_from(all.slots(), keep);
    move_items(node->children, all.children, keep + 1);
    node->count = keep;
    if (fits) return;

    // The separator between the two halves moves up into the parent, so neither half contains it.
    Inner* fresh = reserve.give_inner();
    fresh->count = total - keep - 1;
    Slots::of(*fresh).copy_from(all.slots().from(keep + 1), fresh->count);
    move_items(fresh->children, all.children + keep + 1, fresh->count + 1);
    separator = all.entries[keep];
    right = fresh;
  }
  Inner* root = reserve.give_inner();
  root->count = 1;
  Slots::of(*root).set(0, separator);
  root->children[0] = root_;
  root->children[1] = right;
  root_ = root;
}

}  // namespace keydrome::btree
