// Tests of the memory of data structures: the heap (instance/heap.h) and grace periods
// (instance/grace.h). If a call without a latch retires memory, i.e. gives it back, the memory is
// freed after a grace period, when no other call can still read it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/instance/grace.h"
#include "runtime/instance/heap.h"

namespace keydrome::runtime {
namespace {

struct Block {
  uint8_t* memory;
  size_t size, alignment;
  uint8_t mark;

  bool is_intact() const {
    return std::all_of(memory, memory + size, [this](uint8_t byte) { return byte == mark; });
  }
};

Block allocate(Heap& heap, size_t size, size_t alignment, uint8_t mark) {
  auto* memory = static_cast<uint8_t*>(heap.allocate(size, alignment));
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
  std::memset(memory, mark, size);
  return {memory, size, alignment, mark};
}

TEST(Heap, BlocksAreAlignedAndApart) {
  Heap heap;
  std::mt19937_64 random(7);
  for (int round = 0; round < 2; ++round) {
    std::vector<Block> blocks;
    uint64_t bytes = 0;
    const auto add = [&](size_t size, size_t alignment) {
      blocks.push_back(allocate(heap, size, alignment, static_cast<uint8_t>(random())));
      bytes += size;
    };
    for (size_t size = 1; size < 10000; size += 1 + size / 40) {
      for (size_t alignment = 1; alignment <= 64; alignment *= 2) add(size, alignment);
    }
    for (size_t alignment = 128; alignment <= size_t{2} << 20; alignment *= 2) {
      for (const size_t size : {size_t{1}, alignment, 3 * alignment + 5}) add(size, alignment);
    }
    EXPECT_EQ(heap.bytes(), bytes);
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (const Block& block : blocks) {
      ASSERT_TRUE(block.is_intact()) << block.size << " bytes, alignment " << block.alignment;
      heap.free(block.memory, block.size, block.alignment);
    }
    EXPECT_EQ(heap.bytes(), 0u);
  }
}

TEST(Heap, FreedBlocksAreGivenOutAgain) {
  Heap heap;
  for (int i = 0; i < 1000000; ++i) heap.free(heap.allocate(100, 8), 100, 8);
  EXPECT_LE(heap.chunk_bytes(), uint64_t{2} << 20);
  EXPECT_EQ(heap.bytes(), 0u);
}

// Many threads that use many sizes take little memory, because the first span of a size is small.
TEST(Heap, AFewBlocksOfManySizesTakeLittleMemory) {
  Heap heap;
  for (int i = 0; i < 16; ++i) {  // each new thread has another shard
    std::thread([&] {
      for (size_t size = 16; size <= 8192; size += 64) heap.allocate(size, 8);
    }).join();
  }
  EXPECT_LE(heap.chunk_bytes(), uint64_t{16} << 20);
}

TEST(Heap, MemoryIsBoundedIfOneThreadAllocatesAndAnotherFrees) {
  constexpr int kRounds = 200, kBlocks = 1000;
  Heap heap;
  std::vector<void*> blocks(kBlocks);
  std::barrier<> turn(2);
  std::thread other([&] {
    for (int round = 0; round < kRounds; ++round) {
      turn.arrive_and_wait();
      for (void* block : blocks) heap.free(block, 1000, 8);
      turn.arrive_and_wait();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    for (void*& block : blocks) block = heap.allocate(1000, 8);
    turn.arrive_and_wait();
    turn.arrive_and_wait();
  }
  other.join();
  EXPECT_LE(heap.chunk_bytes(), uint64_t{4} << 20);
}

TEST(Heap, ASmallBlockCostsLittleMoreThanItsSize) {
  Heap heap;
  constexpr size_t kBlocks = 100000;
  std::vector<void*> blocks;
  for (size_t i = 0; i < kBlocks; ++i) blocks.push_back(heap.allocate(1088, 64));
  EXPECT_LE(heap.chunk_bytes(), 1088 * kBlocks * 103 / 100);
  for (void* block : blocks) heap.free(block, 1088, 64);
}

TEST(Heap, ServesThreads) {
  Heap heap;
  std::vector<std::thread> threads;
  std::atomic<int> broken = 0;
  for (uint8_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&heap, &broken, thread] {
      std::mt19937_64 random(thread);
      std::vector<Block> blocks;
      for (int i = 0; i < 20000; ++i) {
        blocks.push_back(allocate(heap, 1 + random() % 300, 8, thread));
        if (blocks.size() < 50) continue;
        std::swap(blocks[random() % blocks.size()], blocks.back());
        if (!blocks.back().is_intact()) ++broken;
        heap.free(blocks.back().memory, blocks.back().size, 8);
        blocks.pop_back();
      }
      for (const Block& block : blocks) heap.free(block.memory, block.size, 8);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(heap.bytes(), 0u);
}

using Barrier = GracePeriods::Barrier;

class Grace : public testing::TestWithParam<Barrier> {
 protected:
  static constexpr size_t kBytes = 40;

  // Makes `count` calls that retire a block each.
  void retire(CallSlot& slot, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      void* memory = heap_.allocate(kBytes, 8);
      const LatchlessCall call(slot);
      const KeydromeEnvironment& environment = heap_.environment();
      environment.retire(environment.context, memory, kBytes, 8);
    }
  }
  size_t blocks() const { return heap_.bytes() / kBytes; }

  Heap heap_;
  GracePeriods periods_{GetParam()};
};

// A call in a thread of its own. It runs until the object's destructor or end().
class OtherCall {
 public:
  explicit OtherCall(GracePeriods& periods)
      : slot_(periods), thread_([this] {
          const LatchlessCall call(slot_);
          state_ = 1;
          state_.notify_all();
          state_.wait(1);
        }) {
    state_.wait(0);
  }
  OtherCall(const OtherCall&) = delete;
  OtherCall& operator=(const OtherCall&) = delete;
  ~OtherCall() { end(); }
  void end() {
    state_ = 2;
    state_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  CallSlot slot_;
  std::atomic<int> state_ = 0;
  std::thread thread_;
};

TEST_P(Grace, OutsideOfACallMemoryIsFreedAtOnce) {
  void* memory = heap_.allocate(kBytes, 8);
  heap_.environment().retire(heap_.environment().context, memory, kBytes, 8);
  EXPECT_EQ(blocks(), 0u);
}

TEST_P(Grace, MemoryStaysWhileACallRunsThatRanWhenItWasRetired) {
  OtherCall reader(periods_);
  {
    CallSlot slot(periods_);
    retire(slot, CallSlot::kBatch);
    EXPECT_EQ(blocks(), CallSlot::kBatch);
    retire(slot, CallSlot::kBatch);
    EXPECT_EQ(blocks(), 2 * CallSlot::kBatch);
    reader.end();
    retire(slot, 1);  // sees that the period is over, and begins another one
    EXPECT_EQ(blocks(), CallSlot::kBatch + 1);
  }
  EXPECT_EQ(blocks(), 0u) << "the end of a slot frees the rest";
}

TEST_P(Grace, ACallThatBeganLaterIsNotAwaited) {
  CallSlot slot(periods_);
  retire(slot, CallSlot::kBatch);  // begins a period; no other call runs
  const OtherCall reader(periods_);
  retire(slot, CallSlot::kBatch);
  EXPECT_EQ(blocks(), CallSlot::kBatch);
}

TEST_P(Grace, GarbageIsBounded) {
  CallSlot slot(periods_);
  const CallSlot idle(periods_);  // a thread that makes no calls
  for (int i = 0; i < 10000; ++i) {
    retire(slot, 1);
    ASSERT_LE(blocks(), 2 * CallSlot::kBatch);
  }
}

TEST_P(Grace, AWriterWaitsForASlowCallBeforeGarbageGrowsBeyondTheBound) {
  OtherCall reader(periods_);
  std::atomic<size_t> retired = 0;
  size_t most = 0;
  std::thread writer([&] {
    CallSlot slot(periods_);
    for (; retired < 3 * CallSlot::kMost; ++retired) {
      retire(slot, 1);
      most = std::max(most, blocks());
    }
  });
  while (retired < CallSlot::kMost) std::this_thread::yield();
  reader.end();
  writer.join();
  EXPECT_GE(most, CallSlot::kMost);
  EXPECT_LE(most, CallSlot::kMost + CallSlot::kBatch);
}

// Threads read a block that a writer replaces and retires again and again. Each block has a number
// of its own, and the heap overwrites free blocks, so the number changes if a block is freed during
// a read. The readers yield, so that the writer makes many replacements during one read.
TEST_P(Grace, ReadersNeverSeeFreedMemory) {
  constexpr int kReaders = 3, kReplacements = 300000;
  const KeydromeEnvironment& environment = heap_.environment();
  const auto fresh = [&](uint64_t number) {
    return new (heap_.allocate(kBytes, 8)) std::atomic<uint64_t>(number);
  };
  std::atomic<std::atomic<uint64_t>*> shared = fresh(0);
  std::atomic<bool> done = false;
  std::atomic<uint64_t> wrong = 0;
  std::barrier<> start(kReaders + 1);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      CallSlot slot(periods_);
      start.arrive_and_wait();
      while (!done) {
        const LatchlessRead read(slot);
        const std::atomic<uint64_t>* block = shared.load(std::memory_order_acquire);
        const uint64_t number = block->load(std::memory_order_relaxed);
        std::this_thread::yield();
        if (block->load(std::memory_order_relaxed) != number) ++wrong;
      }
    });
  }
  {
    CallSlot slot(periods_);
    start.arrive_and_wait();
    for (uint64_t number = 1; number <= kReplacements; ++number) {
      const LatchlessCall call(slot);
      auto* old = shared.exchange(fresh(number), std::memory_order_acq_rel);
      environment.retire(environment.context, old, kBytes, 8);
    }
    done = true;
    for (std::thread& reader : readers) reader.join();
  }
  EXPECT_EQ(wrong, 0u);
  heap_.free(shared, kBytes, 8);
}

INSTANTIATE_TEST_SUITE_P(Barriers, Grace,
                         testing::Values(GracePeriods::cheapest_barrier(), Barrier::kInEachCall),
                         [](const testing::TestParamInfo<Barrier>& tested) {
                           return std::string(tested.index == 0 ? "Cheapest" : "InEachCall");
                         });

}  // namespace
}  // namespace keydrome::runtime
