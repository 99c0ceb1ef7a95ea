// Keys for structure_bench, the program that times data structures: makes sets of distinct keys,
// and draws the keys that a timed loop uses.
//
// All arrays are mapped by the kernel and do not come from malloc. Otherwise a structure could
// reuse memory that making keys has freed, and its measured bytes per key would be too small.
//
// Thread safety: Keys and Queries do not change after they have been made, so threads may share
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "structures/bench/mapped_array.h"

namespace keydrome::bench {

// The sets of keys. All are synthetic.
enum class KeySet {
  kInt,     // 8 bytes: random 64-bit integers, big-endian
  kYcsb,    // "user" and 19 digits
  kEmail,   // reversed host, then the user; 30 % of the keys have the same host
  kUrl,     // reversed host and 1 to 8 path segments
  kRandom,  // 1 to 128 random letters
  kPrefix   // 120 equal characters and 8 random ones
};

// Returns the set with this name: int, ycsb, email, url, random or prefix.
std::optional<KeySet> key_set_of(std::string_view name);
std::string_view name_of(KeySet set);

// Mixes the bits of a number. Different numbers give different results (splitmix64's last step).
uint64_t mix(uint64_t number);

// Strings without gaps in one array. The processor prefetches such an array, so a loop that reads
// the keys in order has hardly any cache misses for them.
class Keys {
 public:
  // Reserves room for `count` keys with `bytes` bytes in total.
  Keys(uint64_t count, uint64_t bytes) : ends_(count + 1), bytes_(bytes) {}

  uint64_t size() const { return size_; }
  // Total size of the keys in bytes.
  uint64_t bytes() const { return ends_[size_]; }
  std::string_view operator[](uint64_t index) const {
    const uint32_t begin = ends_[index];
    return {bytes_.data() + begin, ends_[index + 1] - begin};
  }
  // Returns false if the keys would take more than 4 GiB. The key is then not added.
  [[nodiscard]] bool add(std::string_view key);

 private:
  MappedArray<uint32_t> ends_;  // ends_[i] is where key i begins, and ends_[i + 1] where it ends
  MappedArray<char> bytes_;
  uint64_t size_ = 0;
};

// Returns `count` distinct keys of the set, in random order. Equal arguments give equal keys.
Keys make_keys(KeySet set, uint64_t count);

// The keys that a timed loop looks up, and the sum of their payloads. The payload of key i is i.
struct Queries {
  Keys keys;
  uint64_t sum;
};

enum class Draw { kUniform, kZipf };

// Draws keys at random. Zipf: exponent 0.99 (J. Gray et al., "Quickly Generating Billion-Record
// Synthetic Databases", SIGMOD 1994, section 4), with the popular keys spread over the set.
class QuerySource {
 public:
  QuerySource(const Keys& keys, uint64_t seed);
  Queries draw(Draw distribution, uint64_t count);

 private:
  uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  uint64_t zipf();

  const Keys& keys_;
  uint64_t state_;
  double zeta_ = 0;  // the sum of 1 / rank^0.99 over all ranks
  double eta_ = 0;
};

}  // namespace keydrome::bench
