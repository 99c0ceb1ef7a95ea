// Defines Leaf, a sorted block of pairs. Leaves are linked in the order of their pairs.
//
// A *head* is eight bytes of a key as a number (record.h). A leaf has eight groups of eight
// entries. Its first cache line has the first head of every group but the first. A search reads
// this line to choose a group, and then the two lines of the group. All entries of a leaf are of
// one kind (entry.h). The last entry contains the link to the next leaf, and no pair.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "structures/csb/entry.h"
#include "structures/csb/record.h"
#include "structures/csb/search.h"

namespace keydrome::csb {

struct alignas(64) Leaf {
  static constexpr uint32_t kGroup = 8;
  static constexpr uint32_t kCapacity = 63;
  // The head of unused entries and of the last entry. No head is larger.
  static constexpr uint64_t kUnused = UINT64_MAX;

  std::array<uint64_t, kCapacity / kGroup> group_heads;
  uint32_t count = 0;
  Kind kind;
  std::array<Entry, kCapacity + 1> entries;

  explicit Leaf(Kind its_kind) : kind(its_kind) {
    group_heads.fill(kUnused);
    entries.fill({kUnused, {}});
  }

  Leaf*& next() { return entries[kCapacity].next; }
  const Leaf* next() const { return entries[kCapacity].next; }

  // Returns the index of the first pair that is not smaller than the probe. Compares pairs only if
  // their head is equal to that of the probe.
  uint32_t lower_bound(const Probe& probe) const {
    const uint32_t begin = first_head(probe.head);
    if (begin >= count || entries[begin].head != probe.head) return begin;
    const auto is_smaller = [&](const Entry& entry) {
      return entry.head == probe.head && entry.compare_pair(kind, probe) < 0;
    };
    // The usual case, because few keys have equal heads.
    if (!is_smaller(entries[begin])) return begin;
    const Entry* first = entries.data() + begin + 1;
    const Entry* end = entries.data() + count;
    return static_cast<uint32_t>(std::partition_point(first, end, is_smaller) - entries.data());
  }

  bool has(uint32_t index, const Probe& pair) const {
    return index < count && entries[index].head == pair.head &&
           entries[index].compare_pair(kind, pair) == 0;
  }

  // Compares the pair at `index` with a probe.
  int compare_at(uint32_t index, const Probe& probe) const {
    const Entry& entry = entries[index];
    if (entry.head != probe.head) return entry.head < probe.head ? -1 : 1;
    return entry.compare_pair(kind, probe);
  }

  void insert(uint32_t index, const Entry& entry) {
    std::memmove(&entries[index + 1], &entries[index], (count - index) * sizeof(Entry));
    entries[index] = entry;
    ++count;
    update_groups(index);
  }

  void erase(uint32_t index) {
    std::memmove(&entries[index], &entries[index + 1], (count - index - 1) * sizeof(Entry));
    --count;
    entries[count] = {kUnused, {}};
    update_groups(index);
  }

  // Moves the pairs from `begin` on to the end of the leaf `to`, which has the same kind.
  void move_tail(uint32_t begin, Leaf* to) {
    const uint32_t moved = count - begin;
    const uint32_t end = to->count;
    std::memcpy(&to->entries[end], &entries[begin], moved * sizeof(Entry));
    to->count += moved;
    to->update_groups(end);
    std::fill(&entries[begin], entries.data() + count, Entry{kUnused, {}});
    count = begin;
    update_groups(begin);
  }

  // Returns the number of entries with smaller heads.
  uint32_t first_head(uint64_t head) const {
    const uint32_t group = SearchPlain::group(group_heads.data(), head);
    return group * kGroup + SearchPlain::below(&entries[group * kGroup], head);
  }

  // Prefetches all cache lines of the leaf, so that a search does not wait for group_heads first
  // and then for a group.
  [[gnu::always_inline]] void prefetch() const {
    const auto* bytes = reinterpret_cast<const char*>(this);
#pragma GCC unroll 17  // fewer instructions, so more lookups overlap
    for (size_t at = 0; at < sizeof(Leaf); at += 64) {
      __builtin_prefetch(bytes + at);
    }
  }

  // Returns true if group_heads and the unused entries are right. For check().
  bool has_right_groups() const {
    for (uint32_t i = 0; i < group_heads.size(); ++i) {
      if (group_heads[i] != entries[(i + 1) * kGroup].head) return false;
    }
    return std::all_of(entries.begin() + count, entries.end(),
                       [](const Entry& entry) { return entry.head == kUnused; });
  }

 private:
  // Updates group_heads for all groups from the entry at `index` on.
  void update_groups(uint32_t index) {
    for (uint32_t i = (index + kGroup - 1) / kGroup; i <= group_heads.size(); ++i) {
      if (i > 0) group_heads[i - 1] = entries[i * kGroup].head;
    }
  }
};
static_assert(offsetof(Leaf, entries) == 64 && sizeof(Leaf) == 17 * 64);

}  // namespace keydrome::csb
