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
  uint16_t deltas;  // from here to the base
  uint32_t count;   // pairs of the page, or children of an inner page

  bool is_removed() const { return kind == Kind::kRemoved; }
};

// Sorted pairs. In an inner page, each pair is the lower bound of the pairs below a child. Memory
// after the struct:
//
//     inner page        heads, children, offsets, records
//     page of numbers   heads, values, upper bound
//     any other leaf    heads, offsets, records
//
// The head of a key is its first eight bytes after the prefix, in their order, padded with zeros.
// If all keys and payloads of a leaf have eight bytes, its heads are the keys, and its values the
// payloads. A record is the size of the key, the size of the payload, the key, and the payload. The
// last record is the upper bound of the page, if there is one.
struct Base : Page {
  Slot* right;         // the next page of the level, or nullptr
  uint64_t high_head;  // the head of the upper bound, as a number; only if has_high
  uint32_t bytes;      // size of the base with all that follows it
  uint8_t prefix;      // number of bytes that all keys begin with; 0 if all keys are short
  bool has_high;
  bool has_numbers;

  static constexpr uint32_t kHead = 8;  // bytes of a head, child or value

  const char* head_bytes(uint32_t index) const {
    return reinterpret_cast<const char*>(this + 1) + size_t{kHead} * index;
  }
  uint64_t head(uint32_t index) const { return load_big(head_bytes(index)); }
  const char* value_bytes(uint32_t index) const { return head_bytes(count + index); }
  Slot* const* children() const { return reinterpret_cast<Slot* const*>(head_bytes(count)); }
  // The offsets of the records from the beginning of the base. REQUIRES: no page of numbers.
  const uint16_t* offsets() const {
    return reinterpret_cast<const uint16_t*>(head_bytes(level > 0 ? 2 * count : count));
  }
  // Returns where the record of a pair begins. For `count`, returns where the records of all pairs
  // end; there the upper bound begins, if there is one. A page of numbers has no other record.
  uint32_t record_at(uint32_t index) const {
    if (has_numbers) return sizeof(Base) + 2 * kHead * count;
    return index < count || has_high ? offsets()[index] : bytes;
  }
  Pair pair(uint32_t index) const {
    if (has_numbers && index < count) {
      return {{head_bytes(index), kHead}, {value_bytes(index), kHead}};
    }
    const char* record = reinterpret_cast<const char*>(this) + record_at(index);
    const auto key = static_cast<uint8_t>(record[0]);
    return {{record + 2, key}, {record + 2 + key, static_cast<uint8_t>(record[1])}};
  }
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
  const Page* next;  // older delta, or base
  const Base* base;
  uint64_t head;  // of the key
  uint8_t marks[kDeltasMax];
  uint8_t key_size;
  uint8_t payload_size;

  // Returns false if neither this delta nor an older one has a key with this head.
  bool may_have(uint64_t key_head) const {
    return std::memchr(marks, mark_of(key_head), deltas) != nullptr;
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

// Prefetches the beginning of a base: usually all heads, and most values or offsets.
[[gnu::always_inline]] inline void ask(const Base* base) {
  constexpr uint32_t kLine = 64;
  constexpr uint32_t kLines = 16;
#pragma GCC unroll 16
  for (uint32_t line = 0; line < kLines; ++line) {
    __builtin_prefetch(reinterpret_cast<const char*>(base) + kLine * line);
  }
}

inline const Base& base(const Page& page) { return static_cast<const Base&>(page); }
inline const Delta& delta(const Page& page) { return static_cast<const Delta&>(page); }
inline const Removed& removed(const Page& page) { return static_cast<const Removed&>(page); }

// Returns the base of a page. The base of a removed page is that of its frozen contents.
inline const Base& base_of(const Page& page) {
  const Page& content = page.is_removed() ? *removed(page).frozen : page;
  return content.kind == Kind::kBase ? base(content) : *delta(content).base;
}

// Returns the number of pairs of a base that are before the position. If `with_equal` is true, also
// counts a pair for which compare() with the position returns 0 (pair.h).
uint32_t pairs_before(const Base& base, const Probe& probe, bool with_equal);

// Returns the child that has the pairs after the position. REQUIRES: the page is an inner one.
inline uint32_t child_index(const Base& inner, const Probe& probe) {
  const uint32_t before = pairs_before(inner, probe, true);
  return before == 0 ? 0 : before - 1;
}

// Returns true if the leaf contains the pair. The leaf is not a removed one.
bool contains(const Page& leaf, const Probe& pair);

}  // namespace keydrome::bwtree
