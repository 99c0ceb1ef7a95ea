// Page: a leaf of the adaptive radix tree with 2 to 32 pairs of any size. A word page (words.h)
// takes its place if all keys and payloads have 8 bytes.
//
// Lazy expansion means that a subtree of one pair has no nodes. Pages extend this rule to subtrees
// of up to 32 pairs (S. Heinz, J. Zobel, H. Williams, "Burst Tries", 2002). The layout of a page,
// with byte offsets:
//
//   0   dead: one bit for each pair, set if the pair was deleted
//   4   tags: one byte for each pair, a hash of its key; rounded up to an even number of bytes
//   .   offsets: two bytes for each pair, the distance of its record from the first record
//   .   records, in ascending order, in the format of KeydromeRun (keydrome/structure.h)
//
// A page is *uniform* if all its keys have one size, and all its payloads have one size. A uniform
// page has no offsets.
//
// With this layout, a lookup compares 16 tags at once, and a scan copies many records at once.
// After a page has been made, only `dead` changes: bits are set, but never cleared. An insertion
// makes a new page.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "structures/art/link.h"
#include "structures/art/pair.h"

namespace keydrome::art {

inline constexpr uint32_t kRecordHead = 2;  // bytes of a record before the key: the two sizes

inline uint32_t record_size(const Pair& pair) {
  return kRecordHead + pair.key_size + pair.payload_size;
}
inline bool have_equal_sizes(const Pair& a, const Pair& b) {
  return a.key_size == b.key_size && a.payload_size == b.payload_size;
}

// Copies of this many bytes are inline, because calls of memcpy would take longer.
inline constexpr uint32_t kChunk = 16;
inline void copy_chunk(uint8_t* to, const uint8_t* from) {
  uint64_t words[2];
  std::memcpy(words, from, kChunk);
  std::memcpy(to, words, kChunk);
}

inline void copy_records(uint8_t* to, const uint8_t* from, uint32_t size) {
  if (size < kChunk) {
    for (uint32_t at = 0; at < size; ++at) to[at] = from[at];
    return;
  }
  const uint32_t last = size - kChunk;
  for (uint32_t at = 0; at < last; at += kChunk) copy_chunk(to + at, from + at);
  copy_chunk(to + last, from + last);  // may overlap the previous chunk
}

// All pairs of one key have the same tag. The hash uses the last bytes of the key, which differ
// more often than the first.
inline uint8_t tag_of(const uint8_t* key, uint32_t size) {
  uint64_t word = 0;
  if (size >= sizeof word) {
    std::memcpy(&word, key + size - sizeof word, sizeof word);
  } else if (size == sizeof(uint32_t)) {
    uint32_t half;
    std::memcpy(&half, key, sizeof half);
    word = half;
  } else {
    for (uint32_t i = 0; i < size; ++i) word = word << 8 | key[i];
  }
  return static_cast<uint8_t>((word + size) * 0x9E3779B97F4A7C15u >> 56);
}

class Page {
 public:
  explicit Page(Link link)
      : bytes_(link.at<uint8_t>()), count_(link.page_pairs()), uniform_(link.is_uniform()) {}

  static constexpr uint32_t kTagsAt = sizeof(uint32_t);
  static uint32_t offsets_at(uint32_t count) { return kTagsAt + (count + 1) / 2 * 2; }
  static uint32_t records_at(uint32_t count, bool uniform) {
    return offsets_at(count) + (uniform ? 0 : count * uint32_t{sizeof(uint16_t)});
  }

  // Returns one bit for each pair, set if the pair is live. Acquire: pairs with the release in
  // kill().
  uint32_t live() const {
    return ~dead()->load(std::memory_order_acquire) & (UINT32_MAX >> (32 - count_));
  }
  // Marks a pair as dead. The caller holds the lock of the page's owner, the node or tree that
  // contains the link to the page. So no other thread writes.
  void kill(uint32_t index) const {
    const uint32_t before = dead()->load(std::memory_order_relaxed);
    dead()->store(before | uint32_t{1} << index, std::memory_order_release);
  }

  const uint8_t* tags() const { return bytes_ + kTagsAt; }
  const uint8_t* records() const { return bytes_ + records_at(count_, uniform_); }
  uint32_t offset(uint32_t index) const {
    if (uniform_) return index * size_of_record(records());
    uint16_t offset;
    std::memcpy(&offset, bytes_ + offsets_at(count_) + index * sizeof offset, sizeof offset);
    return offset;
  }
  // Returns the offset of the first byte after the record.
  uint32_t end(uint32_t index) const {
    const uint32_t at = offset(index);
    return at + size_of_record(records() + at);
  }
  Pair pair(uint32_t index) const {
    const uint8_t* record = records() + offset(index);
    return {record + kRecordHead, record + kRecordHead + record[0], record[0], record[1]};
  }

  // If all keys have 8 bytes, narrows the range [low, high) to the pairs with the key of the probe.
  // The loop compares the probe with every key and has no branches. A binary search would have
  // branches that no processor can predict.
  void narrow(const Pair& probe, uint32_t& low, uint32_t& high) const {
    const uint8_t* record = records();
    if (!uniform_ || probe.key_size != sizeof(uint64_t) || record[0] != sizeof(uint64_t)) return;
    const uint32_t step = size_of_record(record);
    const uint64_t key = ordered_word(probe.key);
    uint32_t smaller = 0;
    uint32_t equal = 0;
    for (uint32_t i = 0; i < count_; ++i, record += step) {
      const uint64_t word = ordered_word(record + kRecordHead);
      smaller += static_cast<uint32_t>(word < key);
      equal += static_cast<uint32_t>(word == key);
    }
    low = smaller;
    high = smaller + equal;
  }

  // Returns one bit for each pair, set if the pair has this tag. The bits after the last pair have
  // no meaning.
  uint32_t matches(uint8_t tag) const {
#if defined(__SSE2__)
    // The loads end inside the page: a page with n tags has more than n bytes after the tags, and
    // at least 32 bytes (memory.h).
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(tag));
    const auto sixteen = [&](uint32_t from) {
      __m128i some;
      std::memcpy(&some, tags() + from, sizeof some);
      return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, wanted)));
    };
    return count_ <= 16 ? sixteen(0) : sixteen(0) | sixteen(16) << 16;
#else
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count_; ++i) mask |= uint32_t{tags()[i] == tag} << i;
    return mask;
#endif
  }

 private:
  static uint32_t size_of_record(const uint8_t* record) {
    return kRecordHead + record[0] + record[1];
  }
  std::atomic<uint32_t>* dead() const { return reinterpret_cast<std::atomic<uint32_t>*>(bytes_); }

  uint8_t* bytes_;
  uint32_t count_;
  bool uniform_;
};

}  // namespace keydrome::art
