// Defines Node, a node of a T-tree: a sorted array of entries (keys, entry.h) and two children.
// Nodes are also linked in the order of their keys.
//
// A *head* is the first eight bytes of a key as a number. The first cache line of a node has its
// smallest and its largest head. So a search reads one line of each node on its way, and the
// entries of only the node in which it ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "structures/ttree/entry.h"

namespace keydrome::ttree {

struct alignas(64) Node {
  static constexpr uint32_t kCapacity = 64;
  // The capacity of the first node of a tree. It is small, because each key with several payloads
  // has a tree of its own for them, and most such trees have few payloads.
  static constexpr uint32_t kCapacityFirst = 4;

  uint64_t min_head = 0;  // of the first entry
  uint64_t max_head = 0;  // of the last entry
  Node* left = nullptr;
  Node* right = nullptr;
  Node* previous = nullptr;
  Node* next = nullptr;
  uint32_t count = 0;
  uint16_t capacity;
  uint8_t height = 1;  // 1 + the larger height of the two children; 0 for a missing child

  explicit Node(uint32_t entries) : capacity(static_cast<uint16_t>(entries)) {}

  static size_t bytes(uint32_t entries) { return sizeof(Node) + entries * sizeof(Entry); }
  size_t bytes() const { return bytes(capacity); }

  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
  const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }

  bool is_full() const { return count == capacity; }
  bool is_leaf() const { return left == nullptr && right == nullptr; }
  bool has_both() const { return left != nullptr && right != nullptr; }

  // The node must not be empty.
  bool begins_after(const Probe& probe) const {
    if (probe.head != min_head) return probe.head < min_head;
    return compare(entries()[0], probe) > 0;
  }
  bool ends_before(const Probe& probe) const {
    if (probe.head != max_head) return probe.head > max_head;
    return compare(entries()[count - 1], probe) < 0;
  }

  // Returns the index of the first entry that is not smaller than the probe. Compares heads first,
  // without branches.
  uint32_t lower_bound(const Probe& probe) const {
    const Entry* first = entries();
    for (uint32_t size = count; size > 1;) {
      const uint32_t half = size / 2;
      first += first[half - 1].head < probe.head ? half : 0;  // a conditional move
      size -= half;
    }
    first += count > 0 && first->head < probe.head ? 1 : 0;
    const auto is_smaller = [&](const Entry& entry) {
      return entry.head == probe.head && compare(entry, probe) < 0;
    };
    const Entry* end = entries() + count;
    if (first != end && is_smaller(*first))
      first = std::partition_point(first + 1, end, is_smaller);
    return static_cast<uint32_t>(first - entries());
  }

  void insert(uint32_t index, const Entry& entry) {
    Entry* place = entries() + index;
    std::memmove(static_cast<void*>(place + 1), place, (count - index) * sizeof(Entry));
    *place = entry;
    ++count;
    set_bounds();
  }
  void erase(uint32_t index) {
    Entry* place = entries() + index;
    std::memmove(static_cast<void*>(place), place + 1, (count - index - 1) * sizeof(Entry));
    --count;
    set_bounds();
  }

  // Moves the last entries of this node to the beginning of `to`.
  void move_tail(uint32_t moved, Node& to) {
    std::memmove(static_cast<void*>(to.entries() + moved), to.entries(), to.count * sizeof(Entry));
    std::memcpy(static_cast<void*>(to.entries()), entries() + count - moved, moved * sizeof(Entry));
    finish_move(moved, to);
  }
  // Moves the first entries of this node to the end of `to`.
  void move_front(uint32_t moved, Node& to) {
    std::memcpy(static_cast<void*>(to.entries() + to.count), entries(), moved * sizeof(Entry));
    std::memmove(static_cast<void*>(entries()), entries() + moved, (count - moved) * sizeof(Entry));
    finish_move(moved, to);
  }

  void set_height() {
    height = static_cast<uint8_t>(1 + std::max(height_of(left), height_of(right)));
  }
  static int height_of(const Node* node) { return node == nullptr ? 0 : node->height; }

 private:
  void set_bounds() {
    if (count == 0) return;
    min_head = entries()[0].head;
    max_head = entries()[count - 1].head;
  }
  void finish_move(uint32_t moved, Node& to) {
    count -= moved;
    to.count += moved;
    set_bounds();
    to.set_bounds();
  }
};
static_assert(sizeof(Node) == 64);

}  // namespace keydrome::ttree
