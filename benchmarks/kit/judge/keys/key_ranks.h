// KeyRanks: gives every key of a script (the operations of a session) its rank in the key order of
// the index API. The keys are in pools, one list for each type. The judges then compare ranks,
// which are numbers, instead of keys.
//
// Equal keys have equal ranks. The object refers to the pools, which must outlive it. Thread
// safety: immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

class KeyRanks {
 public:
  explicit KeyRanks(const script::Pools& pools);
  // Returns true if the object was made from these pools.
  bool are_of(const script::Pools& pools) const { return pools_ == &pools; }

  // Returns the rank of the key with this number in the pool of its type.
  uint32_t rank(KeyType type, uint32_t number) const { return rank_of_[type][number]; }

  // Returns how many different keys of this type there are. Every rank is smaller.
  uint32_t count(KeyType type) const { return static_cast<uint32_t>(entry_[type].size()); }

  // Prefetches what rank() reads for the key with this number. Any number is allowed.
  [[gnu::always_inline]] void prefetch(KeyType type, uint32_t number) const {
    if (number < rank_of_[type].size()) __builtin_prefetch(&rank_of_[type][number]);
  }
  // Returns true if the pool has a key with this number.
  bool has(KeyType type, uint32_t number) const { return number < rank_of_[type].size(); }

  // Prefetches the memory that bytes() reads, and the bytes of the key. The caller must call
  // prefetch_key() with each step from 0 to kPrefetchSteps - 1, with some time in between.
  static constexpr uint32_t kPrefetchSteps = 3;
  void prefetch_key(KeyType type, uint32_t rank, uint32_t step) const;

  // Returns the rank of a key that a call returned, or nothing if the key is not in the pool.
  // `bytes` is the string, or the 4 or 8 bytes of an integer in native byte order.
  // `near` is a guess: a rank that is probably equal to the key's rank or a little below it, as in
  // a scan. A good guess saves time, and a wrong one does no harm.
  std::optional<uint32_t> find(KeyType type, std::string_view bytes, uint32_t near = 0) const;

  // Return the key with this rank: bytes() in the form that find() accepts, and text() in the form
  // that findings (problems in the report) show.
  std::string_view bytes(KeyType type, uint32_t rank) const;
  std::string text(KeyType type, uint32_t rank) const { return text_of(type, bytes(type, rank)); }
  // Returns the text of any key, which need not be in the script, for a finding.
  static std::string text_of(KeyType type, std::string_view bytes);

 private:
  const script::Pools* pools_;
  std::array<std::vector<uint32_t>, 3> rank_of_;  // by key type and number in the pool
  std::array<std::vector<uint32_t>, 3> entry_;    // by key type and rank: a number in the pool
};

}  // namespace keydrome::judge
