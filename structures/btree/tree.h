// Tree: a B+-tree over (key, payload) pairs. The layout says what nodes look like: Fixed
// (fixed/node.h) for keys of 4 or 8 bytes, Text (text/node.h) for all others. Read one of them
// first.
//
// Source: R. Bayer, E. McCreight, "Organization and Maintenance of Large Ordered Indexes", 1972;
// short separators as in R. Bayer, K. Unterauer, "Prefix B-Trees", 1977.
//
// Invariants (check.h tests them): all leaves have the same depth. No node but the root is empty,
// and an inner root has two children or more. Keys are unique; several payloads of a key are a set
// (payloads.h). Leaves are not linked: a scan keeps its path from the root, and prefetches the next
// leaves of the parent.
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Errors: KEYDROME_NO_MEMORY; the tree is then unchanged (rewrite.h).
#pragma once

#include <cstdint>

#include "structures/btree/memory.h"
#include "structures/btree/payloads.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

// The largest height. A root has at least 16 items when it is split, so a tree of this height has
// more pairs than any address space can hold.
inline constexpr uint32_t kLevels = 24;

template <class Layout>
class Tree {
 public:
  using Node = Layout::Node;

  // Takes over the root. The destructor frees nothing: see clear().
  Tree(const Memory& memory, Node* root, uint32_t key_bytes)
      : memory_(memory), root_(root), key_bytes_(key_bytes) {}

  int put(KeydromeBytes key, KeydromeBytes payload);                            // insert.h
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now);      // insert.h
  int del(KeydromeBytes key, KeydromeBytes payload);                            // erase.h
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer* out) const;  // find.h
  void find_batch(uint32_t count, KeydromeLookup* lookups) const;               // find.h
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const;  // scan.h

  int load(const KeydromeRun& run);  // bulk.h
  // Moves the keys >= `key` to `high`, an empty tree. Returns false if out of memory.
  bool split(KeydromeBytes key, Tree& high);
  // Adds all pairs of `high`, which must come after all pairs of this tree. The root of `high` is
  // then nullptr. Returns 0 or KEYDROME_NO_MEMORY.
  int concat(Tree& high);

  // Frees all nodes and sets. The tree cannot be used after that.
  void clear();
  // Returns 0, or the number of the first broken invariant.
  int check() const;  // check.h
  uint64_t statistic(uint32_t which) const;

  Node* root() const { return root_; }
  const Memory& memory() const { return memory_; }

 private:
  // Probe: a key in the form that searches compare. Item: a copy of a node's slot outside of the
  // node. Items: a list of such copies. Separator: the boundary between two children. Sets:
  // functions on sets of payloads.
  using Probe = Layout::Probe;
  using Item = Layout::Item;
  using Items = Layout::Items;
  using Separator = Layout::Separator;
  using Sets = Layout::Sets;
  class Change;
  struct Checker;
  struct Counter;

  // The nodes from the root to a leaf, which is node[0]. at[level] is the index of the child of
  // node[level] that is next on the path.
  struct Path {
    Node* node[kLevels];
    uint32_t at[kLevels + 1];
  };

  // The two parts of a node that split() divides. An empty part is nullptr.
  struct Halves {
    Node* low = nullptr;
    Node* high = nullptr;
  };

  // New nodes for one parent: `count` nodes replace `old` children, from the child `first` on. If
  // there are two new nodes, `separator` is between them. `append`: the change was an insertion at
  // the right edge of the tree, so the right new node should stay nearly empty.
  struct Replacement {
    uint32_t first;
    uint32_t old;
    bool append;
    uint32_t count;
    Node* nodes[2];
    Separator separator;
  };

  Probe probe_of(KeydromeBytes key) const { return Layout::probe(Span::of(key), key_bytes_); }
  bool holds(KeydromeBytes key) const { return Layout::holds(Span::of(key), key_bytes_); }

  __attribute__((always_inline)) const Node* leaf_of(const Probe& probe) const {
    const Node* node = root_;
    while (node->level > 0) {
      const uint32_t index = Layout::child_index(*node, probe);
      const Node* child = Layout::child(*node, index);
      Layout::ask(*node, index, child, probe);
      node = child;
    }
    return node;
  }
  // Finds the path to the leaf of a key. Prefetches the leaf for writing.
  __attribute__((always_inline)) void descend(const Probe& probe, Path& path) const {
    Node* node = root_;
    for (uint32_t level = node->level; level > 0; --level) {
      path.node[level] = node;
      path.at[level] = Layout::child_index(*node, probe);
      Node* child = Layout::child(*node, path.at[level]);
      if (level == 1) {
        Layout::ask_to_write(child);
      } else {
        Layout::ask(*node, path.at[level], child, probe);
      }
      node = child;
    }
    path.node[0] = node;
  }

  int put_in(Path& path, const Probe& probe, Span payload);
  int add_payload(Path& path, uint32_t slot, Span payload);
  bool insert_item(Path& path, uint32_t slot, const Item& item);
  bool grow_and_insert(Path& path, uint32_t slot, const Item& item);
  bool share_and_insert(Path& path, uint32_t slot, const Item& item);
  bool split_and_insert(Path& path, uint32_t slot, const Item& item, bool append);
  bool store(Path& path, uint32_t slot, const Value& value);
  int replace_only(Path& path, uint32_t slot, const Value& held, Span now);

  void erase_slot(Path& path, uint32_t slot);
  bool merge(Path& path, uint32_t level);
  void shrink_root();

  bool rewrite(Path& path, uint32_t level, const Items& items, Replacement part, Change& change);
  bool hang(Path& path, uint32_t level, const Replacement& part, Change& change);
  static bool hang_in_place(Node& parent, const Replacement& part);

  bool emit_slot(const Node& leaf, uint32_t slot, const PayloadBound& bound,
                 KeydromeRun& run) const;
  void descend_to_scan(const Probe& probe, uint32_t pairs, Path& path) const;
  bool next_leaf(Path& path, uint32_t pairs) const;
  void answer(const Node& leaf, const Probe& probe, KeydromeLookup& lookup) const;

  bool divide(const Path& path, uint32_t level, const Memory& high_memory, Halves& halves,
              Change& low_change, Change& high_change);
  bool join(Tree& high, const Separator& separator);
  bool join_equal(Tree& high, const Separator& separator, Change& change);
  void clear(Node* node);

  Memory memory_;
  Node* root_;
  uint32_t key_bytes_;  // the size of all keys; Text ignores it
};

}  // namespace keydrome::btree
