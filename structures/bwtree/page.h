// Page: the contents of a node of the tree, and its Slot, the place that points to the contents.
//
// The tree links nodes by their slots. A slot never moves, so a change of a node exchanges only the
// pointer in the slot. This pointer leads to the newest *delta*, a record of one change. Each delta
// points to the next older delta, and the oldest points to the *base*, which contains pairs in
// order. Deltas and bases never change, so readers need no latches.
//
//     slot -> insert (c, 1) -> delete (a, 7) -> base [(a, 5) (a, 7) (b, 2)] -> slot on the right
//
// Only leaves have deltas. An inner page is a base alone: it changes once in about fifty
// insertions, but every search reads it.
//
// Thread safety: slots are atomic. The rest does not change after a slot points to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "structures/bwtree/pair.h"

namespace keydrome::bwtree {

// A page with more pairs or children is split.
inline constexpr uint32_t kPairsMax = 96;
// A leaf with this many deltas gets a new base.
inline constexpr uint32_t kDeltasUsual = 8;
// If a leaf has this many deltas, a change must first make a new base. Only threads that run at the
// same time, or lack of memory, cause more deltas than kDeltasUsual.
inline constexpr uint32_t kDeltasMax = 24;

struct Page;
struct Base;

// All threads see loads and changes of slots in one order (seq_cst). So a thread that reads one
// slot, then another one, and then finds the first one unchanged, knows that both had these
// contents at one moment: that of the second load. No address comes back during a call, because the
// runtime frees retired memory only after the call.
struct Slot {
  std::atomic<const Page*> page;
  // Where the base of a leaf is (guess.h). It may be out of date, so it is only for prefetching.
  std::atomic<uint64_t> hint = 0;
};

enum class Kind : uint8_t {
  kBase,
  kInsert,
  kDelete,
  kRemoved  // the page is being merged with the page to its left
};

// What all kinds of contents begin with.
struct Page {
  Kind kind;
  uint8_t level;    // 0: leaf
  uint16_t deltas;  // number of deltas from this one to the base
  uint32_t count;   // pairs of the page, or children of an inner page

  bool is_removed() const { return kind == Kind::kRemoved; }
};

// Sorted pairs. In an inner page, each pair is the lower bound of the pairs below a child. Memory
// after the struct:
//
//     inner page        97 heads, children, offsets, records
//     page of numbers   pairs, upper bound
//     any other leaf    heads, offsets, records
//
// The head of a key is its first eight bytes after the prefix, padded with zeros, as a big-endian
// number. An inner page always has 97 heads, so the loops of its search have a constant length. The
// unused ones are as large as the upper bound. If all keys and payloads of a leaf have eight bytes,
// its pairs are these 16 bytes each. So a key and its payload are usually in one cache line. A
// record is the size of the key, the size of the payload, the key, and the payload. The last record
// is the upper bound of the page, if there is one.
struct Base : Page {
  Slot* right;         // the next page of the level, or nullptr
  uint64_t high_head;  // the head of the upper bound, as a number; only if has_high
  uint32_t bytes;      // size of the base with all that follows it
  uint8_t prefix;      // number of bytes that all keys begin with; 0 if all keys are short
  bool has_high;
  bool has_numbers;

  static constexpr uint32_t kHead = 8;  // bytes of a head, a child, or a key in a page of numbers
  static constexpr uint32_t kNumber = 2 * kHead;  // bytes of a pair in a page of numbers
  static constexpr uint32_t kInnerHeads = kPairsMax + 1;

  const char* content() const { return reinterpret_cast<const char*>(this + 1); }
  // REQUIRES: no page of numbers.
  const uint64_t* heads() const { return reinterpret_cast<const uint64_t*>(content()); }
  // REQUIRES: a page of numbers.
  const char* number(uint32_t index) const { return content() + size_t{kNumber} * index; }
  uint64_t head(uint32_t index) const {
    return has_numbers ? load_big(number(index)) : heads()[index];
  }
  Slot* const* children() const {
    return reinterpret_cast<Slot* const*>(content() + size_t{kHead} * kInnerHeads);
  }
  // The offsets of the records from the beginning of the base. REQUIRES: no page of numbers.
  const uint16_t* offsets() const {
    const uint32_t before = level > 0 ? kInnerHeads + count : count;
    return reinterpret_cast<const uint16_t*>(content() + size_t{kHead} * before);
  }
  // Returns where the record of a pair begins. For `count`, returns where the records of all pairs
  // end; there the upper bound begins, if there is one. A page of numbers has no other record.
  uint32_t record_at(uint32_t index) const {
    if (has_numbers) return sizeof(Base) + kNumber * count;
    return index < count || has_high ? offsets()[index] : bytes;
  }
  Pair pair(uint32_t index) const {
    if (has_numbers && index < count) {
      return {{number(index), kHead}, {number(index) + kHead, kHead}};
    }
    const char* record = reinterpret_cast<const char*>(this) + record_at(index);
    const auto key = static_cast<uint8_t>(record[0]);
    return {{record + 2, key}, {record + 2 + key, static_cast<uint8_t>(record[1])}};
  }
  // The head of unused places in an inner page. A search never counts it, because the position is
  // before the upper bound.
  uint64_t unused_head() const { return has_high && prefix == 0 ? high_head : ~uint64_t{0}; }
  // REQUIRES: has_high. All pairs of the page are smaller.
  Pair high() const { return pair(count); }
  // Returns true if a position belongs to a page further to the right.
  bool ends_before(const Probe& probe) const {
    if (!has_high || probe.head < high_head) return false;
    return compare(high(), probe) <= 0;
  }
};
static_assert(sizeof(Base) % Base::kHead == 0 && sizeof(Slot*) == Base::kHead);

// Returns the mark of a key: one byte of a hash of the key's head.
inline uint8_t mark_of(uint64_t head) {
  return static_cast<uint8_t>((head * 0x9E3779B97F4A7C15u) >> 56);
}

// A change of a leaf: the insertion or deletion of one pair. The pair follows the struct in memory.
//
// `marks` has a byte for the key of this delta and for those of all older ones. So a search for one
// key usually reads the newest delta and the base, but no delta between them.
struct Delta : Page {
  // A search reads `base` and the first marks most often. They come first, so that they are more
  // likely to be in the same cache line as the beginning of the delta.
  const Base* base;
  uint8_t marks[kDeltasMax];
  const Page* next;  // older delta, or base
  uint64_t head;     // of the key
  uint8_t key_size;
  uint8_t payload_size;

  // Returns false if neither this delta nor an older one has a key with this head. Looks at eight
  // marks at once. An unused mark is 0, so it may cause a false result, but seldom.
  bool may_have(uint64_t key_head) const {
    constexpr uint64_t kOnes = 0x0101010101010101;
    const uint64_t wanted = kOnes * mark_of(key_head);
    uint64_t zeros = 0;
    for (uint32_t at = 0; at < deltas; at += sizeof wanted) {
      uint64_t eight;
      std::memcpy(&eight, marks + at, sizeof eight);
      eight ^= wanted;
      zeros |= (eight - kOnes) & ~eight & kOnes << 7;  // not 0 if one of the eight bytes is 0
    }
    return zeros != 0;
  }

  // Sets everything that depends on the page that the delta changes.
  // REQUIRES: page.deltas < kDeltasMax, and no other thread knows the delta.
  void put_before(const Page& page);

  static size_t bytes(const Pair& pair) {
    return sizeof(Delta) + pair.key.size() + pair.payload.size();
  }
  size_t bytes() const { return sizeof(Delta) + key_size + payload_size; }
  Pair pair() const {
    const char* key = reinterpret_cast<const char*>(this + 1);
    return {{key, key_size}, {key + key_size, payload_size}};
  }
};

// A page that is merged with the page to its left, `left`. `frozen` is what the page contained.
struct Removed : Page {
  Slot* left;
  const Page* frozen;
};

inline const Base& base(const Page& page) { return static_cast<const Base&>(page); }
inline const Delta& delta(const Page& page) { return static_cast<const Delta&>(page); }
inline const Removed& removed(const Page& page) { return static_cast<const Removed&>(page); }

// Returns the base of a page. The base of a removed page is that of its frozen contents.
inline const Base& base_of(const Page& page) {
  const Page& content = page.is_removed() ? *removed(page).frozen : page;
  return content.kind == Kind::kBase ? base(content) : *delta(content).base;
}

// Returns true if the leaf contains the pair. The leaf is not a removed one. `share` is the
// estimated position of the pair in the leaf (guess.h), and only affects the speed.
bool contains(const Page& leaf, const Probe& pair, uint32_t share);

}  // namespace keydrome::bwtree
