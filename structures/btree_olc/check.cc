// Implements check() and statistic() of TreeBase (tree.h): checks the invariants of the tree, for
// tests, and counts nodes.
#include "structures/btree_olc/build.h"
#include "structures/btree_olc/leaf.h"
#include "structures/btree_olc/tree.h"

namespace keydrome::btree_olc {
namespace {

// Return values of check(): the first broken invariant.
enum Broken : int {
  kSound = 0,
  kHeight,     // a node is not one level below its parent
  kFill,       // an inner node has only one child
  kOrder,      // pairs or separators do not ascend, or are outside the node's bounds
  kHead,       // a head (node.h) does not fit its pair, or the summary is wrong
  kRecords,    // the records do not have as many bytes as the node says
  kLeftBehind  // a leaf is latched or obsolete
};

bool is_before(const Pair& a, const Pair& b) { return compare(a, Probe::at(b)) < 0; }

Broken broken_slots(const Node& node, const Fences& fences) {
  for (uint32_t slot = 0; slot < node.count; ++slot) {
    const SlotPair held(node, slot);
    const Pair& pair = held.get();
    if (fences.low.exists && is_before(pair, fences.low.pair)) return kOrder;
    if (fences.high.exists && !is_before(pair, fences.high.pair)) return kOrder;
    if (slot > 0 && !is_before(SlotPair(node, slot - 1).get(), pair)) return kOrder;
    if (node.heads[slot] != head_in(node, pair)) return kHead;
  }
  for (uint32_t slot = node.count; slot < kSlots; ++slot) {
    if (node.heads[slot] != kNoHead) return kHead;
  }
  for (uint32_t group = 1; group < kGroups; ++group) {
    if (node.summary[group - 1] != node.heads[8 * group]) return kHead;
  }
  return kSound;
}

bool has_sound_records(const TextNode& node) {
  uint32_t live = 0;
  for (uint32_t slot = 0; slot < node.count; ++slot) {
    Pair pair{};
    if (!node.read(slot, pair)) return false;
    live += TextNode::kRecordHeader + pair.key.size + pair.payload.size;
  }
  return live + node.dead == node.heap;
}

int check_node(const Node& node, uint32_t level, const Fences& fences) {
  if (node.level != level) return kHeight;
  if (level > 0 && node.count == 0) return kFill;
  if (level == 0 && !node.version.is_free()) return kLeftBehind;
  if (node.kind != Kind::kNumbers && !has_sound_records(text(node))) return kRecords;
  if (const Broken broken = broken_slots(node, fences); broken != kSound) return broken;
  for (uint32_t i = 0; level > 0 && i <= node.count; ++i) {
    const Inner& parent = inner(node);
    Fences own = fences;
    if (i > 0) own.low = {parent.separator(i - 1), true};
    if (i < parent.count) own.high = {parent.separator(i), true};
    if (const int broken = check_node(*parent.child(i), level - 1, own); broken != 0) return broken;
  }
  return kSound;
}

struct Counts {
  uint64_t nodes = 0;
  uint64_t used = 0;

  void add(const Node& node) {
    ++nodes;
    used += node.used() + (node.level > 0 ? 1u : 0u);
    for (uint32_t i = 0; node.level > 0 && i <= node.count; ++i) add(*inner(node).child(i));
  }
};

}  // namespace

int TreeBase::check() const { return check_node(*root(), root()->level, {}); }

uint64_t TreeBase::statistic(uint32_t which) const {
  const Node& top = *root();
  if (which == KEYDROME_STATISTIC_HEIGHT) return top.level + 1u;
  Counts counts;
  counts.add(top);
  switch (which) {
    case KEYDROME_STATISTIC_NODES:
      return counts.nodes;
    case KEYDROME_STATISTIC_SLOTS:
      return counts.nodes * kSlots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return counts.used;
    default:
      return 0;
  }
}

}  // namespace keydrome::btree_olc
