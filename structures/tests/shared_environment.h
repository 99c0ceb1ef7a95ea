// SharedEnvironment: memory for tests of structures whose calls run at the same time. It comes from
// the C library, so that sanitizers watch it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "keydrome/structure.h"

namespace keydrome {

// Checks that each block is retired once, with its size and alignment. Retired memory is freed only
// by free_retired(), at a time at which no call that may still read it is running. New memory is
// full of garbage. A thread that allocates sometimes yields its processor, so that other threads
// see its change half done. Thread-safe, except free_retired().
class SharedEnvironment {
 public:
  SharedEnvironment() { environment_ = {sizeof environment_, 0, this, allocate, retire}; }
  SharedEnvironment(const SharedEnvironment&) = delete;
  SharedEnvironment& operator=(const SharedEnvironment&) = delete;
  ~SharedEnvironment() {
    free_retired();
    EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " allocations were never retired";
  }

  const KeydromeEnvironment* get() const { return &environment_; }
  // Lets the next `successes` allocations succeed, and all later ones fail. If `successes` is
  // negative, no allocation fails.
  void fail_after(int successes) { budget_ = successes; }
  // Makes one of `period` allocations fail. If `period` is 0, none fails.
  void fail_every(unsigned period) { period_ = period; }
  size_t bytes() const { return bytes_; }

  void free_retired() {
    for (void* memory : retired_) std::free(memory);
    retired_.clear();
  }

 private:
  static constexpr unsigned kYield = 509;

  static void* allocate(void* context, size_t size, size_t alignment) {
    auto& self = *static_cast<SharedEnvironment*>(context);
    if (self.allocations_.fetch_add(1) % kYield == 0) std::this_thread::yield();
    const std::lock_guard lock(self.mutex_);
    if (self.budget_ == 0) return nullptr;
    if (self.budget_ > 0) --self.budget_;
    if (self.period_ > 0 && self.allocations_ % self.period_ == 0) return nullptr;
    const size_t unit = alignment < 16 ? 16 : alignment;
    void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
    std::memset(memory, 0xA5, size);
    self.blocks_[memory] = {size, alignment};
    self.bytes_ += size;
    return memory;
  }

  static void retire(void* context, void* memory, size_t size, size_t alignment) {
    auto& self = *static_cast<SharedEnvironment*>(context);
    const std::lock_guard lock(self.mutex_);
    const auto block = self.blocks_.find(memory);
    ASSERT_NE(block, self.blocks_.end()) << "the structure retired a block that is not allocated";
    EXPECT_EQ(block->second, std::make_pair(size, alignment))
        << "retire must get the size and the alignment of the allocation";
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
  unsigned period_ = 0;
  std::atomic<unsigned> allocations_ = 0;
};

}  // namespace keydrome
