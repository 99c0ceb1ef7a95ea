// Implements Tree::del: removes an entry (a pair of key and payload) from a leaf of the B+-tree. A
// slot is the place of one entry in a node. If a node other than the root would then use fewer than
// kFillMin slots, it is merged with a sibling, or receives slots from the sibling ("refill").
#include "structures/btree/separator.h"
#include "structures/btree/slots.h"
#include "structures/btree/tree.h"

namespace keydrome::btree {

int Tree::del(const Probe& probe) {
  Path path;
  Leaf* leaf = find_leaf(root_, probe, path);
  const uint32_t slot = rank<false>(leaf->heads, leaf->entries, leaf->count, probe);
  if (slot == leaf->count || leaf->heads[slot] != probe.head ||
      compare_tied(*leaf->entries[slot], probe) != 0) {
    return 0;
  }
  if (path.length > 0 && leaf->count == kFillMin) return erase_and_refill(path, leaf, slot);
  memory_.drop_entry(leaf->entries[slot]);
  Slots::of(*leaf).remove(slot, leaf->count);
  --leaf->count;
  --pairs_;
  return 1;
}

namespace {

// Returns the index of the separator between a child and its left sibling. For the first child,
// which has no left sibling, returns the index of the separator to the right sibling.
uint32_t separator_to_sibling(uint32_t child) { return child > 0 ? child - 1 : 0; }

}  // namespace

// Deletes an entry from a leaf that has only kFillMin entries. A refill needs memory for a new
// separator, and allocates it before it changes anything. A merge needs no memory.
int Tree::erase_and_refill(const Path& path, Leaf* leaf, uint32_t slot) {
  const Path::Step& step = path.steps[path.length - 1];
  const uint32_t separator = separator_to_sibling(step.child);
  Leaf* left = as_leaf(step.node->children[separator]);
  Leaf* right = as_leaf(step.node->children[separator + 1]);
  Entry* victim = leaf->entries[slot];

  Gathered all;
  all.slots().copy_from(Slots::of(*left), left->count);
  all.slots().from(left->count).copy_from(Slots::of(*right), right->count);
  uint32_t total = left->count + right->count;
  all.slots().remove(leaf == left ? slot : left->count + slot, total);
  --total;

  if (total <= kMergeMax) {
    Slots::of(*left).copy_from(all.slots(), total);
    left->count = total;
    left->next = right->next;
    if (right->next != nullptr) right->next->previous = left;
    memory_.drop_node(right);
    memory_.drop_entry(step.node->separators[separator]);
    remove_child(path, path.length, separator);
  } else {
    const uint32_t keep = total / 2;
    const Entry& first_right = *all.entries[keep];
    const SeparatorSize size = separator_size(*all.entries[keep - 1], first_right);
    Entry* fresh = memory_.make_entry(first_right.key(), size.key_size, first_right.payload(),
                                      size.payload_size);
    if (fresh == nullptr) return -1;
    Slots::of(*left).copy_from(all.slots(), keep);
    left->count = keep;
    Slots::of(*right).copy_from(all.slots().from(keep), total - keep);
    right->count = total - keep;
    memory_.drop_entry(step.node->separators[separator]);
    Slots::of(*step.node).set(separator, fresh);
  }
  memory_.drop_entry(victim);
  --pairs_;
  return 1;
}

// Removes a separator slot and the child to its right from the inner node at `level` of the path.
// The root has level 1. The caller frees or reuses the separator.
void Tree::remove_child(const Path& path, uint32_t level, uint32_t separator) {
  Inner* node = path.steps[level - 1].node;
  Slots::of(*node).remove(separator, node->count);
  move_items(node->children + separator + 1, node->children + separator + 2,
             node->count - separator - 1);
  --node->count;
  if (level > 1) {
    if (node->count < kFillMin) refill_inner(path, level);
  } else if (node->count == 0) {
    root_ = node->children[0];
    memory_.drop_node(node);
  }
}

// Merges an inner node with a sibling, or moves slots between the two nodes (a refill). Allocates
// nothing, because it moves existing separators: the separator between the two nodes moves down,
// and in a refill another separator moves up.
// This function and remove_child call each other, at most once for each level of the tree.
void Tree::refill_inner(const Path& path, uint32_t level) {
  const Path::Step& step = path.steps[level - 2];
  const uint32_t separator = separator_to_sibling(step.child);
  Inner* left = as_inner(step.node->children[separator]);
  Inner* right = as_inner(step.node->children[separator + 1]);

  Gathered all;
  all.slots().copy_from(Slots::of(*left), left->count);
  all.slots().set(left->count, step.node->separators[separator]);
  all.slots().from(left->count + 1).copy_from(Slots::of(*right), right->count);
  move_items(all.children, left->children, left->count + 1);
  move_items(all.children + left->count + 1, right->children, right->count + 1);
  const uint32_t total = left->count + right->count + 1;

  const bool merge = total <= kMergeMax;
  const uint32_t keep = merge ? total : total / 2;
  Slots::of(*left).copy_from(all.slots(), keep);
  move_items(left->children, all.children, keep + 1);
  left->count = keep;
  if (merge) {
    memory_.drop_node(right);
    remove_child(path, level - 1, separator);
    return;
  }
  right->count = total - keep - 1;
  Slots::of(*right).copy_from(all.slots().from(keep + 1), right->count);
  move_items(right->children, all.children + keep + 1, right->count + 1);
  Slots::of(*step.node).set(separator, all.entries[keep]);
}

}  // namespace keydrome::btree
