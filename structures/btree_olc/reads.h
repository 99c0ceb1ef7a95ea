// Reads: the calls of the tree that do not change it. They take no latch, except for a lookup that
// would have to read more than eight leaves (find_from). All functions are templates, because they
// are compiled for several kinds of processors (table_*.cc).
#pragma once

#include <algorithm>
#include <cstdint>

#include "keydrome/structure.h"
#include "structures/btree_olc/position.h"
#include "structures/btree_olc/search.h"
#include "structures/btree_olc/seen.h"
#include "structures/btree_olc/tree.h"

namespace keydrome::btree_olc {

// Finds the leaf that contains the place of a probe, i.e. a place between two pairs (pair.h). If
// the leaf is obsolete, the caller must search again from the root.
template <class Search>
[[gnu::always_inline]] inline Node* leaf_below(Node* node, const Probe& probe) {
  using In = NodeSearch<Search>;
  for (uint32_t level = node->level; level > 0; --level) {
    const Inner& here = inner(*node);
    node = here.child(In::child_index(here, probe));
    In::ask(here, node);
  }
  return node;
}

template <class Search>
Position position_below(Node* root, const Probe& probe) {
  Position position{root, {}, nullptr, 0, {}};
  for (uint32_t level = root->level; level > 0; --level) {
    const Inner& node = inner(*position.leaf);
    position.parent = &node;
    position.parent_high = position.high;
    position.at = NodeSearch<Search>::child_index(node, probe);
    if (position.at < node.count) position.high = {node.separator(position.at), true};
    position.leaf = node.child(position.at);
    NodeSearch<Search>::ask(node, position.leaf);
  }
  return position;
}

template <class Search>
class Reads : public TreeBase {
 public:
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
    const Probe probe{Span::of(key), Span::of(after), after.data != nullptr};
    for (;;) {
      const Node& leaf = *leaf_below<Search>(root(), probe);
      const uint64_t version = leaf.version.begin();
      if (Version::is_obsolete(version)) continue;
      const Answer answer = In::find(leaf, probe, probe.key, payload);
      if (!leaf.version.is_unchanged(version)) continue;
      if (answer == Answer::kEnd) return find_from(probe, payload);
      return answer == Answer::kFound ? 1 : 0;
    }
  }

  // Takes a group of lookups down the tree level by level, so that their cache misses overlap (S.
  // Chen, P. Gibbons, T. Mowry, "Improving Index Performance through Prefetching", SIGMOD 2001).
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
    for (uint32_t begin = 0; begin < count; begin += kGroup) {
      const uint32_t size = std::min(kGroup, count - begin);
      const Node* nodes[kGroup];
      std::fill_n(nodes, size, root());
      Span keys[kGroup];
      for (uint32_t i = 0; i < size; ++i) keys[i] = Span::of(lookups[begin + i].key);
      const uint32_t height = nodes[0]->level;
      for (uint32_t level = height; level > 0; --level) {
        const bool is_cached = level + 1 >= height;  // the upper two levels stay in the caches
        for (uint32_t i = 0; i < size && !is_cached; ++i) In::ask_second(*nodes[i], {keys[i], {}});
        for (uint32_t i = 0; i < size; ++i) {
          const Inner& node = inner(*nodes[i]);
          nodes[i] = node.child(In::child_index(node, {keys[i], {}}));
          ask_lines(nodes[i], 0, 1);
        }
      }
      for (uint32_t i = 0; i < size; ++i) In::ask_second(*nodes[i], {keys[i], {}});
      for (uint32_t i = 0; i < size; ++i) answer(*nodes[i], lookups[begin + i]);
    }
  }

  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const noexcept {
    keydrome_run_clear(&run);
    Probe probe{Span::of(key), Span::of(payload), after, after && payload.data == nullptr};
    Position position = position_below<Search>(root(), probe);
    for (uint32_t ahead = 1; ahead <= leaves_ahead(run); ++ahead) position.ask_ahead(ahead);
    for (;;) {
      const uint32_t size = run.size;
      const uint32_t pairs = run.pairs;
      const uint64_t version = position.leaf->version.begin();
      const Answer answer =
          Version::is_obsolete(version) ? Answer::kTorn : In::emit(*position.leaf, probe, run);
      if (answer == Answer::kTorn || !position.leaf->version.is_unchanged(version)) {
        run.size = size;
        run.pairs = pairs;
        position = position_below<Search>(root(), probe);
        continue;
      }
      if (answer != Answer::kEnd) return 1;
      if (!position.high.exists) return 0;
      if (run.pairs == run.limit) return 1;
      probe = Probe::at(position.high.pair);
      if (!position.move_right()) position = position_below<Search>(root(), probe);
      position.ask_ahead(leaves_ahead(run));
    }
  }

 protected:
  using In = NodeSearch<Search>;
  using TreeBase::TreeBase;

 private:
  static constexpr uint32_t kGroup = 24;  // lookups whose cache misses overlap

  // Returns how many more leaves the rest of the run probably needs, at most 3.
  static uint32_t leaves_ahead(const KeydromeRun& run) {
    constexpr uint32_t kPairsPerLeaf = 38;
    return std::min((run.limit - run.pairs + kPairsPerLeaf / 2) / kPairsPerLeaf, 3u);
  }

  void answer(const Node& leaf, KeydromeLookup& lookup) const {
    const Probe probe{Span::of(lookup.key), {}};
    const uint64_t version = leaf.version.begin();
    const Answer answer = In::find(leaf, probe, probe.key, lookup.payload);
    const bool is_sure = !Version::is_obsolete(version) && answer != Answer::kEnd &&
                         leaf.version.is_unchanged(version);
    lookup.found = is_sure ? static_cast<int32_t>(answer == Answer::kFound)
                           : find(lookup.key, {}, lookup.payload);
  }

  // Finds the first pair after the place. The payloads of a key may be in several leaves, so this
  // function continues with the next leaves.
  int find_from(const Probe& probe, KeydromeBuffer& payload) const {
    for (;;) {
      Seen seen;
      Probe from = probe;
      Answer answer = Answer::kEnd;
      while (answer == Answer::kEnd) {
        if (seen.is_full()) return find_with_tree_latch(probe, payload);
        const Position position = position_below<Search>(root(), from);
        const uint64_t version = position.leaf->version.begin();
        if (Version::is_obsolete(version)) continue;
        seen.add(position.leaf, version);
        answer = In::find(*position.leaf, from, probe.key, payload);
        if (!continues_after(position.high, probe.key)) break;
        from = Probe::at(position.high.pair);
      }
      if (!seen.are_unchanged()) continue;
      return answer == Answer::kFound ? 1 : 0;
    }
  }
};

}  // namespace keydrome::btree_olc
