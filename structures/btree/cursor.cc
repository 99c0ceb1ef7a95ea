// Implements seek and next of the B+-tree. A KeydromePosition stores the leaf's address in
// words[0]. In words[1] it stores the leaf's slot (an array index) of the pair that the following
// `next` returns.
#include <cassert>
#include <cstring>

#include "structures/btree/tree.h"

namespace keydrome::btree {

namespace {

void copy_out(KeydromeBuffer& buffer, const uint8_t* bytes, uint32_t size) {
  assert(size <= buffer.capacity);
  std::memcpy(buffer.data, bytes, size);
  buffer.size = size;
}

// Prefetches the entry that a scan needs four steps later. This hides cache misses, because entries
// are scattered in memory. Prefetches only two cache lines, because most entries fit into two.
void prefetch_ahead(const Leaf& leaf, uint64_t slot) {
  constexpr uint64_t kAhead = 4;
  if (slot + kAhead >= leaf.count) return;
  const auto* entry = reinterpret_cast<const uint8_t*>(leaf.entries[slot + kAhead]);
  __builtin_prefetch(entry);
  __builtin_prefetch(entry + 64);
}

}  // namespace

void Tree::seek(KeydromePosition& position, const Probe& probe, bool after) const {
  const Leaf* leaf = find_leaf(root_, probe);
  const uint32_t slot = after ? rank<true>(leaf->heads, leaf->entries, leaf->count, probe)
                              : rank<false>(leaf->heads, leaf->entries, leaf->count, probe);
  position.words[0] = reinterpret_cast<uintptr_t>(leaf);
  position.words[1] = slot;
}

int Tree::next(KeydromePosition& position, KeydromeBuffer& key, KeydromeBuffer& payload) const {
  const auto* leaf = reinterpret_cast<const Leaf*>(position.words[0]);
  uint64_t slot = position.words[1];
  if (slot >= leaf->count) {
    // The next leaf has at least one entry, because only the root can be an empty leaf, and a root
    // has no siblings.
    if (leaf->next == nullptr) return 0;
    leaf = leaf->next;
    slot = 0;
  }
  prefetch_ahead(*leaf, slot);
  const Entry& entry = *leaf->entries[slot];
  copy_out(key, entry.key(), entry.key_size);
  copy_out(payload, entry.payload(), entry.payload_size);
  position.words[0] = reinterpret_cast<uintptr_t>(leaf);
  position.words[1] = slot + 1;
  return 1;
}

}  // namespace keydrome::btree
