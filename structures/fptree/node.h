// Leaf and Inner: the nodes of a B+-tree.
//
// A leaf has room for 48 pairs, in any order. Its first cache line has one bit for each used slot,
// and a *fingerprint* of each key: one byte of the key's hash. One comparison of all fingerprints
// shows which slots may have the key. With 33 pairs in a leaf, about one search of eight finds a
// slot with an equal fingerprint but another key. A slot also has an entry and a *mark*. The mark
// says if the payload is in the entry itself (inline) or outside (pair.h).
//
// A pair may be in any slot of the leaf. So each fingerprint has a *home*: two cache lines of
// entries, in which a pair is put if a slot is free there. A search asks for the first line of the
// leaf and for the home at the same time, and usually waits for memory once. About one pair of nine
// finds its home full; with homes of one line, it would be one of five.
//
// The children of an inner node have ascending ranges of pairs. A *fence* is the boundary between
// two neighbouring nodes. It consists of a *head*, the first eight bytes of a key, and, if needed,
// a record with the rest (pair.h).
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/cache_line.h"
#include "structures/fptree/pair.h"

namespace keydrome::fptree {

struct alignas(kCacheLine) Leaf {
  static constexpr uint32_t kSlots = 48;
  static constexpr uint64_t kSlotBits = (uint64_t{1} << kSlots) - 1;
  static constexpr uint32_t kHome = 2 * kCacheLine / sizeof(Entry);  // slots of a home
  // Bit of `used` that is set while all payloads are inline and have eight bytes. Readers then need
  // no marks, which are in another cache line.
  static constexpr uint64_t kPlain = uint64_t{1} << 63;
  // Bit of `used` that is set if the boundary to the next leaf may be between two payloads of one
  // key.
  static constexpr uint64_t kDivides = uint64_t{1} << 62;

  uint64_t used = kPlain;  // one bit for each slot, and the two flags above
  Leaf* next = nullptr;
  std::array<uint8_t, kSlots> prints;
  std::array<uint8_t, kSlots> marks;
  Leaf* before = nullptr;
  uint64_t unused = 0;
  std::array<Entry, kSlots> entries;

  uint64_t slots() const { return used & kSlotBits; }
  uint32_t count() const { return static_cast<uint32_t>(std::popcount(slots())); }
  bool is_full() const { return slots() == kSlotBits; }
  bool is_plain() const { return (used & kPlain) != 0; }
  bool divides() const { return (used & kDivides) != 0; }
  uint8_t mark(uint32_t slot) const {
    return is_plain() ? static_cast<uint8_t>(kInlineBytes) : marks[slot];
  }

  // Returns one bit for each used slot with this fingerprint. Uses SSE2, which every x86-64
  // processor has.
  uint64_t matching(uint8_t print) const {
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(print));
    uint64_t found = 0;
#pragma GCC unroll 3
    for (uint32_t part = 0; part < kSlots / 16; ++part) {
      const auto* at = reinterpret_cast<const __m128i*>(prints.data() + size_t{16} * part);
      const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(at), wanted));
      found |= static_cast<uint64_t>(static_cast<uint32_t>(equal)) << (16 * part);
    }
    return found & used;
  }

  // Returns the first slot of the home of a fingerprint.
  static uint32_t home_of(uint8_t print) { return print * (kSlots / kHome) / 256 * kHome; }
  // Prefetches the home of a fingerprint.
  [[gnu::always_inline]] void ask_home(uint8_t print) const {
    const Entry* home = &entries[home_of(print)];
    __builtin_prefetch(home);
    __builtin_prefetch(home + kHome / 2);
  }
  // Returns a free slot, in the home of the fingerprint if possible. The leaf must not be full.
  uint32_t free_slot(uint8_t print) const {
    constexpr uint64_t kHomeBits = (uint64_t{1} << kHome) - 1;
    const uint64_t free = ~used & kSlotBits;
    const uint64_t at_home = free & kHomeBits << home_of(print);
    return static_cast<uint32_t>(std::countr_zero(at_home != 0 ? at_home : free));
  }

  void write(uint32_t slot, uint8_t print, uint8_t mark, const Entry& entry) {
    prints[slot] = print;
    write_content(slot, mark, entry);
    used |= uint64_t{1} << slot;
  }
  void write_content(uint32_t slot, uint8_t mark, const Entry& entry) {
    marks[slot] = mark;
    entries[slot] = entry;
    if (mark != kInlineBytes) used &= ~kPlain;
  }
  void clear(uint32_t slot) { used &= ~(uint64_t{1} << slot); }
};
static_assert(offsetof(Leaf, marks) == kCacheLine && offsetof(Leaf, entries) == 2 * kCacheLine);

// Calls `visit` with each slot of a set.
template <class Visit>
void for_each_slot(uint64_t slots, const Visit& visit) {
  for (; slots != 0; slots &= slots - 1) visit(static_cast<uint32_t>(std::countr_zero(slots)));
}

// Child i has the pairs >= fence i - 1 and < fence i.
struct alignas(kCacheLine) Inner {
  static constexpr uint32_t kFences = 63;
  static constexpr uint32_t kLine = 8;  // number of heads in a cache line
  static constexpr uint64_t kUnused = UINT64_MAX;

  // lasts[i] is the last head of cache line i of `heads`; the last line has no such entry. A search
  // compares with `lasts` first, and then reads only one line of `heads`.
  std::array<uint64_t, kLine> lasts;
  // Unused heads are kUnused, so a search need not read `count`, which is in another cache line.
  std::array<uint64_t, kFences + 1> heads;
  std::array<void*, kFences + 1> children;
  std::array<Record*, kFences> rests;
  uint32_t count = 0;  // number of fences; there is one more child
  uint32_t level = 0;  // 1 if the children are leaves

  Inner() {
    heads.fill(kUnused);
    lasts.fill(kUnused);
  }

  bool is_full() const { return count == kFences; }
  Fence fence(uint32_t index) const { return {heads[index], rests[index]}; }

  // Returns the index of the child to which the probe belongs, i.e. the number of fences that are
  // not larger.
  [[gnu::always_inline]] uint32_t child_for(const Probe& probe, bool narrow) const {
    uint32_t index = after_head(probe.head);
    // Skips larger fences with the head of the probe. There is more than one such fence only if
    // several keys have this head, or if a key has many payloads.
    while (index > 0 && heads[index - 1] == probe.head && rests[index - 1] != nullptr &&
           compare_rest(*rests[index - 1], probe, narrow) > 0) {
      --index;
    }
    return index;
  }

  // Adds a fence and the child on its right. The node must not be full.
  void insert(uint32_t index, const Fence& fence, void* right) {
    std::copy_backward(heads.begin() + index, heads.begin() + count, heads.begin() + count + 1);
    std::copy_backward(rests.begin() + index, rests.begin() + count, rests.begin() + count + 1);
    std::copy_backward(children.begin() + index + 1, children.begin() + count + 1,
                       children.begin() + count + 2);
    heads[index] = fence.head;
    rests[index] = fence.rest;
    children[index + 1] = right;
    ++count;
    copy_lasts();
  }
  // Removes a fence and the child with index `child`, which is on one side of the fence.
  void remove(uint32_t index, uint32_t child) {
    std::copy(heads.begin() + index + 1, heads.begin() + count, heads.begin() + index);
    std::copy(rests.begin() + index + 1, rests.begin() + count, rests.begin() + index);
    std::copy(children.begin() + child + 1, children.begin() + count + 1, children.begin() + child);
    heads[--count] = kUnused;
    copy_lasts();
  }
  // Keeps the first `stay` fences, drops the next one, and moves all later fences with their
  // children to the empty node `half`.
  void split(uint32_t stay, Inner& half) {
    half.level = level;
    half.count = count - stay - 1;
    std::copy_n(heads.begin() + stay + 1, half.count, half.heads.begin());
    std::copy_n(rests.begin() + stay + 1, half.count, half.rests.begin());
    std::copy_n(children.begin() + stay + 1, half.count + 1, half.children.begin());
    std::fill(heads.begin() + stay, heads.end(), kUnused);
    count = stay;
    copy_lasts();
    half.copy_lasts();
  }
  bool has_right_lasts() const {
    for (uint32_t i = 0; i + 1 < kLine; ++i) {
      if (lasts[i] != heads[kLine * i + kLine - 1]) return false;
    }
    return true;
  }

 private:
  void copy_lasts() {
    for (uint32_t i = 0; i + 1 < kLine; ++i) lasts[i] = heads[kLine * i + kLine - 1];
  }
  // Returns the number of heads that are not larger than `head`. First compares with `lasts`, which
  // selects one cache line, and then with all heads of this line. Has no branches, which the
  // processor could not predict, and no loops.
  [[gnu::always_inline]] uint32_t after_head(uint64_t head) const {
    const auto last = [&](uint32_t i) { return lasts[i] <= head ? 1u : 0u; };
    const uint32_t from =
        kLine * (last(0) + last(1) + last(2) + last(3) + last(4) + last(5) + last(6));
    static_assert(kLine == 8 && kFences == 63);
    __builtin_prefetch(&children[from]);
    const uint64_t* line = &heads[from];
    const auto counts = [&](uint32_t i) { return line[i] <= head ? 1u : 0u; };
    const uint32_t found = from + counts(0) + counts(1) + counts(2) + counts(3) + counts(4) +
                           counts(5) + counts(6) + counts(7);
    return head != kUnused ? found : count;  // unused heads are equal to kUnused
  }
};

}  // namespace keydrome::fptree
