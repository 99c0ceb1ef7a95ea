// Makes random pairs (key and payload) of several shapes for tests of data structures with the
// interface of contract B (keydrome/structure.h). The pairs stay within the limits that a
// structure's table states.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "keydrome/structure.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome {

enum class Shape { kInt32, kInt64, kText, kCommonPrefix, kHostileBytes, kFewKeys };

inline std::string big_endian(uint64_t value, size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(value >> (8 * (size - 1 - i)));
  return text;
}

// The limits of what a structure can hold, according to its table.
struct Limits {
  uint32_t key_bytes_only;  // the only size of keys; 0: any size
  uint32_t payload_bytes_max;
  uint32_t payloads_max;  // 0: any number

  static Limits of(const KeydromeStructureTable& table) {
    const uint32_t most = table.payload_bytes_max;
    return {table.key_bytes_only, most == 0 ? KEYDROME_PAYLOAD_BYTES_MAX : most,
            table.payloads_max};
  }
  // Returns true if the structure can hold the pair in addition to the pairs of the model.
  bool admits(const Model& model, const Pair& pair) const {
    if (payloads_max == 0 || model.count(pair) > 0) return true;
    auto at = model.lower_bound({pair.first, ""});
    uint32_t payloads = 0;
    for (; at != model.end() && at->first == pair.first; ++at) ++payloads;
    return payloads < payloads_max;
  }
};

// Generates random pairs of one shape from about `universe` keys, so that hits and misses are both
// frequent. If the structure holds only keys of one size, all keys have this size.
class PairSource {
 public:
  PairSource(Shape shape, uint64_t seed, uint32_t universe, const Limits& limits)
      : shape_(shape), universe_(universe), limits_(limits), random_(seed) {}

  uint64_t below(uint64_t bound) { return random_() % bound; }
  Pair pair() { return {key(), payload()}; }

  // Returns the size that all keys have, or 0 if the sizes differ.
  uint32_t key_bytes() const {
    if (limits_.key_bytes_only != 0) return limits_.key_bytes_only;
    if (shape_ == Shape::kInt32) return 4;
    return shape_ == Shape::kInt64 ? 8 : 0;
  }
  // Returns a key that is not larger than any other key.
  std::string smallest_key() const { return std::string(key_bytes(), '\0'); }

  std::string key() {
    const uint64_t number = below(universe_);
    if (limits_.key_bytes_only != 0) {
      const uint64_t code = shape_ == Shape::kFewKeys ? number % 3 : number * 0x9E3779B97F4A7C15u;
      return big_endian(code, limits_.key_bytes_only);
    }
    switch (shape_) {
      case Shape::kInt32:
        return big_endian(number * 0x9E3779B9u, 4);
      case Shape::kInt64:
        return big_endian(extreme(number), 8);
      case Shape::kText:
        return std::to_string(number * 0x9E3779B97F4A7C15u);
      case Shape::kCommonPrefix:
        return std::string(100, 'k') + std::to_string(number);
      case Shape::kHostileBytes:
        return hostile(number);
      case Shape::kFewKeys:
        return std::to_string(number % 3);
    }
    return {};
  }

  std::string payload() {
    std::string payload;
    if (shape_ == Shape::kFewKeys) {
      payload = std::to_string(below(universe_));
    } else if (const uint64_t number = below(4); number == 1) {
      payload = std::string(KEYDROME_PAYLOAD_BYTES_MAX, '\xFF');
    } else {
      payload = std::string(number, '\0');
    }
    return payload.substr(0, limits_.payload_bytes_max);
  }

 private:
  // Returns 0 and the largest number often, because a structure may use these numbers as marks.
  static uint64_t extreme(uint64_t number) {
    if (number % 16 == 0) return 0;
    if (number % 16 == 1) return UINT64_MAX;
    return number * 0x9E3779B97F4A7C15u;
  }

  // Makes keys of only 0x00 and 0xFF bytes. Their lengths are close to 0, 8, 16 or the maximum,
  // where a structure that compares 8 bytes at a time is likely to be wrong.
  static std::string hostile(uint64_t number) {
    static constexpr size_t kSizes[] = {0, 1, 7, 8, 9, 15, 16, 17, 127, 128};
    std::string key(kSizes[number % 10], '\0');
    number /= 10;
    for (size_t i = 0; i < key.size(); ++i) {
      const bool middle = i >= 4 && i + 4 < key.size();
      if (!middle && ((number >> (i % 8)) & 1) != 0) key[i] = '\xFF';
    }
    return key;
  }

  Shape shape_;
  uint32_t universe_;
  Limits limits_;
  std::mt19937_64 random_;
};

}  // namespace keydrome
