// Helpers for tests of data structures with the interface of contract B (keydrome/structure.h).
// They are an environment (the memory allocator that a structure gets) that checks every
// allocation, and a wrapper of an instance that takes strings. pair_source.h makes keys and
// payloads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
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

// What an environment does with retired memory. kFreed: it overwrites and frees the memory at once.
// kKept: it keeps the memory unchanged until free_retired(), because calls of other threads may
// still read it.
enum class Retired { kFreed, kKept };

// An environment that counts allocated bytes and makes allocations fail on demand. It checks that
// each block is retired once, with the size of its allocation. New memory is full of garbage.
// Thread-safe, except free_retired().
class WatchedEnvironment {
 public:
  explicit WatchedEnvironment(Retired retired = Retired::kFreed)
      : environment_{sizeof(KeydromeEnvironment), 0, this, allocate, retire},
        is_kept_(retired == Retired::kKept) {}
  WatchedEnvironment(const WatchedEnvironment&) = delete;
  WatchedEnvironment& operator=(const WatchedEnvironment&) = delete;
  ~WatchedEnvironment() {
    free_retired();
    EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " allocations were never retired";
  }

  const KeydromeEnvironment* get() const { return &environment_; }
  // Lets the next `successes` allocations succeed, and all later ones fail. If `successes` is
  // negative, no allocation fails.
  void fail_after(int successes) { budget_ = successes; }
  bool failed() const { return failed_; }
  void forget_failure() { failed_ = false; }
  size_t bytes() const { return bytes_; }
  // Must be called while no other call runs.
  void free_retired() {
    for (void* memory : retired_) std::free(memory);
    retired_.clear();
  }

 private:
  static constexpr size_t kAlignmentMax = size_t{2} << 20;

  static void* allocate(void* context, size_t size, size_t alignment) {
    auto& self = *static_cast<WatchedEnvironment*>(context);
    EXPECT_GT(size, 0u) << "the structure called allocate with size 0";
    EXPECT_EQ(alignment & (alignment - 1), 0u)
        << "the structure called allocate with the alignment " << alignment
        << ", which is no power of two";
    EXPECT_LE(alignment, kAlignmentMax)
        << "the structure asked for more than the largest alignment";
    const std::lock_guard lock(self.mutex_);
    if (self.budget_ == 0) {
      self.failed_ = true;
      return nullptr;
    }
    if (self.budget_ > 0) --self.budget_;
    const size_t rounded = alignment < 8 ? 8 : alignment;
    void* memory = std::aligned_alloc(rounded, (size + rounded - 1) / rounded * rounded);
    std::memset(memory, 0xA5, size);  // memory has no promised content
    self.blocks_[memory] = {size, alignment};
    self.bytes_ += size;
    return memory;
  }

  static void retire(void* context, void* memory, size_t size, size_t alignment) {
    auto& self = *static_cast<WatchedEnvironment*>(context);
    const std::lock_guard lock(self.mutex_);
    const auto block = self.blocks_.find(memory);
    ASSERT_NE(block, self.blocks_.end()) << "the structure retired a block that is not allocated";
    EXPECT_EQ(block->second, std::make_pair(size, alignment))
        << "retire must get the size and the alignment of the allocation";
    self.blocks_.erase(block);
    self.bytes_ -= size;
    if (self.is_kept_) {
      self.retired_.push_back(memory);
      return;
    }
    std::memset(memory, 0x5A, size);
    std::free(memory);
  }

  KeydromeEnvironment environment_;
  const bool is_kept_;
  std::mutex mutex_;
  std::vector<void*> retired_;
  std::map<void*, std::pair<size_t, size_t>> blocks_;
  size_t bytes_ = 0;
  int budget_ = -1;
  bool failed_ = false;
};

inline KeydromeBytes bytes_of(const std::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}
inline constexpr KeydromeBytes kNoPayload{nullptr, 0};

inline std::string text_of(KeydromeBytes bytes) {
  return bytes.size == 0 ? "" : std::string(static_cast<const char*>(bytes.data), bytes.size);
}

// The pairs of a run, and whether more pairs may follow according to the structure.
struct Scanned {
  std::vector<Pair> pairs;
  bool more = false;
};

// Memory for a run. Checks that the structure writes nothing beyond its capacity.
class RunBuffer {
 public:
  explicit RunBuffer(uint32_t limit, uint32_t capacity = 64 * KEYDROME_RUN_BYTES_MIN)
      : bytes_(capacity + kGuard, kMark), run_{nullptr, capacity, 1, limit, 1} {}

  KeydromeRun* get() {
    run_.data = bytes_.data();  // set here, so that a copy of the object points to its own bytes
    return &run_;
  }
  uint32_t capacity() const { return run_.capacity; }
  std::vector<Pair> pairs() {
    std::vector<Pair> pairs;
    EXPECT_LE(run_.size, run_.capacity) << "scan set `size` to more than the run's capacity";
    EXPECT_LE(run_.pairs, run_.limit) << "scan set `pairs` to more than the run's limit";
    EXPECT_EQ(std::count(bytes_.end() - kGuard, bytes_.end(), kMark), kGuard)
        << "scan wrote beyond the end of the run";
    uint32_t at = 0;
    for (uint32_t i = 0; i < run_.pairs && at < run_.size; ++i) {
      KeydromeBytes key, payload;
      at = keydrome_run_read(&run_, at, &key, &payload);
      pairs.emplace_back(text_of(key), text_of(payload));
    }
    EXPECT_EQ(at, run_.size) << "scan set `size` to another number of bytes than its pairs have";
    EXPECT_EQ(pairs.size(), run_.pairs) << "scan set `pairs` to more pairs than the run contains";
    return pairs;
  }

 private:
  static constexpr int kGuard = 16;
  static constexpr uint8_t kMark = 0xEE;

  std::vector<uint8_t> bytes_;
  KeydromeRun run_;
};

// One instance of a structure, with functions that accept strings.
class Structure {
 public:
  // `key_bytes` is the size of all keys, or 0 if sizes differ.
  Structure(const KeydromeStructureTable& table, const WatchedEnvironment& environment,
            uint32_t key_bytes = 0)
      : Structure(table, table.create(environment.get(), setup(key_bytes).get())) {}
  // Takes over an existing instance.
  Structure(const KeydromeStructureTable& table, KeydromeStructure* instance)
      : table_(table), instance_(instance) {}
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;
  ~Structure() {
    if (instance_ != nullptr) table_.destroy(instance_);
  }

  KeydromeStructure* get() const { return instance_; }
  // Returns the instance, which the caller then owns.
  KeydromeStructure* release() { return std::exchange(instance_, nullptr); }
  bool is_ordered() const { return (table_.capabilities & KEYDROME_UNORDERED) == 0; }

  int put(const Pair& pair) {
    return table_.put(instance_, bytes_of(pair.first), bytes_of(pair.second));
  }
  int del(const Pair& pair) {
    return table_.del(instance_, bytes_of(pair.first), bytes_of(pair.second));
  }
  int replace(const Pair& before, const std::string& now) {
    return table_.replace(instance_, bytes_of(before.first), bytes_of(before.second),
                          bytes_of(now));
  }
  int check() const { return table_.check == nullptr ? 0 : table_.check(instance_); }

  // Make a call and compare its result with that of the contract. A failure names both.
  testing::AssertionResult put_returns(const Pair& pair, int64_t expected) {
    return compared("put", pair, put(pair), expected);
  }
  testing::AssertionResult del_returns(const Pair& pair, int64_t expected) {
    return compared("del", pair, del(pair), expected);
  }
  testing::AssertionResult is_sound() const {
    const int broken = check();
    if (broken == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "check returned " << broken << ", the number of the first broken invariant";
  }

  uint64_t statistic(uint32_t which) const { return table_.statistic(instance_, which); }

  // Scans one run from (key, payload). Without a payload, the scan starts at the smallest payload
  // of the key or, if `after` is true, after the largest one.
  Scanned scan(const std::string& key, const std::optional<std::string>& payload, bool after,
               RunBuffer run) const {
    const KeydromeBytes from = payload ? bytes_of(*payload) : kNoPayload;
    const int more = table_.scan(instance_, bytes_of(key), from, after ? 1 : 0, run.get());
    EXPECT_TRUE(more == 0 || more == 1) << "scan returned " << more << "; it must return 0 or 1";
    return {run.pairs(), more == 1};
  }

  // Returns all pairs in the order of the structure. Reads them in runs of at most `limit` pairs.
  // `from` must not be larger than any key.
  std::vector<Pair> all(const std::string& from, uint32_t limit) const {
    std::vector<Pair> pairs;
    Scanned scanned = scan(from, std::nullopt, false, RunBuffer(limit));
    while (!scanned.pairs.empty()) {
      pairs.insert(pairs.end(), scanned.pairs.begin(), scanned.pairs.end());
      if (!scanned.more) break;
      const Pair last = pairs.back();
      scanned = scan(last.first, last.second, true, RunBuffer(limit));
    }
    return pairs;
  }

  // Returns the smallest payload of the key or, if `after` is given, the smallest one larger than
  // *after.
  std::optional<std::string> find(const std::string& key,
                                  const std::optional<std::string>& after = std::nullopt) const {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer payload{bytes, 0, sizeof bytes};
    const int found =
        table_.find(instance_, bytes_of(key), after ? bytes_of(*after) : kNoPayload, &payload);
    EXPECT_TRUE(found == 0 || found == 1) << "find returned " << found << "; it must return 0 or 1";
    if (found != 1) return std::nullopt;
    return std::string(bytes, payload.size);
  }

  // Returns all payloads of a key. Finds each payload with the previous one as `after`.
  std::vector<std::string> payloads(const std::string& key) const {
    std::vector<std::string> all;
    for (auto next = find(key); next; next = find(key, next)) all.push_back(*next);
    return all;
  }

 private:
  static testing::AssertionResult compared(const char* call, const Pair& pair, int result,
                                           int64_t expected) {
    if (result == expected) return testing::AssertionSuccess();
    return testing::AssertionFailure() << call << "(" << testing::PrintToString(pair.first) << ", "
                                       << testing::PrintToString(pair.second) << ") returned "
                                       << result << ", but contract B requires " << expected;
  }

  struct Setup {
    KeydromeSetup fields;
    const KeydromeSetup* get() const { return &fields; }
  };
  static Setup setup(uint32_t key_bytes) { return {{sizeof(KeydromeSetup), key_bytes, nullptr}}; }

  const KeydromeStructureTable& table_;
  KeydromeStructure* instance_;
};

}  // namespace keydrome
