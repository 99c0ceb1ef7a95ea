// Implements put and replace of Tree (tree.h). put adds a pair of key and payload, and replace
// exchanges a payload of a key for another one. If a text leaf (text/node.h) is full, a larger copy
// replaces the leaf. If a fixed leaf (fixed/node.h) is full, it gives pairs to a neighbour. If
// neither is possible, the leaf is split.
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

// Inserts an item into a leaf that has no room for it. Returns false, and changes nothing, if out
// of memory.
template <class Layout>
bool Tree<Layout>::insert_item(Path& path, uint32_t slot, const Item& item) {
  Node& leaf = *path.node[0];
  const bool is_root = &leaf == root_;
  const uint32_t first = is_root ? 0 : path.at[1];
  // True if the new item comes after all items of the leaf, and the leaf is the last child of its
  // parent. Keys then probably ascend, so only the new item goes to the new leaf, and the full leaf
  // stays full.
  const bool append = slot == leaf.count && (is_root || first + 1 == Layout::items(*path.node[1]));
  if constexpr (Layout::kGrows) {
    if (Layout::may_grow(leaf, item)) return grow_and_insert(path, slot, item);
    Items items;
    Layout::gather(leaf, items);
    items.insert(slot, item);
    Change change(memory_);
    return rewrite(path, 0, items, {first, 1, append, 0, {}, {}}, change);
  } else {
    if (!is_root && !append && share_and_insert(path, slot, item)) return true;
    return split_and_insert(path, slot, item, append);
  }
}

template <class Layout>
bool Tree<Layout>::grow_and_insert(Path& path, uint32_t slot, const Item& item) {
  Node* leaf = path.node[0];
  Change change(memory_);
  Node* larger = change.made(Layout::grown(memory_, *leaf, item));
  if (larger == nullptr) return false;
  Layout::insert(*larger, slot, item);
  change.replaced(leaf);
  return hang(path, 0, {leaf == root_ ? 0 : path.at[1], 1, false, 1, {larger}, {}}, change);
}

// Moves items of the full leaf to a neighbour with the same parent, and then inserts the new item.
// Returns false if no neighbour has room.
template <class Layout>
bool Tree<Layout>::share_and_insert(Path& path, uint32_t slot, const Item& item) {
  Node& parent = *path.node[1];
  Node& leaf = *path.node[0];
  const uint32_t leaf_at = path.at[1];
  uint32_t right_at = leaf_at;
  if (leaf_at + 1 < Layout::items(parent) &&
      Layout::can_share(leaf, *Layout::child(parent, leaf_at + 1))) {
    right_at = leaf_at + 1;
    Layout::give_right(leaf, *Layout::child(parent, right_at));
  } else if (leaf_at > 0 && Layout::can_share(leaf, *Layout::child(parent, leaf_at - 1))) {
    Layout::give_left(*Layout::child(parent, leaf_at - 1), leaf);
  } else {
    return false;
  }
  Node& left = *Layout::child(parent, right_at - 1);
  Node& right = *Layout::child(parent, right_at);
  Layout::assign_separator(parent, right_at, Layout::first_key(right));
  // If the new key lies between the keys of the two nodes, it becomes the last key of the left
  // node.
  if (&leaf == &left) {
    if (slot <= left.count) return Layout::insert(left, slot, item);
    return Layout::insert(right, slot - left.count, item);
  }
  const uint32_t given = Layout::kSlots - right.count;
  if (slot <= given) return Layout::insert(left, left.count - given + slot, item);
  return Layout::insert(right, slot - given, item);
}

template <class Layout>
bool Tree<Layout>::split_and_insert(Path& path, uint32_t slot, const Item& item, bool append) {
  Node* leaf = path.node[0];
  const uint32_t keep = append ? leaf->count : (leaf->count + 1u) / 2;
  Change change(memory_);
  Node* right = change.made(Layout::copy_from(memory_, *leaf, keep));
  if (right == nullptr) return false;
  const Separator separator = append ? Layout::key_of(item) : Layout::first_key(*right);
  const uint32_t first = leaf == root_ ? 0 : path.at[1];
  if (!hang(path, 0, {first, 1, append, 2, {leaf, right}, separator}, change)) return false;
  Layout::truncate(*leaf, keep);
  if (append || slot > keep) return Layout::insert(*right, slot - keep, item);
  return Layout::insert(*leaf, slot, item);
}

// Adds a payload to a key that the tree already contains.
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
