// Cursor: visits the records in order, from a given pair. A Cursor is a local variable of one call.
#pragma once

#include <array>
#include <cstdint>

#include "structures/prefix_tree/node.h"
#include "structures/prefix_tree/record.h"

namespace keydrome::prefix_tree {

// A node on the path from the root, and the index of the first child after the path.
struct Frame {
  Node* node;
  uint32_t next;
};

// `frames_` has the nodes above the position. If `pending_` is not empty, it is the subtree at the
// position: the root, or child number `next` - 1 of the last frame's node.
class Cursor {
 public:
  // Moves to the first pair >= the probe, or > the probe if `after` is true.
  void seek(Slot root, const Probe& probe, bool after);

  // Returns the record at the position and moves to the next one. Returns nullptr at the end.
  const Record* next() {
    Slot slot = pending_;
    pending_ = Slot();
    while (slot.is_empty()) {
      if (depth_ == 0) return nullptr;
      Frame& top = frames_[depth_ - 1];
      if (top.next == top.node->count) {
        --depth_;
        continue;
      }
      slot = top.node->children()[top.next++];
      // Reading a record is a cache miss. Four misses at the same time take little longer than one.
      if (top.next + kAhead <= top.node->count) {
        top.node->children()[top.next + kAhead - 1].prefetch();
      }
    }
    while (!slot.is_record()) {
      Node* node = slot.node();
      slot = node->children()[0];
      for (uint32_t i = 1; i < kAhead && i < node->count; ++i) node->children()[i].prefetch();
      frames_[depth_++] = {node, 1};
    }
    return slot.record();
  }

  uint32_t depth() const { return depth_; }
  const Frame& frame(uint32_t level) const { return frames_[level]; }
  Slot pending() const { return pending_; }

 private:
  static constexpr uint32_t kAhead = 4;

  std::array<Frame, kSymbolsMax> frames_;  // entries from depth_ on are not initialised
  uint32_t depth_ = 0;
  Slot pending_;
};

}  // namespace keydrome::prefix_tree
