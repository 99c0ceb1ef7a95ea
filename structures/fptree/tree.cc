// Implements parts of tree.h: makes and destroys the tree, searches it, and makes its entries.
#include "structures/fptree/tree.h"

#include <new>

namespace keydrome::fptree {

Tree::Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
    : memory_(environment),
      key_bytes_(setup.key_bytes),
      narrow_(setup.key_bytes > 0 && setup.key_bytes <= sizeof(uint64_t)),
      root_(memory_.make<Leaf>()) {
  if (root_ == nullptr) throw std::bad_alloc();
}

Tree::~Tree() { drop_subtree(root_, height_); }

void Tree::drop_subtree(void* node, uint32_t level) {
  if (level == 0) {
    auto* leaf = static_cast<Leaf*>(node);
    for_each_slot(leaf->slots(),
                  [&](uint32_t slot) { drop_entry(leaf->entries[slot], leaf->mark(slot)); });
    memory_.drop(leaf);
    return;
  }
  auto* inner = static_cast<Inner*>(node);
  for (uint32_t i = 0; i <= inner->count; ++i) drop_subtree(inner->children[i], level - 1);
  for (uint32_t i = 0; i < inner->count; ++i) memory_.drop_record(inner->rests[i]);
  memory_.drop(inner);
}

Tree::Path Tree::path_to(const Probe& probe) const {
  Path path;
  path.depth = height_;
  void* node = root_;
  for (uint32_t depth = 0; depth < height_; ++depth) {
    auto* inner = static_cast<Inner*>(node);
    path.nodes[depth] = inner;
    path.children[depth] = inner->child_for(probe, narrow_);
    node = inner->children[path.children[depth]];
  }
  path.leaf = static_cast<Leaf*>(node);
  return path;
}

// Returns the slot of a pair, or kNone if the leaf does not have the pair.
uint32_t Tree::slot_of(const Leaf& leaf, const Probe& probe, uint8_t print) const {
  for (uint64_t left = leaf.matching(print); left != 0; left &= left - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(left));
    if (compare(leaf.entries[slot], leaf.mark(slot), probe, narrow_) == 0) return slot;
  }
  return kNone;
}

// Fills `entry` and `mark` for a pair. Returns false if out of memory.
bool Tree::make_entry(const Probe& probe, Entry& entry, uint8_t& mark) const {
  entry = {probe.head, 0};
  if (narrow_ && probe.payload.size() <= kInlineBytes) {
    mark = static_cast<uint8_t>(probe.payload.size());
    if (mark > 0) std::memcpy(&entry.content, probe.payload.data(), mark);
    return true;
  }
  mark = kOutside;
  const Record* record = memory_.make_record(narrow_ ? Bytes() : probe.key, probe.payload);
  entry.content = reinterpret_cast<uint64_t>(record);
  return record != nullptr;
}

void Tree::drop_entry(const Entry& entry, uint8_t mark) const {
  if (mark == kOutside) memory_.drop_record(record_of(entry));
}

uint8_t Tree::print_of(const Entry& entry) const {
  const Probe probe{entry.head, narrow_ ? Bytes() : record_of(entry)->key(), {}};
  return probe.print(narrow_);
}

}  // namespace keydrome::fptree
