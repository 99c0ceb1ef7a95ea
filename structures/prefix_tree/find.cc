// Implements find() and find_batch() of Tree (tree.h), which find payloads of a key or of many
// keys.
#include <algorithm>

#include "structures/prefix_tree/cursor.h"
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {
namespace {

// Returns the child that contains the smallest pair of the key, or nullptr. If the node branches
// after the end of the key, all pairs below it have the same key. The first child then has the
// smallest pair.
inline const Slot* child_for(const Node& node, const Probe& key) {
  if (node.depth > key.key_size) return node.children();
  const uint32_t symbol = node.depth < key.key_size ? key.key[node.depth] + 1u : kEnd;
  return node.has(symbol) ? node.children() + node.rank(symbol) : nullptr;
}

inline bool has_key(const Record& record, const Probe& key) {
  return record.key_size == key.key_size &&
         equal_bytes(record.key(), key.key, key.key_size) == key.key_size;
}

inline int answer(const Record* record, const Probe& key, KeydromeBuffer& payload) {
  if (record == nullptr || !has_key(*record, key)) return 0;
  copy_payload(view_of(record->payload_bytes()), payload);
  return 1;
}

}  // namespace

int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  if (root_.is_empty()) return 0;
  const Probe from = Probe::of(key, after);
  if (after.data != nullptr) {
    Cursor cursor;
    cursor.seek(root_, from, true);
    return answer(cursor.next(), from, payload);
  }
  Slot slot = root_;
  while (!slot.is_record()) {
    const Slot* child = child_for(*slot.node(), from);
    if (child == nullptr) return 0;
    slot = *child;
  }
  return answer(slot.record(), from, payload);
}

// Runs groups of kTogether lookups level by level: while one lookup waits for memory, the others
// use the processor. Each level waits twice: for the header of the node, and for the slot of the
// child.
void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  constexpr uint32_t kTogether = 16;
  for (uint32_t begin = 0; begin < count; begin += kTogether) {
    const uint32_t group = std::min(kTogether, count - begin);
    std::array<const Slot*, kTogether> places;
    std::array<Slot, kTogether> slots;
    slots.fill(root_);
    const auto key_of = [&](uint32_t i) { return Probe::of(lookups[begin + i].key, {nullptr, 0}); };
    for (bool is_descending = true; is_descending;) {
      is_descending = false;
      for (uint32_t i = 0; i < group; ++i) {
        places[i] = slots[i].is_node() ? child_for(*slots[i].node(), key_of(i)) : &slots[i];
        __builtin_prefetch(places[i]);
      }
      for (uint32_t i = 0; i < group; ++i) {
        is_descending |= slots[i].is_node();
        slots[i] = places[i] == nullptr ? Slot() : *places[i];
        slots[i].prefetch();
      }
    }
    for (uint32_t i = 0; i < group; ++i) {
      const Record* record = slots[i].is_empty() ? nullptr : slots[i].record();
      lookups[begin + i].found = answer(record, key_of(i), lookups[begin + i].payload);
    }
  }
}

}  // namespace keydrome::prefix_tree
