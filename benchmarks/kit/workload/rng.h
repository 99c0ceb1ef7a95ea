// Generates the random numbers of workloads with xoshiro256**, seeded by SplitMix64 (D. Blackman
// and S. Vigna, 2018). The referee, the process that runs a session, uses them when it generates
// scripts, i.e. the operations of the session.
//
// A sequence of random numbers depends only on seed, thread and purpose. So a change in one thread
// or purpose never changes the numbers of another. The algorithm must not change, because a change
// would alter the operations of every benchmark, and each benchmark would need a new version.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/check.h"

namespace keydrome::workload {

// The purpose of a sequence of random numbers, which is part of its seed. New purposes are added at
// the end only, because the numbers of the other purposes must not change.
enum class Purpose : uint32_t {
  kShape = 1,     // number and types of the indexes
  kPools,         // keys and payload texts
  kStream,        // the benchmark's own operations
  kStripes,       // the extra transactions of stripes.h
  kCanaries,      // the extra transactions of canaries.h
  kPopulate = 7,  // the order of the loaded records
  kArrivals,      // arrival times of transactions
  kReadBacks,     // the extra reads of read_backs.h
  kKeyFile,       // which keys of a file are used (key_file/replace_keys.h)
};

// A simple generator, which makes the seeds for Rng.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t state) : state_(state) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// The generator for workloads. Not thread-safe; each user creates its own object.
class Rng {
 public:
  Rng(uint64_t seed, uint32_t thread, Purpose purpose) {
    SplitMix64 outer(seed);
    const uint64_t stream = static_cast<uint64_t>(purpose) << 32 | thread;
    SplitMix64 inner(outer.next() ^ SplitMix64(stream).next());
    for (uint64_t& word : state_) word = inner.next();
  }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Returns a number in [0, bound), uniform and unbiased (D. Lemire, 2019). REQUIRES: bound > 0.
  uint64_t below(uint64_t bound) {
    KEYDROME_CHECK(bound > 0);
    Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<uint64_t>(product) < bound) [[unlikely]] {
      product = unbiased(product, bound);
    }
    return static_cast<uint64_t>(product >> 64);
  }

  // Returns a number in [low, high], uniform. REQUIRES: low <= high.
  int64_t between(int64_t low, int64_t high) {
    KEYDROME_CHECK(low <= high);
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    if (span == UINT64_MAX) return static_cast<int64_t>(next());
    return static_cast<int64_t>(static_cast<uint64_t>(low) + below(span + 1));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  // Handles the rare case in which the product may be biased. This is a function of its own, so
  // that below() is short enough to be inlined.
  [[gnu::noinline, gnu::cold]] Wide unbiased(Wide product, uint64_t bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (static_cast<uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * bound;
    return product;
  }

  std::array<uint64_t, 4> state_{};
};

}  // namespace keydrome::workload
