// Implements put and replace of Tree.
#pragma once

#include <cstdint>

#include "structures/btree/rewrite.h"
#include "structures/btree/tree.h"

namespace keydrome::btree {

template <class Layout>
int Tree<Layout>::put(KeydromeBytes key, KeydromeBytes payload) {
  const Probe probe = probe_of(key);
  Path path;
  descend(probe, path);
  return put_in(path, probe, Span::of(payload));
}

template <class Layout>
int Tree<Layout>::put_in(Path& path, const Probe& probe, Span payload) {
  Node& leaf = *path.node[0];
  bool same;
  const uint32_t slot = Layout::place(leaf, probe, same);
  if (same) return add_payload(path, slot, payload);
  Layout::adopt(leaf, payload.size);
  Value value{payload};
  if (!Layout::fits_inline(leaf, payload.size)) {
    value.set = Sets::make(memory_, payload);
    if (value.set == 0) return KEYDROME_NO_MEMORY;
  }
  const Item item = Layout::leaf_item(probe, value);
  if (Layout::insert(leaf, slot, item) || insert_item(path, slot, item)) return 1;
  if (value.set != 0) Sets::drop(memory_, value.set);
  return KEYDROME_NO_MEMORY;
}

// Inserts an item into a leaf that has no room for it. The leaf gives items to a neighbour, if one
// has room, and is divided otherwise. The neighbour's parent is the same.
template <class Layout>
bool Tree<Layout>::insert_item(Path& path, uint32_t slot, const Item& item) {
  Node* leaf = path.node[0];
  const bool is_root = leaf == root_;
  Replacement part{is_root ? 0 : path.at[1], 1, slot == leaf->count, 0, {}, {}};
  Change change(memory_);
  if constexpr (Layout::kGrows) {
    if (Layout::may_grow(*leaf, item)) {
      Node* larger = change.made(Layout::grown(memory_, *leaf, item));
      if (larger == nullptr) return false;
      Layout::insert(*larger, slot, item);
      change.replaced(leaf);
      part.count = 1;
      part.nodes[0] = larger;
      return hang(path, 0, part, change);
    }
  }
  const Node* left = nullptr;
  const Node* right = nullptr;
  if (!is_root) {
    const Node& parent = *path.node[1];
    const bool last = part.first + 1 == Layout::items(parent);
    part.append = part.append && last;
    if (!last) right = Layout::child(parent, part.first + 1);
    if (part.first > 0) left = Layout::child(parent, part.first - 1);
    if (right != nullptr && !Layout::can_share(*leaf, *right)) right = nullptr;
    if (part.append || right != nullptr) left = nullptr;
    if (left != nullptr && !Layout::can_share(*leaf, *left)) left = nullptr;
  }
  Items items;
  if (left != nullptr) Layout::gather(*left, items);
  const uint32_t before = items.count;
  Layout::gather(*leaf, items);
  items.insert(before + slot, item);
  if (right != nullptr) Layout::gather(*right, items);
  if (left != nullptr) --part.first;
  if (left != nullptr || right != nullptr) part.old = 2;
  return rewrite(path, 0, items, part, change);
}

// Adds a payload to a key that has one.
template <class Layout>
int Tree<Layout>::add_payload(Path& path, uint32_t slot, Span payload) {
  Node& leaf = *path.node[0];
  const Value held = Layout::value(leaf, slot);
  if (held.set != 0) {
    PayloadSet set = held.set;
    const int result = Sets::insert(memory_, set, payload);
    if (set != held.set) Layout::assign(leaf, slot, {{}, set});
    return result;
  }
  if (equal_bytes(held.payload, payload)) return 0;
  PayloadSet set = Sets::make(memory_, held.payload);
  if (set == 0) return KEYDROME_NO_MEMORY;
  if (Sets::insert(memory_, set, payload) < 0 || !store(path, slot, {{}, set})) {
    Sets::drop(memory_, set);
    return KEYDROME_NO_MEMORY;
  }
  return 1;
}

// Replaces the value of a slot. Returns false if out of memory.
template <class Layout>
bool Tree<Layout>::store(Path& path, uint32_t slot, const Value& value) {
  Node& leaf = *path.node[0];
  if (Layout::assign(leaf, slot, value)) return true;
  Items items;
  Layout::gather(leaf, items);
  items.set_value(slot, value);
  Change change(memory_);
  const uint32_t first = &leaf == root_ ? 0 : path.at[1];
  return rewrite(path, 0, items, {first, 1, false, 0, {}, {}}, change);
}

template <class Layout>
int Tree<Layout>::replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) {
  if (!holds(key)) return 0;
  const Probe probe = probe_of(key);
  Path path;
  descend(probe, path);
  Node& leaf = *path.node[0];
  bool same;
  const uint32_t slot = Layout::place(leaf, probe, same);
  if (!same) return 0;
  const Value held = Layout::value(leaf, slot);
  Span only = held.payload;
  if (held.set == 0 || Sets::single(held.set, only)) {
    if (!equal_bytes(only, Span::of(before))) return 0;
    if (equal_bytes(only, Span::of(now))) return 2;
    return replace_only(path, slot, held, Span::of(now));
  }
  PayloadSet set = held.set;
  if (!Sets::contains(memory_, set, Span::of(before))) return 0;
  const int inserted = Sets::insert(memory_, set, Span::of(now));
  if (inserted == 1) Sets::erase(memory_, set, Span::of(before));
  if (set != held.set) Layout::assign(leaf, slot, {{}, set});
  return inserted == 0 ? 2 : inserted;
}

// Replaces the only payload of a key.
template <class Layout>
int Tree<Layout>::replace_only(Path& path, uint32_t slot, const Value& held, Span now) {
  Value value{now};
  if (!Layout::fits_inline(*path.node[0], now.size)) {
    value.set = Sets::make(memory_, now);
    if (value.set == 0) return KEYDROME_NO_MEMORY;
  }
  if (!store(path, slot, value)) {
    if (value.set != 0) Sets::drop(memory_, value.set);
    return KEYDROME_NO_MEMORY;
  }
  if (held.set != 0) Sets::drop(memory_, held.set);
  return 1;
}

}  // namespace keydrome::btree
