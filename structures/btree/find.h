// Implements find and find_batch of Tree (tree.h). find copies a payload of a key: the first one,
// or the first one after a given payload. find_batch copies the first payloads of many keys.
#pragma once

#include <algorithm>
#include <cstdint>

#include "structures/btree/tree.h"

namespace keydrome::btree {

template <class Layout>
int Tree<Layout>::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer* out) const {
  if (__builtin_expect(!holds(key), 0)) return 0;
  const Probe probe = probe_of(key);
  Value value;
  if (!Layout::lookup(*leaf_of(probe), probe, value)) return 0;
  if (__builtin_expect(value.set == 0 && after.data == nullptr, 1)) {
    copy_payload(value.payload, *out);
    return 1;
  }
  const PayloadBound bound{Span::of(after), true};
  Span found = value.payload;
  uint8_t room[KEYDROME_PAYLOAD_BYTES_MAX + 8];
  const bool is_found =
      value.set == 0 ? bound.admits(found) : Sets::first(memory_, value.set, bound, room, found);
  if (is_found) copy_payload(found, *out);
  return is_found ? 1 : 0;
}

template <class Layout>
void Tree<Layout>::answer(const Node& leaf, const Probe& probe, KeydromeLookup& lookup) const {
  Value value;
  lookup.found = holds(lookup.key) && Layout::lookup(leaf, probe, value) ? 1 : 0;
  if (lookup.found == 0) return;
  uint8_t room[KEYDROME_PAYLOAD_BYTES_MAX + 8];
  if (value.set != 0) Sets::first(memory_, value.set, {}, room, value.payload);
  copy_payload(value.payload, lookup.payload);
}

// Takes a group of lookups down the tree level by level, so that their cache misses overlap (S.
// Chen et al., "Improving Index Performance through Prefetching", SIGMOD 2001).
template <class Layout>
void Tree<Layout>::find_batch(uint32_t count, KeydromeLookup* lookups) const {
  constexpr uint32_t kGroup = 24;
  const uint32_t height = root_->level;
  for (uint32_t from = 0; from < count; from += kGroup) {
    const uint32_t size = std::min(kGroup, count - from);
    const Node* nodes[kGroup];
    Probe probes[kGroup];
    for (uint32_t i = 0; i < size; ++i) {
      probes[i] = probe_of(lookups[from + i].key);
      nodes[i] = root_;
    }
    for (uint32_t level = height; level > 0; --level) {
      const bool is_cached = level + 1 >= height;  // the upper two levels stay in the caches
      for (uint32_t i = 0; i < size && !is_cached; ++i) Layout::ask_second(*nodes[i], probes[i]);
      for (uint32_t i = 0; i < size; ++i) {
        nodes[i] = Layout::child(*nodes[i], Layout::child_index(*nodes[i], probes[i]));
        Layout::ask_first(nodes[i]);
      }
    }
    for (uint32_t i = 0; i < size; ++i) Layout::ask_second(*nodes[i], probes[i]);
    for (uint32_t i = 0; i < size; ++i) answer(*nodes[i], probes[i], lookups[from + i]);
  }
}

}  // namespace keydrome::btree
