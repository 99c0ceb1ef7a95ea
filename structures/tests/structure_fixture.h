// Helpers for tests of data structures of contract B (keydrome/structure.h). They are an
// environment (the memory allocator that a structure gets) that checks every allocation, a std::set
// as the model, and generators of keys of several shapes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "keydrome/structure.h"

namespace keydrome {

// std::string compares as contract B demands: in memcmp order, and a prefix is smaller than any
// longer string.
using Pair = std::pair<std::string, std::string>;
using Model = std::set<Pair>;

// An environment that counts allocated bytes, checks that a block is freed with the size of its
// allocation, and lets allocations fail on demand. Not thread-safe.
class WatchedEnvironment {
 public:
  WatchedEnvironment() { environment_ = {this, allocate, retire, 0}; }
  WatchedEnvironment(const WatchedEnvironment&) = delete;
  WatchedEnvironment& operator=(const WatchedEnvironment&) = delete;
  ~WatchedEnvironment() { EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " blocks leaked"; }

  const KeydromeEnvironment* get() const { return &environment_; }
  // Lets `successes` more allocations succeed, and all later allocations fail. If `successes` is
  // negative, no allocation fails.
  void fail_after(int successes) { budget_ = successes; }
  bool failed() const { return failed_; }
  void forget_failure() { failed_ = false; }
  size_t bytes() const { return bytes_; }

 private:
  static void* allocate(void* context, size_t size, size_t alignment) {
    auto& self = *static_cast<WatchedEnvironment*>(context);
    EXPECT_EQ(alignment & (alignment - 1), 0u);
    EXPECT_LE(alignment, 4096u);
    if (self.budget_ == 0) {
      self.failed_ = true;
      return nullptr;
    }
    if (self.budget_ > 0) --self.budget_;
    const size_t rounded = alignment < 8 ? 8 : alignment;
    void* memory = std::aligned_alloc(rounded, (size + rounded - 1) / rounded * rounded);
    self.blocks_[memory] = {size, alignment};
    self.bytes_ += size;
    return memory;
  }

  static void retire(void* context, void* memory, size_t size, size_t alignment) {
    auto& self = *static_cast<WatchedEnvironment*>(context);
    const auto block = self.blocks_.find(memory);
    ASSERT_NE(block, self.blocks_.end()) << "retired a block that is not allocated";
    EXPECT_EQ(block->second, std::make_pair(size, alignment));
    self.blocks_.erase(block);
    self.bytes_ -= size;
    std::free(memory);
  }

  KeydromeEnvironment environment_;
  std::map<void*, std::pair<size_t, size_t>> blocks_;
  size_t bytes_ = 0;
  int budget_ = -1;
  bool failed_ = false;
};

inline KeydromeBytes bytes_of(const std::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}
inline constexpr KeydromeBytes kNoPayload{nullptr, 0};

// One instance of a structure, with functions that take strings.
class Structure {
 public:
  Structure(const KeydromeStructureTable& table, const WatchedEnvironment& environment)
      : table_(table), instance_(table.create(environment.get(), nullptr)) {}
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;
  ~Structure() {
    if (instance_ != nullptr) table_.destroy(instance_);
  }

  KeydromeStructure* get() const { return instance_; }
  int put(const Pair& pair) {
    return table_.put(instance_, bytes_of(pair.first), bytes_of(pair.second));
  }
  int del(const Pair& pair) {
    return table_.del(instance_, bytes_of(pair.first), bytes_of(pair.second));
  }
  int check() const { return table_.check == nullptr ? 0 : table_.check(instance_); }
  uint64_t statistic(uint32_t which) const { return table_.statistic(instance_, which); }

  KeydromePosition seek(const std::string& key, KeydromeBytes payload, bool after) const {
    KeydromePosition position{};
    EXPECT_EQ(table_.seek(instance_, &position, bytes_of(key), payload, after ? 1 : 0), 0);
    return position;
  }

  // Reads the next pair. Returns false at the end.
  bool next(KeydromePosition& position, Pair& pair) const {
    char key[KEYDROME_KEY_BYTES_MAX];
    char payload[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer key_buffer{key, 0, sizeof key};
    KeydromeBuffer payload_buffer{payload, 0, sizeof payload};
    const int found = table_.next(instance_, &position, &key_buffer, &payload_buffer);
    if (found != 1) {
      EXPECT_EQ(found, 0);
      return false;
    }
    pair = {std::string(key, key_buffer.size), std::string(payload, payload_buffer.size)};
    return true;
  }

  // Returns all pairs, in the order of the structure.
  std::vector<Pair> scan() const {
    std::vector<Pair> pairs;
    KeydromePosition position = seek("", kNoPayload, false);
    for (Pair pair; next(position, pair);) pairs.push_back(pair);
    return pairs;
  }

 private:
  const KeydromeStructureTable& table_;
  KeydromeStructure* instance_;
};

inline void expect_same(const Structure& structure, const Model& model) {
  const std::vector<Pair> pairs = structure.scan();
  ASSERT_EQ(pairs, std::vector<Pair>(model.begin(), model.end()));
}

enum class Shape { kInt32, kInt64, kText, kCommonPrefix, kHostileBytes, kFewKeys };

inline std::string big_endian(uint64_t value, size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(value >> (8 * (size - 1 - i)));
  return text;
}

// Generates random pairs of one shape from about `universe` keys, so that hits and misses are both
// frequent.
class PairSource {
 public:
  PairSource(Shape shape, uint64_t seed, uint32_t universe)
      : shape_(shape), universe_(universe), random_(seed) {}

  uint64_t below(uint64_t bound) { return random_() % bound; }
  Pair pair() { return {key(), payload()}; }

  std::string key() {
    const uint64_t number = below(universe_);
    switch (shape_) {
      case Shape::kInt32:
        return big_endian(number * 0x9E3779B9u, 4);
      case Shape::kInt64:
        return big_endian(number * 0x9E3779B97F4A7C15u, 8);
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
    if (shape_ == Shape::kFewKeys) return std::to_string(below(universe_));
    const uint64_t number = below(4);
    if (number == 0) return {};
    if (number == 1) return std::string(KEYDROME_PAYLOAD_BYTES_MAX, '\xFF');
    return std::string(number, '\0');
  }

 private:
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
  std::mt19937_64 random_;
};

}  // namespace keydrome
