// Moves slots inside and between nodes of the B+-tree. It works for leaves and for inner nodes. A
// slot consists of a pointer to an entry and of the entry's head, which is the first eight bytes of
// the entry's key as a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "structures/btree/node.h"

namespace keydrome::btree {

// Copies `count` items; the ranges may overlap.
template <class Item>
void move_items(Item* to, const Item* from, size_t count) {
  static_assert(std::is_trivially_copyable_v<Item>);
  std::memmove(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(Item));
}

// Points to one slot of a node and to all slots after it. Heads and entries are parallel arrays.
struct Slots {
  uint64_t* heads;
  Entry** entries;

  static Slots of(Leaf& leaf) { return {leaf.heads, leaf.entries}; }
  static Slots of(Inner& inner) { return {inner.heads, inner.separators}; }

  Slots from(uint32_t slot) const { return {heads + slot, entries + slot}; }

  void set(uint32_t slot, Entry* entry) const {
    heads[slot] = head_of(entry->key(), entry->key_size);
    entries[slot] = entry;
  }

  // Copies `count` slots; the ranges may overlap.
  void copy_from(const Slots& source, uint32_t count) const {
    move_items(heads, source.heads, count);
    move_items(entries, source.entries, count);
  }

  // Inserts an entry at `slot` into a node of `count` slots. The later slots move up by one.
  void insert(uint32_t slot, uint32_t count, Entry* entry) const {
    from(slot + 1).copy_from(from(slot), count - slot);
    set(slot, entry);
  }

  void remove(uint32_t slot, uint32_t count) const {
    from(slot).copy_from(from(slot + 1), count - slot - 1);
  }
};

// A buffer for the slots of two adjacent nodes and one additional slot. A change that may move
// slots between nodes, such as a split or a merge, collects the slots here and then copies them to
// their nodes. For inner nodes, `children` has one more item than there are slots.
struct Gathered {
  uint64_t heads[2 * kSlots + 1];
  Entry* entries[2 * kSlots + 1];
  Node* children[2 * kSlots + 2];

  Slots slots() { return {heads, entries}; }
};

}  // namespace keydrome::btree
