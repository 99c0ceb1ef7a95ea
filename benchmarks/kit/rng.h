// Random streams of the referee: xoshiro256** seeded by SplitMix64 (D. Blackman and S. Vigna,
// 2018).
//
// A stream is a function of (seed, thread, purpose) alone: which thread draws first, or how much
// another purpose draws, never changes it. Fixed for ever: a change alters every benchmark's
// operations and needs new versions.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/check.h"

namespace keydrome {

// What a stream is drawn for. Append only; the number goes into the seed.
enum class Purpose : uint32_t {
  kShape = 1,  // how many indices, of which types
  kPools,      // keys and payload texts
  kStream,     // the benchmark's own operations
  kStripes,
  kCanaries,
  kSamples,  // which reads leave evidence
  kPopulate,
  kArrivals,  // when transactions are asked for
};

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

// Not thread-safe; each user makes its own.
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

  // Uniform in [0, bound), without bias; bound > 0 (D. Lemire, 2019).
  uint64_t below(uint64_t bound) {
    KEYDROME_CHECK(bound > 0);
    Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<uint64_t>(product) < bound) [[unlikely]] {
      product = unbiased(product, bound);
    }
    return static_cast<uint64_t>(product >> 64);
  }

  // Uniform in [low, high], both included; low <= high.
  int64_t between(int64_t low, int64_t high) {
    KEYDROME_CHECK(low <= high);
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    if (span == UINT64_MAX) return static_cast<int64_t>(next());
    return static_cast<int64_t>(static_cast<uint64_t>(low) + below(span + 1));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  // Out of line, so that what comes nearly always is short enough to be inlined.
  [[gnu::noinline, gnu::cold]] Wide unbiased(Wide product, uint64_t bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (static_cast<uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * bound;
    return product;
  }

  std::array<uint64_t, 4> state_{};
};

}  // namespace keydrome
