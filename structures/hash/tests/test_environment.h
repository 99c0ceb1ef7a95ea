// TestEnvironment: memory for tests of the hash table, from malloc, so that sanitizers watch it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "keydrome/structure.h"

namespace keydrome::hash {

// Checks that each block is retired once, with its size and alignment. Retired memory is freed only
// by free_retired(), when no call runs that may still read it. New memory is full of garbage.
// Thread-safe, except free_retired().
class TestEnvironment {
 public:
  TestEnvironment() { environment_ = {sizeof environment_, 0, this, allocate, retire}; }
  TestEnvironment(const TestEnvironment&) = delete;
  TestEnvironment& operator=(const TestEnvironment&) = delete;
  ~TestEnvironment() {
    free_retired();
    EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " blocks leaked";
  }

  const KeydromeEnvironment* get() const { return &environment_; }
  // Lets `successes` more allocations succeed, and the later ones fail. Negative: none fails.
  void fail_after(int successes) { budget_ = successes; }
  size_t bytes() const { return bytes_; }

  void free_retired() {
    for (void* memory : retired_) std::free(memory);
    retired_.clear();
  }

 private:
  static void* allocate(void* context, size_t size, size_t alignment) {
    auto& self = *static_cast<TestEnvironment*>(context);
    const std::lock_guard lock(self.mutex_);
    if (self.budget_ == 0) return nullptr;
    if (self.budget_ > 0) --self.budget_;
    const size_t unit = alignment < 16 ? 16 : alignment;
    void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
    std::memset(memory, 0xA5, size);
    self.blocks_[memory] = {size, alignment};
    self.bytes_ += size;
    return memory;
  }

  static void retire(void* context, void* memory, size_t size, size_t alignment) {
    auto& self = *static_cast<TestEnvironment*>(context);
    const std::lock_guard lock(self.mutex_);
    const auto block = self.blocks_.find(memory);
    ASSERT_NE(block, self.blocks_.end()) << "retired a block that is not allocated";
    EXPECT_EQ(block->second, std::make_pair(size, alignment));
    self.blocks_.erase(block);
    self.bytes_ -= size;
    self.retired_.push_back(memory);
  }

  KeydromeEnvironment environment_{};
  std::mutex mutex_;
  std::map<void*, std::pair<size_t, size_t>> blocks_;
  std::vector<void*> retired_;
  size_t bytes_ = 0;
  int budget_ = -1;
};

// One table, with functions that take strings.
class OwnedTable {
 public:
  OwnedTable(const TestEnvironment& environment, uint32_t key_bytes) {
    const KeydromeSetup setup{sizeof setup, key_bytes, nullptr};
    instance_ = functions_.create(environment.get(), &setup);
  }
  OwnedTable(const OwnedTable&) = delete;
  OwnedTable& operator=(const OwnedTable&) = delete;
  ~OwnedTable() {
    if (instance_ != nullptr) functions_.destroy(instance_);
  }

  bool exists() const { return instance_ != nullptr; }
  int put(const std::string& key, const std::string& payload) {
    return functions_.put(instance_, bytes(key), bytes(payload));
  }
  int del(const std::string& key, const std::string& payload) {
    return functions_.del(instance_, bytes(key), bytes(payload));
  }
  int replace(const std::string& key, const std::string& before, const std::string& now) {
    return functions_.replace(instance_, bytes(key), bytes(before), bytes(now));
  }
  // `after`: nullptr for the smallest payload.
  bool find(const std::string& key, const std::string* after, std::string& payload) const {
    char found[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer buffer{found, 0, sizeof found};
    const KeydromeBytes from = after == nullptr ? KeydromeBytes{nullptr, 0} : bytes(*after);
    const int result = functions_.find(instance_, bytes(key), from, &buffer);
    EXPECT_TRUE(result == 0 || result == 1) << result;
    if (result == 1) payload.assign(found, buffer.size);
    return result == 1;
  }
  // All payloads of a key, each found after the one before.
  std::vector<std::string> payloads(const std::string& key) const {
    std::vector<std::string> all;
    std::string payload;
    for (const std::string* after = nullptr; find(key, after, payload); after = &payload) {
      all.push_back(payload);
    }
    return all;
  }
  int check() const { return functions_.check(instance_); }
  uint64_t statistic(uint32_t which) const { return functions_.statistic(instance_, which); }
  KeydromeStructure* get() const { return instance_; }
  const KeydromeStructureTable& functions() const { return functions_; }

 private:
  static KeydromeBytes bytes(const std::string& text) {
    return {text.data(), static_cast<uint32_t>(text.size())};
  }

  const KeydromeStructureTable& functions_ = *keydrome_structure();
  KeydromeStructure* instance_;
};

}  // namespace keydrome::hash
