// Tests what only the Bw-tree has: deltas, pages that are split, merged or frozen, what a lack of
// memory leaves behind, and a check() that sees damage. The test of contract B
// (keydrome/structure.h) covers what all structures have.
#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "structures/bwtree/tree.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::bwtree {
namespace {

// A tree with functions that accept numbers. Each number has one payload: the number itself.
class TreeTest : public testing::Test {
 protected:
  int put(uint64_t number) {
    const std::string bytes = big_endian(number, 8);
    return tree_.put(bytes_of(bytes), bytes_of(bytes));
  }
  int del(uint64_t number) {
    const std::string bytes = big_endian(number, 8);
    return tree_.del(bytes_of(bytes), bytes_of(bytes));
  }
  bool has(uint64_t number) const {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer payload{bytes, 0, sizeof bytes};
    const std::string key = big_endian(number, 8);
    return tree_.find(bytes_of(key), kNoPayload, payload) == 1;
  }
  // Returns how many pairs scans find, in runs of 20.
  uint64_t scanned() const {
    uint64_t count = 0;
    std::string from;
    for (bool more = true; more;) {
      RunBuffer run(20);
      more = tree_.scan(bytes_of(from), kNoPayload, count > 0, *run.get()) == 1;
      const auto pairs = run.pairs();
      count += pairs.size();
      if (!pairs.empty()) from = pairs.back().first;
    }
    return count;
  }
  uint64_t pages() const { return tree_.statistic(KEYDROME_STATISTIC_NODES); }
  const Page& root() { return *tree_.root().page.load(); }
  Slot* child(uint32_t index) { return base(root()).children()[index]; }

  WatchedEnvironment environment_;
  const KeydromeSetup setup_{sizeof(KeydromeSetup), 8, nullptr};
  Tree tree_{*environment_.get(), setup_};
};

TEST_F(TreeTest, ALeafGetsANewBaseAfterSomeDeltas) {
  const Base* first = &base_of(root());
  for (uint64_t i = 1; i < kDeltasUsual; ++i) {
    put(i);
    EXPECT_EQ(root().deltas, i);
    EXPECT_EQ(&base_of(root()), first);
  }
  put(kDeltasUsual);
  EXPECT_EQ(root().kind, Kind::kBase);
  EXPECT_EQ(base(root()).count, kDeltasUsual);
}

// A pair that was changed several times since the base was made is as its newest delta says.
TEST_F(TreeTest, TheNewestDeltaOfAPairCounts) {
  for (uint64_t i = 0; i < kDeltasUsual; ++i) put(2 * i);
  ASSERT_EQ(root().kind, Kind::kBase);
  EXPECT_EQ(del(4), 1);
  EXPECT_EQ(del(4), 0);
  EXPECT_FALSE(has(4));
  EXPECT_EQ(put(4), 1);
  EXPECT_EQ(put(5), 1);
  EXPECT_EQ(put(4), 0);
  EXPECT_TRUE(has(4));
  EXPECT_EQ(del(5), 1);
  EXPECT_FALSE(has(5));
  EXPECT_EQ(root().deltas, 4);
  EXPECT_EQ(scanned(), kDeltasUsual);
  EXPECT_EQ(tree_.check(), 0);
}

TEST_F(TreeTest, DeletionsMergePagesOfAllLevels) {
  constexpr uint64_t kPairs = 15'000;
  const uint64_t bytes_empty = environment_.bytes();
  for (uint64_t i = 0; i < kPairs; ++i) ASSERT_EQ(put(i), 1);
  EXPECT_GE(root().level, 2);
  EXPECT_EQ(tree_.check(), 0);
  EXPECT_EQ(scanned(), kPairs);
  const uint64_t pages_full = pages();
  for (uint64_t i = 0; i < kPairs; ++i) {
    ASSERT_EQ(del(i), 1);
    if (i % 1000 == 0) {
      ASSERT_EQ(tree_.check(), 0);
    }
  }
  EXPECT_EQ(tree_.check(), 0);
  EXPECT_EQ(scanned(), 0u);
  EXPECT_GT(pages_full, 250u);
  EXPECT_LE(pages(), root().level + 1u);  // one page of each level
  EXPECT_LT(environment_.bytes(), bytes_empty + 1000);
}

// A thread that was interrupted between two steps of a merge leaves such a tree for the others.
TEST_F(TreeTest, ReadsPassAFrozenPage) {
  for (uint64_t i = 0; i < 1000; ++i) put(i);
  Slot* const left = child(3);
  Slot* const right = child(4);
  const Removed mark{{Kind::kRemoved, 0, 0, 0}, left, right->page.load()};
  right->page.store(&mark);
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(has(i)) << i;
  EXPECT_EQ(scanned(), 1000u);
  EXPECT_NE(tree_.check(), 0) << "no merge is running";
  right->page.store(mark.frozen);
  EXPECT_EQ(tree_.check(), 0);
}

// Each number of successful allocations is tried before memory runs out, so a merge stops at each of
// its steps. It leaves nothing half done, so deletions that have memory can merge all pages.
TEST_F(TreeTest, AMergeThatGetsNoMemoryChangesNothing) {
  constexpr uint64_t kPairs = 1000;
  uint64_t interrupted = 0;
  for (int successes = 0; successes < 6; ++successes) {
    for (uint64_t i = 0; i < kPairs; ++i) put(i);
    for (uint64_t i = 0; i < kPairs; ++i) {
      environment_.forget_failure();
      environment_.fail_after(successes);
      int deleted = del(i);
      environment_.fail_after(-1);
      if (environment_.failed()) ++interrupted;
      if (deleted < 0) deleted = del(i);
      ASSERT_EQ(deleted, 1);
      ASSERT_EQ(tree_.check(), 0) << i;
      ASSERT_FALSE(has(i));
      ASSERT_EQ(has(i + 1), i + 1 < kPairs);
    }
    EXPECT_EQ(scanned(), 0u);
    for (uint64_t i = 0; i < kPairs; ++i) put(i);
    for (uint64_t i = 0; i < kPairs; ++i) del(i);
    EXPECT_LE(pages(), root().level + 1u);
  }
  EXPECT_GT(interrupted, 100u);
}

// A leaf that has no entry in its parent is found by the link of its neighbour.
TEST_F(TreeTest, ASplitThatGetsNoMemoryForTheParentLosesNothing) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    if (i > 500) environment_.fail_after(static_cast<int>(hash_mix(i, 7) % 6));
    if (put(i) == 1) ++kept;
    environment_.fail_after(-1);
  }
  EXPECT_EQ(tree_.check(), 0);
  EXPECT_EQ(scanned(), kept);
  ASSERT_EQ(root().level, 1);
  EXPECT_LT(root().count + 1, pages()) << "each leaf has an entry, so the test tests nothing";
}

TEST_F(TreeTest, KeysWithACommonPrefixNeedOnlyTheRestInTheirHeads) {
  const std::string prefix(120, 'k');
  for (uint64_t i = 0; i < 90; ++i) {
    const std::string key = prefix + big_endian(i, 8);
    ASSERT_EQ(tree_.put(bytes_of(key), kNoPayload), 1);
  }
  EXPECT_GE(base_of(root()).prefix, 120);
  for (const std::string& other :
       {std::string(120, 'k'), std::string(128, 'j'), std::string("l")}) {
    EXPECT_EQ(tree_.del(bytes_of(other), kNoPayload), 0);
  }
  EXPECT_EQ(scanned(), 90u);
}

// Sets a place to a wrong value, and then to the right one again.
template <class Place, class Value>
void expect_damage(const Tree& tree, const char* what, Place& place, Value wrong) {
  const Place right = place;
  place = static_cast<Place>(wrong);
  EXPECT_NE(tree.check(), 0) << what;
  place = right;
  EXPECT_EQ(tree.check(), 0) << what;
}

TEST_F(TreeTest, CheckSeesDamage) {
  for (uint64_t i = 0; i < 1000; ++i) put(i);
  const auto last_page = [&] { return child(root().count - 1)->page.load(); };
  for (uint64_t i = 1000; last_page()->kind != Kind::kInsert; ++i) put(i);
  ASSERT_EQ(tree_.check(), 0);
  const Page* first_page = child(0)->page.load();
  auto& leaf = const_cast<Base&>(base_of(*first_page));
  expect_damage(tree_, "a level", leaf.level, 1);
  expect_damage(tree_, "a key", const_cast<char&>(leaf.head_bytes(3)[7]), 9);
  expect_damage(tree_, "the head of the bound", leaf.high_head, leaf.high_head + 1);
  expect_damage(tree_, "a missing link", leaf.right, nullptr);
  expect_damage(tree_, "a link past a page", leaf.right, child(2));
  auto& parent = const_cast<Base&>(base(root()));
  expect_damage(tree_, "a wrong child", const_cast<Slot*&>(parent.children()[1]), child(2));
  auto& newest = const_cast<Delta&>(delta(*last_page()));
  expect_damage(tree_, "a count", newest.count, newest.count + 1);
  expect_damage(tree_, "a number of deltas", newest.deltas, newest.deltas + 1);
  expect_damage(tree_, "the head of a delta", newest.head, 0);
  expect_damage(tree_, "the base of a delta", newest.base, &parent);
}

TEST_F(TreeTest, CheckSeesDamageOfTexts) {
  for (uint64_t i = 0; i < 20; ++i) {
    const std::string key = "a text " + std::to_string(100 + i);
    ASSERT_EQ(tree_.put(bytes_of(key), kNoPayload), 1);
  }
  auto& leaf = const_cast<Base&>(base_of(root()));
  ASSERT_FALSE(leaf.has_numbers);
  expect_damage(tree_, "a head", const_cast<char&>(leaf.head_bytes(3)[0]), 'x');
  expect_damage(tree_, "an order", const_cast<uint16_t&>(leaf.offsets()[3]), leaf.offsets()[2]);
  expect_damage(tree_, "the prefix", leaf.prefix, leaf.prefix + 1);
}

}  // namespace
}  // namespace keydrome::bwtree
