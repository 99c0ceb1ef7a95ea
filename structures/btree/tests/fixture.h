// Helpers for the tests of the B+-tree: an environment that checks every allocation, an instance
// with functions that take strings, and random pairs of several shapes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "keydrome/structure.h"
#include "structures/btree/tables.h"

namespace keydrome::btree {

// std::string compares as contract B (keydrome/structure.h) demands: in memcmp order, and a string
// is larger than each of its prefixes.
using StringPair = std::pair<std::string, std::string>;
using Model = std::set<StringPair>;

// Counts allocated bytes, checks that a block is retired with its size and alignment, overwrites
// retired blocks, and lets allocations fail on demand.
class CheckedEnvironment {
 public:
  CheckedEnvironment() {
    environment_.size = sizeof environment_;
    environment_.context = this;
    environment_.allocate = allocate;
    environment_.retire = retire;
  }
  CheckedEnvironment(const CheckedEnvironment&) = delete;
  CheckedEnvironment& operator=(const CheckedEnvironment&) = delete;
  ~CheckedEnvironment() { EXPECT_EQ(blocks().size(), before_) << "blocks leaked"; }

  const KeydromeEnvironment* get() const { return &environment_; }
  // Lets `successes` more allocations succeed, and all later ones fail. If `successes` is negative,
  // none fails.
  void fail_after(int successes) { budget_ = successes; }
  size_t bytes() const { return bytes_; }
  size_t allocations() const { return allocations_; }

 private:
  using Blocks = std::map<void*, std::pair<size_t, size_t>>;
  // One list for all environments, because split and concat move blocks from one to another.
  static Blocks& blocks() {
    static Blocks all;
    return all;
  }

  static void* allocate(void* context, size_t size, size_t alignment) {
    auto& self = *static_cast<CheckedEnvironment*>(context);
    EXPECT_EQ(alignment & (alignment - 1), 0u);
    if (self.budget_ == 0) return nullptr;
    if (self.budget_ > 0) --self.budget_;
    ++self.allocations_;
    const size_t rounded = alignment < 8 ? 8 : alignment;
    void* memory = std::aligned_alloc(rounded, (size + rounded - 1) / rounded * rounded);
    std::memset(memory, 0xA5, size);
    blocks()[memory] = {size, alignment};
    self.bytes_ += size;
    return memory;
  }

  static void retire(void* context, void* memory, size_t size, size_t alignment) {
    auto& self = *static_cast<CheckedEnvironment*>(context);
    const auto block = blocks().find(memory);
    ASSERT_NE(block, blocks().end()) << "retired a block that is not allocated";
    EXPECT_EQ(block->second, std::make_pair(size, alignment));
    blocks().erase(block);
    self.bytes_ -= size;
    std::memset(memory, 0x5A, size);
    std::free(memory);
  }

  KeydromeEnvironment environment_{};
  size_t before_ = blocks().size();
  size_t bytes_ = 0;
  size_t allocations_ = 0;
  int budget_ = -1;
};

inline KeydromeBytes bytes_of(const std::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}
inline constexpr KeydromeBytes kAny{nullptr, 0};

// One instance of the tree.
class Instance {
 public:
  Instance(const KeydromeStructureTable& table, const CheckedEnvironment& environment,
           uint32_t key_bytes)
      : table_(table) {
    const KeydromeSetup setup{sizeof(KeydromeSetup), key_bytes, nullptr};
    instance_ = table.create(environment.get(), &setup);
  }
  Instance(const KeydromeStructureTable& table, KeydromeStructure* instance)
      : table_(table), instance_(instance) {}
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() {
    if (instance_ != nullptr) table_.destroy(instance_);
  }

  KeydromeStructure* get() const { return instance_; }
  KeydromeStructure* release() { return std::exchange(instance_, nullptr); }
  int put(const StringPair& pair) {
    return table_.put(instance_, bytes_of(pair.first), bytes_of(pair.second));
  }
  int del(const StringPair& pair) {
    return table_.del(instance_, bytes_of(pair.first), bytes_of(pair.second));
  }
  int replace(const std::string& key, const std::string& before, const std::string& now) {
    return table_.replace(instance_, bytes_of(key), bytes_of(before), bytes_of(now));
  }
  int check() const { return table_.check(instance_); }
  uint64_t statistic(uint32_t which) const { return table_.statistic(instance_, which); }

  int find(const std::string& key, KeydromeBytes after, std::string& payload) const {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer buffer{bytes, 0, sizeof bytes};
    const int found = table_.find(instance_, bytes_of(key), after, &buffer);
    if (found == 1) payload.assign(bytes, buffer.size);
    return found;
  }

  // One call of scan. `more` is its result.
  std::vector<StringPair> scan_once(const std::string& key, KeydromeBytes payload, bool after,
                                    uint32_t limit, uint32_t capacity, int& more) const {
    std::vector<char> bytes(capacity);
    KeydromeRun run{bytes.data(), capacity, 77, limit, 77};
    more = table_.scan(instance_, bytes_of(key), payload, after ? 1 : 0, &run);
    std::vector<StringPair> pairs;
    KeydromeBytes k, p;
    for (uint32_t at = 0; at < run.size;) {
      at = keydrome_run_read(&run, at, &k, &p);
      pairs.emplace_back(std::string(static_cast<const char*>(k.data), k.size),
                         std::string(static_cast<const char*>(p.data), p.size));
    }
    EXPECT_EQ(pairs.size(), run.pairs);
    return pairs;
  }

  // Reads all pairs in runs of at most `limit`.
  std::vector<StringPair> scan_all(uint32_t limit, uint32_t capacity = 4096) const {
    int more = 1;
    std::vector<StringPair> pairs = scan_once("", kAny, false, limit, capacity, more);
    while (more == 1) {
      const StringPair last = pairs.back();
      const auto next = scan_once(last.first, bytes_of(last.second), true, limit, capacity, more);
      if (more == 1) {
        EXPECT_FALSE(next.empty());
      }
      if (next.empty()) break;
      pairs.insert(pairs.end(), next.begin(), next.end());
    }
    return pairs;
  }

 private:
  const KeydromeStructureTable& table_;
  KeydromeStructure* instance_;
};

inline std::string big_endian(uint64_t value, size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < std::min<size_t>(size, 8); ++i) {
    text[size - 1 - i] = static_cast<char>(value >> (8 * i));
  }
  return text;
}

enum class Keys { kDense, kSparse, kPrefix, kHighByte, kLowByte, kAscending, kDescending, kFew };
enum class PayloadShape { kEight, kMixed, kMany };

// Makes random pairs from about `universe` keys, so that hits and misses are both frequent.
class PairSource {
 public:
  PairSource(uint32_t key_bytes, Keys keys, PayloadShape payloads, uint64_t seed, uint32_t universe)
      : key_bytes_(key_bytes),
        keys_(keys),
        payloads_(payloads),
        universe_(universe),
        random_(seed) {}

  uint64_t below(uint64_t bound) { return random_() % bound; }
  StringPair pair() { return {key(), payload()}; }

  // Returns the smallest and the largest key often, because they are the most likely to reveal a
  // fault.
  std::string key() {
    const uint64_t extreme = below(16);
    if (extreme == 0) return key_bytes_ > 0 ? std::string(key_bytes_, '\0') : std::string();
    if (extreme == 1) return std::string(key_bytes_ > 0 ? key_bytes_ : 128, '\xFF');
    const uint64_t number = keys_ == Keys::kAscending    ? drawn_++ / 2
                            : keys_ == Keys::kDescending ? ~(drawn_++ / 2)
                            : keys_ == Keys::kFew        ? below(3)
                                                         : below(universe_);
    return key_bytes_ > 0 ? fixed(number) : text(number);
  }

  std::string payload() {
    switch (payloads_) {
      case PayloadShape::kEight:
        return big_endian(below(4) == 0 ? ~uint64_t{0} : below(3), 8);
      case PayloadShape::kMany:
        return std::to_string(below(universe_) * 0x9E3779B97F4A7C15u);
      case PayloadShape::kMixed:
        break;
    }
    const uint64_t kind = below(6);
    if (kind == 0) return {};
    if (kind == 1) return std::string(KEYDROME_PAYLOAD_BYTES_MAX, '\xFF');
    if (kind < 4) return big_endian(below(3), 8);
    return std::string(below(KEYDROME_PAYLOAD_BYTES_MAX + 1), static_cast<char>(below(3)));
  }

 private:
  std::string fixed(uint64_t number) const {
    switch (keys_) {
      case Keys::kSparse:
        return big_endian(number * 0x9E3779B97F4A7C15u >> (64 - 8 * std::min(key_bytes_, 8u)),
                          key_bytes_);
      case Keys::kHighByte:
        return big_endian(number & 0xFF, 1) + std::string(key_bytes_ - 1, '\x7F');
      case Keys::kPrefix:
      case Keys::kLowByte:
        return std::string(key_bytes_ - 2, '\x42') + big_endian(number, 2);
      default:
        return big_endian(number, key_bytes_);
    }
  }

  std::string text(uint64_t number) const {
    switch (keys_) {
      case Keys::kDense:
        return "user" + std::to_string(1000000 + number);
      case Keys::kPrefix:
        return std::string(119, 'k') + std::to_string(number);
      case Keys::kHighByte:
        return big_endian(number & 0xFF, 1) + std::string(number % 100, 'x');
      case Keys::kLowByte:
        return std::string(number % 13, '\0') + big_endian(number, 2);
      case Keys::kSparse:
        return hostile(number);
      default:
        return big_endian(number, 8) + "tail";
    }
  }

  // Returns keys of only 0x00 and 0xFF bytes. Most sizes are close to multiples of a word (8
  // bytes).
  static std::string hostile(uint64_t number) {
    static constexpr size_t kSizes[] = {1, 7, 8, 9, 15, 16, 17, 120, 127, 128};
    std::string key(kSizes[number % 10], '\0');
    number /= 10;
    for (size_t i = 0; i < key.size(); ++i) {
      const bool is_middle = i >= 4 && i + 4 < key.size();
      if (!is_middle && ((number >> (i % 8)) & 1) != 0) key[i] = '\xFF';
    }
    return key;
  }

  uint32_t key_bytes_;
  Keys keys_;
  PayloadShape payloads_;
  uint32_t universe_;
  uint64_t drawn_ = 0;
  std::mt19937_64 random_;
};

// The tables of functions (one per kind of processor) that this processor can execute.
inline std::vector<const KeydromeStructureTable*> tables() {
  std::vector<const KeydromeStructureTable*> all{kTablePlain};
  if (can_use_avx2()) all.push_back(kTableAvx2);
  if (can_use_avx512()) all.push_back(kTableAvx512);
  return all;
}

}  // namespace keydrome::btree
