// Implements scan and find of the B+-tree.
#include <cassert>
#include <cstring>

#include "structures/btree/tree.h"

namespace keydrome::btree {

namespace {

// Prefetches the entry that a scan needs four steps later. This hides cache misses, because entries
// are scattered in memory. Prefetches only two cache lines, because most entries fit into two.
void prefetch_ahead(const Leaf& leaf, uint32_t slot) {
  constexpr uint32_t kAhead = 4;
  if (slot + kAhead >= leaf.count) return;
  const auto* entry = reinterpret_cast<const uint8_t*>(leaf.entries[slot + kAhead]);
  __builtin_prefetch(entry);
  __builtin_prefetch(entry + 64);
}

}  // namespace

// A slot of a leaf that contains an entry, or the end of the tree (leaf == nullptr).
struct Tree::Place {
  const Leaf* leaf;
  uint32_t slot;

  const Entry& entry() const { return *leaf->entries[slot]; }
  // Moves to the first slot of the next leaf if this leaf has no such slot. The next leaf has at
  // least one entry, because only the root can be an empty leaf, and a root has no siblings.
  void skip_end() {
    if (slot < leaf->count) return;
    leaf = leaf->next;
    slot = 0;
  }
};

Tree::Place Tree::seek(const Probe& probe, bool after) const {
  const Leaf* leaf = find_leaf(root_, probe);
  Place place{leaf, after ? rank<true>(leaf->heads, leaf->entries, leaf->count, probe)
                          : rank<false>(leaf->heads, leaf->entries, leaf->count, probe)};
  place.skip_end();
  return place;
}

int Tree::scan(const Probe& probe, bool after, KeydromeRun& run) const {
  keydrome_run_clear(&run);
  for (Place place = seek(probe, after); place.leaf != nullptr; place.skip_end()) {
    prefetch_ahead(*place.leaf, place.slot);
    const Entry& entry = place.entry();
    if (keydrome_run_add(&run, {entry.key(), entry.key_size},
                         {entry.payload(), entry.payload_size}) == 0) {
      return 1;
    }
    ++place.slot;
  }
  return 0;
}

int Tree::find(const Probe& probe, bool after, KeydromeBuffer& payload) const {
  const Place place = seek(probe, after);
  if (place.leaf == nullptr) return 0;
  const Entry& entry = place.entry();
  if (entry.key_size != probe.key_size ||
      std::memcmp(entry.key(), probe.key, probe.key_size) != 0) {
    return 0;
  }
  assert(entry.payload_size <= payload.capacity);
  std::memcpy(payload.data, entry.payload(), entry.payload_size);
  payload.size = entry.payload_size;
  return 1;
}

}  // namespace keydrome::btree
