// Implements scan of Tree (tree.h), which copies pairs in order into a run, i.e. a buffer of the
// caller, until the run is full or no pair is left.
#pragma once

#include <algorithm>
#include <cstdint>

#include "structures/btree/tree.h"

namespace keydrome::btree {

template <class Layout>
int Tree<Layout>::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
                       KeydromeRun& run) const {
  PayloadBound bound{Span::of(payload), after};
  bool past_key = after && payload.data == nullptr;
  if (!holds(key)) {  // the probe is then the key, cut or padded with zeros to key_bytes_
    past_key = key.size > key_bytes_;
    bound = {};
  }
  keydrome_run_clear(&run);
  const Probe probe = probe_of(key);
  Path path;
  descend_to_scan(probe, run.limit, path);
  bool same;
  uint32_t slot = Layout::place(*path.node[0], probe, same);
  if (same && past_key) {
    ++slot;
  } else if (same && bound.payload.data != nullptr) {
    if (!emit_slot(*path.node[0], slot, bound, run)) return 1;
    ++slot;
  }
  for (;;) {
    const Node& leaf = *path.node[0];
    while (slot < leaf.count) {
      if (!Layout::emit(leaf, slot, key_bytes_, run)) return 1;
      if (slot == leaf.count) break;
      if (!emit_slot(leaf, slot, {}, run)) return 1;
      ++slot;
    }
    if (run.pairs == run.limit) return 1;
    if (!next_leaf(path, run.limit - run.pairs)) return 0;
    slot = 0;
  }
}

// Appends the payloads of one slot. Returns false if the run is full.
template <class Layout>
bool Tree<Layout>::emit_slot(const Node& leaf, uint32_t slot, const PayloadBound& bound,
                             KeydromeRun& run) const {
  uint8_t bytes[KEYDROME_KEY_BYTES_MAX + 8];
  const Span key{bytes, Layout::key(leaf, slot, key_bytes_, bytes)};
  const Value value = Layout::value(leaf, slot);
  if (value.set != 0) return Sets::emit(memory_, value.set, bound, key, run);
  if (!bound.admits(value.payload)) return true;
  return keydrome_run_add(&run, key.bytes(), value.payload.bytes()) == 1;
}

template <class Layout>
void Tree<Layout>::descend_to_scan(const Probe& probe, uint32_t pairs, Path& path) const {
  Node* node = root_;
  for (uint32_t level = node->level; level > 0; --level) {
    const uint32_t at = Layout::child_index(*node, probe);
    path.node[level] = node;
    path.at[level] = at;
    if (level == 1) {
      const uint32_t leaves = std::min(pairs / Layout::kUsual + 1, Layout::kLeavesAhead);
      const uint32_t end = std::min(at + leaves + 1, Layout::items(*node));
      for (uint32_t i = at; i < end; ++i) Layout::ask_to_scan(Layout::child(*node, i));
    } else {
      Layout::ask(*node, at, Layout::child(*node, at), probe);
    }
    node = Layout::child(*node, at);
  }
  path.node[0] = node;
}

// Moves the path to the next leaf. Returns false if there is none.
template <class Layout>
bool Tree<Layout>::next_leaf(Path& path, uint32_t pairs) const {
  uint32_t level = 1;
  while (level <= root_->level && path.at[level] + 1 == Layout::items(*path.node[level])) ++level;
  if (level > root_->level) return false;
  ++path.at[level];
  for (; level > 0; --level) {
    path.node[level - 1] = Layout::child(*path.node[level], path.at[level]);
    path.at[level - 1] = 0;
  }
  const Node& parent = *path.node[1];
  const uint32_t ahead = path.at[1] + std::min(pairs / Layout::kUsual, Layout::kLeavesAhead);
  if (ahead < Layout::items(parent)) Layout::ask_to_scan(Layout::child(parent, ahead));
  return true;
}

}  // namespace keydrome::btree
