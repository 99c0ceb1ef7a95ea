// Set: a T-tree, i.e. a balanced binary tree (AVL) whose nodes have many entries each.
//
// A node *bounds* a key if the key is not smaller than the node's first key and not larger than its
// last key. All keys of the left subtree are smaller than those of the node, and all keys of the
// right subtree are larger. So a search goes left or right until a node bounds the key.
//
// Source: T. Lehman, M. Carey, "A Study of Index Structures for Main Memory Database Management
// Systems", VLDB 1986.
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Ownership: a set owns its nodes, and its user owns the items.
#pragma once

#include <array>
#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/ttree/entry.h"
#include "structures/ttree/node.h"

namespace keydrome::ttree {

// The place of an entry, or the end of the set if `node` is nullptr.
struct Place {
  Node* node = nullptr;
  uint32_t index = 0;

  Entry& entry() const { return node->entries()[index]; }
  bool has(const Probe& probe) const { return node != nullptr && compare(entry(), probe) == 0; }
  void advance() {
    if (++index < node->count) return;
    node = node->next;
    index = 0;
  }
};

class Set {
 public:
  explicit Set(const StructureMemory& memory) : memory_(memory) {}
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
  ~Set();

  uint64_t size() const { return size_; }
  const Node* root() const { return root_; }

  Place first() const;
  // Returns the place of the first entry that is not smaller than the probe.
  Place lower_bound(const Probe& probe) const {
    Node* larger = nullptr;
    for (Node* node = root_; node != nullptr;) {
      if (node->begins_after(probe)) {
        larger = node;
        node = node->left;
      } else if (node->ends_before(probe)) {
        node = node->right;
      } else {
        return {node, node->lower_bound(probe)};
      }
    }
    return {larger, 0};
  }
  // Inserts an item whose key, the probe, is not in the set. Returns false if out of memory.
  bool insert(const Probe& probe, Item item);  // insert.cc
  // Erases the entry whose key is the probe. There must be one.
  void erase(const Probe& probe);  // erase.cc

 private:
  // The path from the root to a node: the addresses of the links that lead to its nodes. 64 levels
  // are enough: a larger AVL tree has more nodes than memory has bytes.
  struct Path {
    std::array<Node**, 64> links;
    uint32_t size = 0;

    void push(Node** link) { links[size++] = link; }
    Node* node() const { return *links[size - 1]; }
  };

  Path path_to(const Probe& probe);
  Node* make_node(uint32_t capacity);
  void drop(Node* node) { memory_.retire(node, node->bytes(), alignof(Node)); }
  bool grow();
  bool insert_in_bounds(Path& path, const Entry& entry, const Probe& probe);
  void link_leaf(Path& path, Node** link, Node* leaf, const Entry& entry);
  void settle(Path& path);
  void unlink(Node* node);
  void rebalance(Path& path);
  static Node* balance(Node* node);
  static Node* rotate_left(Node* node);
  static Node* rotate_right(Node* node);

  const StructureMemory memory_;
  Node* root_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace keydrome::ttree
