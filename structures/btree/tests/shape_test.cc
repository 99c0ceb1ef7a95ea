// Tests how much memory the B+-tree uses: full leaves after ascending inserts, bounded memory while
// keys come and go, and one key with very many payloads.
#include <gtest/gtest.h>

#include <string>

#include "structures/btree/tests/fixture.h"

namespace keydrome::btree {
namespace {

const KeydromeStructureTable& table() { return *tables().back(); }

StringPair numbered(uint64_t number, uint32_t key_bytes) {
  const std::string key =
      key_bytes > 0 ? big_endian(number, key_bytes) : "user" + std::to_string(1000000000 + number);
  return {key, big_endian(number, 8)};
}

class BtreeShape : public testing::TestWithParam<uint32_t> {};

TEST_P(BtreeShape, AscendingInsertsFillTheLeaves) {
  CheckedEnvironment environment;
  Instance tree(table(), environment, GetParam());
  constexpr uint32_t kPairs = 20000;
  for (uint32_t i = 0; i < kPairs; ++i) ASSERT_EQ(tree.put(numbered(i, GetParam())), 1);
  const auto slots = static_cast<double>(tree.statistic(KEYDROME_STATISTIC_SLOTS));
  const auto used = static_cast<double>(tree.statistic(KEYDROME_STATISTIC_SLOTS_USED));
  EXPECT_GT(used / slots, 0.95);
  EXPECT_EQ(tree.statistic(KEYDROME_STATISTIC_HEIGHT), 3u);
  EXPECT_EQ(tree.check(), 0);
}

// The number of keys stays the same: the oldest key is deleted after each insertion.
TEST_P(BtreeShape, MemoryIsBoundedWhileKeysComeAndGo) {
  CheckedEnvironment environment;
  Instance tree(table(), environment, GetParam());
  constexpr uint64_t kPairs = 2000;
  const auto pair = [](uint64_t i) { return numbered(i * 2654435761u % 4000037, GetParam()); };
  size_t early = 0;
  for (uint64_t i = 0; i < 20 * kPairs; ++i) {
    ASSERT_EQ(tree.put(pair(i)), 1);
    if (i >= kPairs) {
      ASSERT_EQ(tree.del(pair(i - kPairs)), 1);
    }
    if (i == 4 * kPairs) early = environment.bytes();
  }
  EXPECT_LT(static_cast<double>(environment.bytes()), 1.1 * static_cast<double>(early));
  EXPECT_EQ(tree.check(), 0);
}

TEST_P(BtreeShape, ManyPayloadsOfOneKey) {
  CheckedEnvironment environment;
  Instance tree(table(), environment, GetParam());
  const std::string key = numbered(7, GetParam()).first;
  constexpr uint64_t kPayloads = 100000;
  const auto payload = [](uint64_t i) { return big_endian(i * 2654435761u % kPayloads, 8); };
  for (uint64_t i = 0; i < kPayloads; ++i) ASSERT_EQ(tree.put({key, payload(i)}), 1);
  EXPECT_EQ(tree.put({key, payload(5)}), 0);
  EXPECT_EQ(tree.check(), 0);
  // In a full leaf, a payload takes 13 bytes: head 8, position of the record 2, record 2, tag 1.
  EXPECT_LT(environment.bytes() / kPayloads, 50u);
  EXPECT_EQ(tree.scan_all(1000).size(), kPayloads);
  for (uint64_t i = 1; i < kPayloads; ++i) ASSERT_EQ(tree.del({key, payload(i)}), 1);
  std::string left;
  EXPECT_EQ(tree.find(key, kAny, left), 1);
  EXPECT_EQ(left, payload(0));
  EXPECT_LT(environment.bytes(), 3000u);
}

INSTANTIATE_TEST_SUITE_P(KeyBytes, BtreeShape, testing::Values(0u, 4u, 8u));

}  // namespace
}  // namespace keydrome::btree
