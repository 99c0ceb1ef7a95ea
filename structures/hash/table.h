// Table: a hash table that grows by linear hashing. All public functions except check may run at
// the same time.
//
// Linear hashing (W. Litwin, VLDB 1980) splits one bucket at a time. Let the table have B buckets,
// and let b be the number of bits in which the numbers of all buckets fit. The low b bits of a hash
// are the number of its bucket. If this bucket does not exist yet, the low b - 1 bits are the
// number.
//
// A split makes the bucket with number B. All its entries come from one old bucket, whose number is
// B without its highest bit. Only the old bucket is locked during the split. Buckets are in arrays
// (*segments*), each as large as all earlier ones together. Segments never move.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/cache_line.h"
#include "structures/hash/line.h"
#include "structures/hash/payloads.h"
#include "structures/hash/probe.h"

namespace keydrome::hash {

class Table {
 public:
  static constexpr uint64_t kFirstBuckets = 64;

  // Throws std::bad_alloc if out of memory.
  Table(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept;
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept;
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;
  int check() const;
  uint64_t statistic(uint32_t which) const;

 private:
  static constexpr uint32_t kSegments = 48;
  // When the table has kLoadMax entries per bucket, a round begins that splits all buckets. It ends
  // when the number of buckets has doubled. During the round, each insertion splits up to
  // kSplitsPerPut buckets.
  static constexpr uint64_t kLoadMax = 2;
  static constexpr uint32_t kSplitsPerPut = 4;
  // The number of entries is the sum of kStripes counters (*stripes*). The hash of a key selects
  // the stripe that counts its entry. With a single counter, all threads would write the same cache
  // line. Each stripe is also a sample, from which an insertion estimates the sum.
  static constexpr uint64_t kStripes = 64;

  // The place of an entry.
  struct Place {
    Line* line = nullptr;  // nullptr: there is no such entry
    uint32_t slot = 0;
  };
  // A bucket that this thread has locked.
  struct Locked {
    Line* home;
    uint32_t version;  // the version before this thread locked the bucket
  };
  // Builds the two chains of a split.
  class Split;

  static uint64_t bucket_of(uint64_t hash, uint64_t buckets) {
    const uint64_t mask = UINT64_MAX >> __builtin_clzll(buckets);
    const uint64_t bucket = hash & mask;
    // Not a condition, because the compiler would turn it into a branch, and no processor can
    // predict the bits of a hash.
    return bucket & ~(-static_cast<uint64_t>(bucket >= buckets) & ~(mask >> 1));
  }
  // Segments 0 to k together have the first kFirstBuckets * 2^k buckets.
  static uint32_t segment_of(uint64_t bucket) {
    constexpr uint64_t kFirst = kFirstBuckets - 1;
    return static_cast<uint32_t>(std::bit_width(bucket | kFirst) - std::bit_width(kFirst));
  }
  static uint64_t first_of(uint32_t segment) {
    return segment == 0 ? 0 : kFirstBuckets << (segment - 1);
  }
  static uint64_t size_of(uint32_t segment) {
    return segment == 0 ? kFirstBuckets : first_of(segment);
  }
  // The element of `segments_` is the address of the segment minus the size of all buckets before
  // it. So one addition gives the address of a bucket.
  Line* home_of(uint64_t bucket) const {
    const uintptr_t origin = segments_[segment_of(bucket)].load(std::memory_order_acquire);
    return reinterpret_cast<Line*>(origin + bucket * sizeof(Line));
  }
  uint64_t buckets() const { return buckets_.load(std::memory_order_acquire); }
  uint64_t hash_at(const Line& line, uint32_t slot) const {
    const uint64_t key = line.read_key(slot);
    return narrow_ ? Probe::hash_of_word(key) : key;
  }
  Bytes key_at(const Content& content) const;

  bool read_inline(uint64_t word, KeydromeBuffer& payload) const;
  int find_any(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const;
  bool read(const Probe& probe, const Bytes* after, KeydromeBuffer& payload) const;
  enum class Answer { kFound, kNone, kAgain };
  Answer try_read(const Line& home, uint32_t version, const Probe& probe, const Bytes* after,
                  KeydromeBuffer& payload) const;

  Locked lock(uint64_t hash) const;
  static void unlock(const Locked& locked, bool changed);
  Place locate(const Locked& locked, const Probe& probe) const;
  bool append(Line* home, uint64_t key, const Content& content);
  int insert(const Locked& locked, const Probe& probe, Bytes payload);
  void remove(Line* home, const Place& place);
  void count(uint64_t hash, int64_t difference);

  void grow(uint64_t hash);
  bool split_next();
  bool has_segment(uint32_t segment);
  uint64_t lines() const;
  uint64_t entries() const;
  int check_bucket(uint64_t bucket, uint64_t& entries) const;
  int check_content(const Content& content) const;

  const Memory memory_;
  const bool narrow_;  // all keys have the same size, at most 8 bytes
  std::atomic<uint64_t> buckets_ = 0;
  std::array<std::atomic<uintptr_t>, kSegments> segments_{};  // 0: not allocated
  alignas(kCacheLine) std::atomic<bool> splitting_ = false;
  // The number of buckets at the end of the current round; between rounds, the number of buckets.
  std::atomic<uint64_t> wanted_ = kFirstBuckets;
  std::array<Padded<std::atomic<int64_t>>, kStripes> stripes_;
};

}  // namespace keydrome::hash
