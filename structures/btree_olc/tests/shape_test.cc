// Tests what only the B+-tree with optimistic lock coupling has: full leaves after ascending
// insertions, two kinds of leaves, and a check() that detects damage.
#include <gtest/gtest.h>

#include <string>

#include "structures/btree_olc/node.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::btree_olc {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

// Remembers the last number leaf that was allocated, and the last inner node.
struct NodeWatch {
  static void* allocate(void* context, size_t size, size_t alignment) {
    void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    auto& watch = *static_cast<NodeWatch*>(context);
    if (size == sizeof(NumberLeaf)) watch.leaf = static_cast<NumberLeaf*>(memory);
    if (size > sizeof(Inner)) watch.node = static_cast<Inner*>(memory);
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }

  NumberLeaf* leaf = nullptr;
  Inner* node = nullptr;
};

class BtreeOlcShape : public testing::Test {
 protected:
  KeydromeStructure* create() const {
    const KeydromeSetup setup{sizeof setup, 8, nullptr};
    return table().create(&environment_, &setup);
  }

  NodeWatch watch_;
  const KeydromeEnvironment environment_{sizeof environment_, 0, &watch_, NodeWatch::allocate,
                                         NodeWatch::retire};
};

TEST_F(BtreeOlcShape, AscendingInsertionsFillTheLeaves) {
  keydrome::Structure structure(table(), create());
  for (uint32_t i = 0; i < 20'000; ++i) structure.put({big_endian(i, 8), big_endian(i, 8)});
  const auto slots = static_cast<double>(structure.statistic(KEYDROME_STATISTIC_SLOTS));
  const auto used = static_cast<double>(structure.statistic(KEYDROME_STATISTIC_SLOTS_USED));
  EXPECT_GT(used / slots, 0.95);
  EXPECT_EQ(structure.statistic(KEYDROME_STATISTIC_HEIGHT), 3u);
}

TEST_F(BtreeOlcShape, NumbersAndTextsHaveLeavesOfTheirOwn) {
  keydrome::Structure structure(table(), create());
  structure.put({big_endian(1, 8), "12345678"});
  ASSERT_EQ(watch_.leaf->count, 1u);
  NumberLeaf* const numbers = watch_.leaf;
  // A payload of another size replaces the number leaf by a leaf with records. So no second number
  // leaf is allocated.
  structure.put({big_endian(2, 8), "a longer payload"});
  EXPECT_EQ(watch_.leaf, numbers);
  EXPECT_EQ(structure.find(big_endian(1, 8)), "12345678");
  EXPECT_EQ(structure.find(big_endian(2, 8)), "a longer payload");
}

TEST_F(BtreeOlcShape, CheckSeesDamage) {
  keydrome::Structure structure(table(), create());
  for (uint32_t i = 0; i < 1000; ++i) structure.put({big_endian(i, 8), big_endian(i, 8)});
  ASSERT_EQ(structure.check(), 0);
  NumberLeaf& leaf = *watch_.leaf;
  Inner& node = *watch_.node;
  const auto expect_damage = [&](const char* what, const auto& damage, const auto& repair) {
    damage();
    EXPECT_NE(structure.check(), 0) << what;
    repair();
    EXPECT_EQ(structure.check(), 0) << what;
  };
  expect_damage("a latch", [&] { leaf.version.latch(); }, [&] { leaf.version.unlatch(false); });
  expect_damage("a level", [&] { leaf.level = 1; }, [&] { leaf.level = 0; });
  const uint64_t first = leaf.heads[0];
  expect_damage("order", [&] { leaf.heads[0] = 0; }, [&] { leaf.heads[0] = first; });
  const uint64_t group = node.summary[0];
  expect_damage("a summary", [&] { node.summary[0] = 3; }, [&] { node.summary[0] = group; });
  const uint64_t head = node.heads[0];
  expect_damage("a head", [&] { node.heads[0] = 3; }, [&] { node.heads[0] = head; });
  expect_damage("dead bytes", [&] { ++node.dead; }, [&] { --node.dead; });
}

}  // namespace
}  // namespace keydrome::btree_olc
