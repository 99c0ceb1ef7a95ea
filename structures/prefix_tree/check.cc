// Implements check() and statistic() of Tree (tree.h). check() tests the invariants of the prefix
// tree, and statistic() counts nodes and slots. Both visit the whole tree. A symbol is a byte of
// key or payload, or an end mark (record.h).
#include <algorithm>

#include "structures/prefix_tree/cursor.h"
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {
namespace {

// The numbers that check() returns: the first broken invariant, or kNone.
enum Broken {
  kNone,
  kFewChildren,  // a node has fewer than two children
  kTooFull,      // a node has more children than room, or an unknown size
  kBitmap,       // bitmap, ranks and count of a node do not agree
  kDepth,        // a node is not deeper than its parent, or too deep
  kEmptyChild,   // a child is missing
  kSize,         // a key or payload is too long
  kOrder,        // records are not ascending
  kBranch,       // records do not first differ where their paths part, or do not fit their paths
};

Broken check_node(const Node& node) {
  if (node.count < 2) return kFewChildren;
  if (node.size_class >= Node::kCapacities.size() || node.count > node.capacity()) return kTooFull;
  if (node.ranks[0] > 1) return kBitmap;
  uint32_t count = node.ranks[0];
  for (uint32_t word = 0; word < node.bits.size(); ++word) {
    if (node.ranks[word] != count) return kBitmap;
    count += count_bits(node.bits[word]);
  }
  return node.count == count ? kNone : kBitmap;
}

// The recursion is at most kSymbolsMax calls deep, because it stops at a child whose depth is not
// larger.
Broken check_nodes(Slot slot, uint32_t depth_min) {
  if (slot.is_empty()) return kEmptyChild;
  if (slot.is_record()) {
    const Record& record = *slot.record();
    const bool is_right = record.key_size <= KEYDROME_KEY_BYTES_MAX &&
                          record.payload_size <= KEYDROME_PAYLOAD_BYTES_MAX;
    return is_right ? kNone : kSize;
  }
  const Node& node = *slot.node();
  if (node.depth < depth_min || node.depth >= kSymbolsMax) return kDepth;
  Broken broken = check_node(node);
  for (uint32_t i = 0; i < node.count && broken == kNone; ++i) {
    broken = check_nodes(node.children()[i], node.depth + 1u);
  }
  return broken;
}

// Checks all records in order. Let N be the last common node on the paths to two neighbouring
// records. The records must first differ at the symbol of N. Each record must also have the symbols
// of its path. It follows that all pairs below a node share the symbols before its depth.
Broken check_records(Slot root) {
  Cursor cursor;
  cursor.seek(root, Probe::of({nullptr, 0}, {nullptr, 0}), false);
  const Record* before = nullptr;
  while (const Record* record = cursor.next()) {
    uint32_t parting = kEqual;
    for (uint32_t level = 0; level < cursor.depth(); ++level) {
      const Frame& frame = cursor.frame(level);
      // N is the last node whose child on the record's path is not the first child.
      if (frame.next > 1) parting = frame.node->depth;
      const uint32_t symbol = frame.node->symbol_at(frame.next - 1);
      if (symbol_of(*record, frame.node->depth) != symbol) return kBranch;
    }
    if (before != nullptr) {
      const uint32_t position = Probe::of(*before).first_difference(*record);
      if (position != parting) return kBranch;
      if (symbol_of(*before, position) >= symbol_of(*record, position)) return kOrder;
    }
    before = record;
  }
  return kNone;
}

struct Totals {
  uint64_t height = 0;
  uint64_t nodes = 0;
  uint64_t slots = 0;
  uint64_t slots_used = 0;

  // Adds the nodes of a subtree whose root is at `level`.
  void add(Slot slot, uint64_t level) {
    if (!slot.is_node()) return;
    const Node& node = *slot.node();
    height = std::max(height, level);
    ++nodes;
    slots += node.capacity();
    slots_used += node.count;
    for (uint32_t i = 0; i < node.count; ++i) add(node.children()[i], level + 1);
  }
};

}  // namespace

int Tree::check() const {
  if (root_.is_empty()) return kNone;
  const Broken broken = check_nodes(root_, 0);
  return broken == kNone ? check_records(root_) : broken;
}

uint64_t Tree::statistic(uint32_t which) const {
  Totals totals;
  totals.add(root_, 1);
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return totals.height;
    case KEYDROME_STATISTIC_NODES:
      return totals.nodes;
    case KEYDROME_STATISTIC_SLOTS:
      return totals.slots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return totals.slots_used;
    default:
      return 0;
  }
}

}  // namespace keydrome::prefix_tree
