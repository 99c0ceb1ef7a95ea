// Implements the functions of TreeBase (tree.h) that take the tree latch, the latch of threads that
// replace nodes (version.h).
#include "structures/btree_olc/changes.h"
#include "structures/btree_olc/rebuild.h"
#include "structures/btree_olc/search/plain.h"
#include "structures/btree_olc/tree.h"

namespace keydrome::btree_olc {
namespace {

using In = NodeSearch<SearchPlain>;

Position position_of(Node* root, const Probe& probe) {
  return position_below<SearchPlain>(root, probe);
}

}  // namespace

int TreeBase::put_with_tree_latch(const Pair& pair) {
  const TreeLatch::Held held(tree_latch_);
  Rebuild rebuild(*this, Probe::at(pair));
  Node& leaf = rebuild.leaf();
  const uint32_t slot = In::place(leaf, Probe::at(pair));
  if (Leaf::holds(leaf, slot, pair)) return 0;
  if (Leaf::insert(leaf, slot, pair)) {
    rebuild.leaf_is_changed();
    return 1;
  }
  return rebuild.insert(slot, pair) ? 1 : KEYDROME_NO_MEMORY;
}

void TreeBase::merge(const Probe& probe) {
  const TreeLatch::Held held(tree_latch_);
  Rebuild rebuild(*this, probe);
  if (should_merge(rebuild.leaf().count)) rebuild.merge();
}

// Keeps both leaves latched until both are changed. So every reader sees exactly one of the two
// pairs.
int TreeBase::replace_with_tree_latch(const Pair& before, const Pair& now) {
  const TreeLatch::Held held(tree_latch_);
  Rebuild old(*this, Probe::at(before));
  const uint32_t from = In::place(old.leaf(), Probe::at(before));
  if (!Leaf::holds(old.leaf(), from, before)) return 0;
  if (leaf_below<SearchPlain>(root(), Probe::at(now)) == &old.leaf()) {
    const int result = replace_in_leaf<SearchPlain>(root(), old.leaf(), before, now);
    if (result == 1) old.leaf_is_changed();
    if (result != kNotInLeaf) return result;
    const uint32_t to = In::place(old.leaf(), Probe::at(now));
    return old.insert_instead(to, now, from) ? 1 : KEYDROME_NO_MEMORY;
  }
  Rebuild other(*this, Probe::at(now));
  const uint32_t to = In::place(other.leaf(), Probe::at(now));
  if (Leaf::holds(other.leaf(), to, now)) return 2;
  if (Leaf::insert(other.leaf(), to, now)) {
    other.leaf_is_changed();
  } else if (!other.insert(to, now)) {
    return KEYDROME_NO_MEMORY;
  }
  Leaf::erase(old.leaf(), from);
  old.leaf_is_changed();
  return 1;
}

// Latches all leaves up to the one with the answer, so that they do not change meanwhile. There may
// be many: an empty leaf stays in the tree if a deletion got no memory to merge it.
int TreeBase::find_with_tree_latch(const Probe& probe, KeydromeBuffer& payload) const {
  const TreeLatch::Held held(tree_latch_);
  Answer answer = Answer::kEnd;
  uint32_t latched = 0;
  Probe from = probe;
  for (bool more = true; more && answer == Answer::kEnd; ++latched) {
    const Position position = position_of(root(), from);
    position.leaf->version.latch();
    answer = In::find(*position.leaf, from, probe.key, payload);
    more = continues_after(position.high, probe.key);
    if (more) from = Probe::at(position.high.pair);
  }
  from = probe;
  for (; latched > 0; --latched) {
    const Position position = position_of(root(), from);
    position.leaf->version.unlatch(false);
    if (position.high.exists) from = Probe::at(position.high.pair);
  }
  return answer == Answer::kFound ? 1 : 0;
}

}  // namespace keydrome::btree_olc
