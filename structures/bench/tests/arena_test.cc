// Tests the memory that structure_bench, the program that times data structures, gives to them.
// Blocks are aligned and reused, and are kept while other threads may read them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "structures/bench/environment.h"

namespace keydrome::bench {
namespace {

TEST(StructureBenchArena, BlocksAreAlignedAndDoNotOverlap) {
  Arena arena(false);
  const KeydromeEnvironment& environment = *arena.environment();
  struct Block {
    unsigned char* memory;
    size_t size, alignment;
  };
  std::vector<Block> blocks;
  for (size_t alignment = 1; alignment <= size_t{2} << 20; alignment *= 2) {
    for (const size_t size : {1u, 16u, 17u, 100u, 4096u, 4097u, 100'000u}) {
      auto* memory =
          static_cast<unsigned char*>(environment.allocate(environment.context, size, alignment));
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
      std::memset(memory, static_cast<int>(blocks.size()), size);
      blocks.push_back({memory, size, alignment});
    }
  }
  EXPECT_EQ(arena.blocks(), blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].memory[0], static_cast<unsigned char>(i));
    EXPECT_EQ(blocks[i].memory[blocks[i].size - 1], static_cast<unsigned char>(i));
    environment.retire(environment.context, blocks[i].memory, blocks[i].size, blocks[i].alignment);
  }
  EXPECT_EQ(arena.blocks(), 0u);
}

TEST(StructureBenchArena, KeepsRetiredBlocksWhileThreadsRun) {
  Arena arena(false);
  const KeydromeEnvironment& environment = *arena.environment();
  const auto take = [&] { return environment.allocate(environment.context, 64, 64); };
  void* first = take();
  arena.begin_threads();
  environment.retire(environment.context, first, 64, 64);
  EXPECT_NE(take(), first);
  arena.end_threads();
  EXPECT_EQ(take(), first);
}

}  // namespace
}  // namespace keydrome::bench
