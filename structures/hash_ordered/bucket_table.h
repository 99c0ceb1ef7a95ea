// BucketTable: an array of buckets. A bucket holds the pairs whose codes are in one interval.
//
// A table is made for given pairs. A *symbol* is a byte of key or payload, or an end mark (pair.h).
// The symbols with which all these pairs begin are the *prefix* of the table. The code of the
// symbols after the prefix chooses the bucket. The table divides the range from the smallest to the
// largest code of these pairs into intervals of equal size. Pairs that come later and are outside
// of this range, or have another prefix, belong to the first or the last bucket. So the order of
// the buckets is the order of the pairs.
//
// Thread safety: threads may call const functions at the same time, as long as no thread changes
// the table.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "structures/hash_ordered/code.h"
#include "structures/hash_ordered/pair.h"

namespace keydrome::hash_ordered {

__extension__ using Wide = unsigned __int128;

class BucketTable;

// What a bucket holds: nothing, a list of nodes in ascending order, or a table. One word.
class Bucket {
 public:
  Bucket() = default;
  explicit Bucket(Node* list) : word_(reinterpret_cast<uintptr_t>(list)) {}
  explicit Bucket(BucketTable* table) : word_(reinterpret_cast<uintptr_t>(table) | kIsTable) {}

  bool empty() const { return word_ == 0; }
  bool is_table() const { return (word_ & kIsTable) != 0; }
  Node* list() const { return reinterpret_cast<Node*>(word_); }
  BucketTable* table() const { return reinterpret_cast<BucketTable*>(word_ - kIsTable); }
  // What the bucket holds, for a prefetch.
  const void* address() const { return reinterpret_cast<const void*>(word_ & ~kIsTable); }

 private:
  static constexpr uintptr_t kIsTable = 1;  // nodes and tables have even addresses

  uintptr_t word_ = 0;
};

// In memory, three things follow this object: the buckets, a bitmap of the buckets that are not
// empty, and the pair that the prefix comes from.
class BucketTable {
 public:
  // The size of a new table: the number of buckets for its present pairs, at least 2. `below` adds
  // the same number again for smaller pairs that may come later, and `above` for larger ones.
  struct Room {
    uint32_t buckets = 2;
    bool below = false, above = false;
  };

  // Says how a table divides its pairs.
  struct Division {
    uint32_t prefix = 0;  // number of symbols in the prefix of the table
    uint32_t mark = 0;    // 1 if an end mark follows each key; 0 if all keys have one size
    Alphabet alphabet = Alphabet::kBytes;
    uint64_t base = 0;  // the smallest code of the range that is divided
    // 2^64 * (buckets / codes): how many buckets one code takes up, as a fraction of 2^64. 0 if
    // each code has a bucket of its own.
    uint64_t factor = 0;
    uint32_t buckets = 0;

    // Returns a division for the pairs between `first` and `last`, which must differ. The two are
    // in different buckets.
    static Division of(const Probe& first, const Probe& last, uint32_t mark, const Room& room);
  };

  static size_t bytes(const Division& division, const Probe& reference);
  size_t bytes() const { return bytes(division_, reference()); }

  // Constructs a table without pairs in memory of bytes(division, reference) bytes. `reference` is
  // one of the pairs that the table is made for.
  static BucketTable* make(void* memory, const Division& division, const Probe& reference);

  uint32_t buckets() const { return division_.buckets; }
  const Division& division() const { return division_; }
  uint32_t bucket_of(const Probe& pair) const;

  Bucket& at(uint32_t bucket) { return slots()[bucket]; }
  const Bucket& at(uint32_t bucket) const { return slots()[bucket]; }
  // Updates the bitmap. Must be called after a bucket has become empty, or is no longer empty.
  void note(uint32_t bucket);
  // Returns the first bucket from `bucket` on that is not empty, or buckets() if there is none.
  uint32_t occupied(uint32_t bucket) const;
  // Returns the last bucket that is not empty. There must be one.
  uint32_t last_occupied() const;

  // The number of pairs in the table, and what it was when the table was made.
  uint64_t pairs = 0;
  uint64_t pairs_made = 0;

 private:
  static constexpr uint32_t kWordBits = 64;

  explicit BucketTable(const Division& division) : division_(division) {}

  static size_t words(uint32_t buckets) { return (buckets + kWordBits - 1) / kWordBits; }
  Bucket* slots() { return reinterpret_cast<Bucket*>(this + 1); }
  const Bucket* slots() const { return reinterpret_cast<const Bucket*>(this + 1); }
  uint64_t* bitmap() { return reinterpret_cast<uint64_t*>(slots() + division_.buckets); }
  const uint64_t* bitmap() const {
    return reinterpret_cast<const uint64_t*>(slots() + division_.buckets);
  }
  char* text() { return reinterpret_cast<char*>(bitmap() + words(division_.buckets)); }
  const char* text() const {
    return reinterpret_cast<const char*>(bitmap() + words(division_.buckets));
  }
  Probe reference() const;
  // Compares the first symbols of the pair with the prefix. Returns < 0 if they are smaller, 0 if
  // they are equal, and > 0 if they are larger.
  int compare_prefix(const Probe& pair) const;

  Division division_;
  uint8_t reference_key_ = 0, reference_payload_ = 0;  // sizes
};

inline uint32_t BucketTable::bucket_of(const Probe& pair) const {
  if (division_.prefix > 0) {
    const int order = compare_prefix(pair);
    if (order != 0) return order < 0 ? 0 : division_.buckets - 1;
  }
  const uint64_t code = code_of(pair, division_.prefix, division_.mark, division_.alphabet);
  if (code <= division_.base) return 0;
  uint64_t bucket = code - division_.base;
  if (division_.factor != 0) {
    bucket = static_cast<uint64_t>(static_cast<Wide>(bucket) * division_.factor >> 64);
  }
  return bucket < division_.buckets ? static_cast<uint32_t>(bucket) : division_.buckets - 1;
}

}  // namespace keydrome::hash_ordered
