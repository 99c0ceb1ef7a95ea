// Lookup: searches the directory for a leaf, and a leaf for the smallest payload of a key. `Search`
// does the comparisons inside a node or a group of a leaf (search.h, search_avx512.h). All
// functions are templates, so each kind of processor has its own copies.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"
#include "structures/csb/directory.h"
#include "structures/csb/entry.h"
#include "structures/csb/leaf.h"
#include "structures/csb/record.h"

namespace keydrome::csb {

// Copies the smallest payload of the key that is larger than the payload of the probe if `after` is
// true, and not smaller otherwise. `leaf` is the leaf of the probe. Returns 1, or 0 if there is
// none. In read.cc.
int find_from(const Leaf& leaf, const Probe& key, bool after, KeydromeBuffer& payload);

template <class Search>
class Lookup {
 public:
  static uint32_t slot(const Directory& directory, const Probe& probe) {
    const uint64_t head = directory.head_for(probe);
    return slot_in(directory, bottom_node(directory, head), head, probe);
  }
  static Leaf* leaf(const Directory& directory, const Probe& probe) {
    return directory.leaf_of(slot(directory, probe), probe);
  }

  static int find(const Directory& directory, KeydromeBytes key, KeydromeBytes after,
                  KeydromeBuffer& payload) {
    const Probe from = Probe::of(key, after);
    const Leaf& place = *leaf(directory, from);
    place.prefetch();
    if (after.data != nullptr) return find_from(place, from, true, payload);
    return answer(place, from, payload);
  }

  // Runs groups of kTogether lookups step by step: while one lookup waits for memory, the others
  // use the processor.
  static void find_batch(const Directory& directory, uint32_t count, KeydromeLookup* lookups) {
    constexpr uint32_t kTogether = 16;
    for (uint32_t begin = 0; begin < count; begin += kTogether) {
      const uint32_t group = std::min(kTogether, count - begin);
      std::array<Step, kTogether> steps;
      for (uint32_t i = 0; i < group; ++i) {
        Step& step = steps[i];
        step.key = Probe::of(lookups[begin + i].key, {nullptr, 0});
        step.head = directory.head_for(step.key);
        step.node = bottom_node(directory, step.head);
      }
      for (uint32_t i = 0; i < group; ++i) {
        Step& step = steps[i];
        const uint32_t slot = slot_in(directory, step.node, step.head, step.key);
        step.leaf = directory.leaf_of(slot, step.key);
        __builtin_prefetch(step.leaf);
      }
      for (uint32_t i = 0; i < group; ++i) prefetch_group(*steps[i].leaf, steps[i].key.head);
      for (uint32_t i = 0; i < group; ++i) prefetch_record(*steps[i].leaf, steps[i].key.head);
      for (uint32_t i = 0; i < group; ++i) {
        KeydromeLookup& lookup = lookups[begin + i];
        lookup.found = answer(*steps[i].leaf, steps[i].key, lookup.payload);
      }
    }
  }

 private:
  // A lookup of a batch.
  struct Step {
    Probe key;
    uint64_t head;
    uint32_t node;
    const Leaf* leaf;
  };

  // Returns the last head of the node that is not larger than `head`, as an index into the level.
  // The first head of a node is never larger. Unused heads have the largest value, so a search for
  // this value also counts them; std::min corrects this.
  static uint32_t step(const Directory& directory, uint32_t level, uint32_t node, uint64_t head) {
    const uint32_t smaller = Search::at_most(directory.node(level, node), head);
    return std::min(node * Directory::kFanout + smaller, directory.size(level)) - 1;
  }
  // Returns a node of level 0.
  static uint32_t bottom_node(const Directory& directory, uint64_t head) {
    uint32_t node = 0;
    for (uint32_t level = directory.levels() - 1; level > 0; --level) {
      node = step(directory, level, node, head);
    }
    __builtin_prefetch(directory.node(0, node));
    directory.prefetch_leaf_of(node * Directory::kFanout);
    return node;
  }
  static uint32_t slot_in(const Directory& directory, uint32_t node, uint64_t head,
                          const Probe& probe) {
    return directory.settle(step(directory, 0, node, head), head, probe);
  }

  // Returns the number of entries with smaller heads.
  static uint32_t first_head(const Leaf& leaf, uint64_t head) {
    const uint32_t first = Search::group(leaf.group_heads.data(), head) * Leaf::kGroup;
    return first + Search::below(&leaf.entries[first], head);
  }
  // Prefetches the two cache lines of the group that first_head() will choose. Must be inlined
  // always, because GCC 12 removes calls of a function that only prefetches.
  [[gnu::always_inline]] static void prefetch_group(const Leaf& leaf, uint64_t head) {
    const Entry* first = &leaf.entries[Search::group(leaf.group_heads.data(), head) * Leaf::kGroup];
    __builtin_prefetch(first);
    __builtin_prefetch(first + Leaf::kGroup / 2);
  }
  [[gnu::always_inline]] static void prefetch_record(const Leaf& leaf, uint64_t head) {
    if (leaf.kind != Kind::kRecords) return;
    const uint32_t index = first_head(leaf, head);
    if (index < leaf.count) __builtin_prefetch(leaf.entries[index].record);
  }

  // Copies the smallest payload of the key. Usually the leaf has the pair, and is of word pairs.
  static int answer(const Leaf& leaf, const Probe& key, KeydromeBuffer& payload) {
    if (leaf.kind == Kind::kWords) {
      const uint32_t index = first_head(leaf, key.head);
      if (index < leaf.count) {
        const Entry& entry = leaf.entries[index];
        if (entry.head != key.head) return 0;
        std::memcpy(payload.data, &entry.payload, kWordBytes);
        payload.size = kWordBytes;
        return 1;
      }
    }
    return find_from(leaf, key, false, payload);
  }
};

}  // namespace keydrome::csb
