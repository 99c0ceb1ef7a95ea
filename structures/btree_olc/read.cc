// Implements the functions of Tree that do not change it.
#include <algorithm>

#include "structures/btree_olc/tree.h"

namespace keydrome::btree_olc {
namespace {

constexpr uint32_t kGroup = 24;  // lookups of a batch that wait for memory at the same time

// Leaves that a lookup has read, with their versions.
class Seen {
 public:
  static constexpr uint32_t kMost = 8;

  bool is_full() const { return count_ == kMost; }
  void add(const Node* leaf, uint64_t version) { all_[count_++] = {leaf, version}; }
  // Whether there was a moment at which all leaves were as they were read: after the last was read,
  // and before this call.
  bool are_unchanged() const {
    return std::all_of(all_, all_ + count_,
                       [](const One& one) { return one.leaf->version.is_unchanged(one.version); });
  }

 private:
  struct One {
    const Node* leaf;
    uint64_t version;
  };

  One all_[kMost];
  uint32_t count_ = 0;
};

bool continues_after(const Fence& high, Span key) {
  return high.exists && equal_bytes(high.pair.key, key);
}

}  // namespace

Tree::Position Tree::position_of(const Probe& probe) const {
  Position position{root(), {}, nullptr, 0, {}};
  while (position.leaf->level > 0) {
    const Inner& node = inner(*position.leaf);
    position.parent = &node;
    position.parent_high = position.high;
    position.at = child_index(node, probe);
    if (position.at < node.count) position.high = {node.separator(position.at), true};
    position.leaf = node.child(position.at);
    ask_to_search(position.leaf);
  }
  return position;
}

// Moves to the next child of the parent. Returns false if there is none. The parent may have been
// replaced meanwhile: the child is then obsolete, or still the leaf with these pairs.
bool Tree::move_right(Position& position) const {
  if (position.parent == nullptr || position.at == position.parent->count) return false;
  const Inner& parent = *position.parent;
  ++position.at;
  position.leaf = parent.child(position.at);
  position.high = position.at < parent.count ? Fence{parent.separator(position.at), true}
                                             : position.parent_high;
  return true;
}

int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  const Probe probe{Span::of(key), Span::of(after), after.data != nullptr};
  for (;;) {
    const Node& leaf = *leaf_of(probe);
    const uint64_t version = leaf.version.begin();
    if (Version::is_obsolete(version)) continue;
    const Answer answer = Leaf::find(leaf, probe, probe.key, payload);
    if (!leaf.version.is_unchanged(version)) continue;
    if (answer == Answer::kEnd) return find_from(probe, payload);
    return answer == Answer::kFound ? 1 : 0;
  }
}

// Finds the first pair after the place if it may be in another leaf than leaf_of(probe). It is
// there if the payloads of the key are in several leaves.
int Tree::find_from(const Probe& probe, KeydromeBuffer& payload) const {
  for (;;) {
    Seen seen;
    Probe from = probe;
    Answer answer = Answer::kEnd;
    while (answer == Answer::kEnd) {
      if (seen.is_full()) return find_with_latches(probe, payload);
      const Position position = position_of(from);
      const uint64_t version = position.leaf->version.begin();
      if (Version::is_obsolete(version)) continue;
      seen.add(position.leaf, version);
      answer = Leaf::find(*position.leaf, from, probe.key, payload);
      if (!continues_after(position.high, probe.key)) break;
      from = Probe::at(position.high.pair);
    }
    if (!seen.are_unchanged()) continue;
    return answer == Answer::kFound ? 1 : 0;
  }
}

// The same, if there are many empty leaves: a deletion could not remove them, because it got no
// memory. Latches the leaves up to the answer. With the tree latch, no leaf is replaced.
int Tree::find_with_latches(const Probe& probe, KeydromeBuffer& payload) const {
  const TreeLatch::Held held(tree_latch_);
  Answer answer = Answer::kEnd;
  uint32_t latched = 0;
  Probe from = probe;
  for (bool more = true; more && answer == Answer::kEnd; ++latched) {
    const Position position = position_of(from);
    position.leaf->version.latch();
    answer = Leaf::find(*position.leaf, from, probe.key, payload);
    more = continues_after(position.high, probe.key);
    if (more) from = Probe::at(position.high.pair);
  }
  from = probe;
  for (; latched > 0; --latched) {
    const Position position = position_of(from);
    position.leaf->version.unlatch(false);
    if (position.high.exists) from = Probe::at(position.high.pair);
  }
  return answer == Answer::kFound ? 1 : 0;
}

// The lookups go down level by level, so that the memory works on all at the same time (S. Chen, P.
// Gibbons, T. Mowry, "Improving Index Performance through Prefetching", SIGMOD 2001).
void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  for (uint32_t begin = 0; begin < count; begin += kGroup) {
    const uint32_t size = std::min(kGroup, count - begin);
    const Node* nodes[kGroup];
    std::fill_n(nodes, size, root());
    for (uint32_t level = nodes[0]->level; level > 0; --level) {
      for (uint32_t i = 0; i < size; ++i) {
        const Inner& node = inner(*nodes[i]);
        nodes[i] = node.child(child_index(node, {Span::of(lookups[begin + i].key), {}}));
        ask_to_search(nodes[i]);
      }
    }
    for (uint32_t i = 0; i < size; ++i) {
      KeydromeLookup& lookup = lookups[begin + i];
      const Probe probe{Span::of(lookup.key), {}};
      const uint64_t version = nodes[i]->version.begin();
      const Answer answer = Leaf::find(*nodes[i], probe, probe.key, lookup.payload);
      const bool is_sure = !Version::is_obsolete(version) && answer != Answer::kEnd &&
                           nodes[i]->version.is_unchanged(version);
      lookup.found = is_sure ? static_cast<int32_t>(answer == Answer::kFound)
                             : find(lookup.key, {}, lookup.payload);
    }
  }
}

int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  keydrome_run_clear(&run);
  Probe probe{Span::of(key), Span::of(payload), after, after && payload.data == nullptr};
  Position position = position_of(probe);
  for (;;) {
    const uint32_t size = run.size;
    const uint32_t pairs = run.pairs;
    const uint64_t version = position.leaf->version.begin();
    const Answer answer =
        Version::is_obsolete(version) ? Answer::kTorn : Leaf::emit(*position.leaf, probe, run);
    if (answer == Answer::kTorn || !position.leaf->version.is_unchanged(version)) {
      run.size = size;
      run.pairs = pairs;
      position = position_of(probe);
      continue;
    }
    if (answer != Answer::kEnd || (run.pairs == run.limit && position.high.exists)) return 1;
    if (!position.high.exists) return 0;
    probe = Probe::at(position.high.pair);
    if (!move_right(position)) position = position_of(probe);
  }
}

}  // namespace keydrome::btree_olc
