// Tests features that only the delta storage has: its options, pairs that stay as separators,
// positions of the dictionary that are used again, and a check() that detects damage. The test of
// contract B, the interface of a data structure (keydrome/structure.h), covers what all structures
// have.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "structures/delta_storage/tree.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::delta_storage {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

KeydromeStructure* create(const WatchedEnvironment& environment, const char* options) {
  const KeydromeSetup setup{sizeof setup, 0, options};
  return table().create(environment.get(), &setup);
}

class Variants : public ::testing::TestWithParam<const char*> {};

TEST_P(Variants, RandomChangesMatchAModel) {
  WatchedEnvironment environment;
  Structure structure(table(), create(environment, GetParam()));
  ASSERT_NE(structure.get(), nullptr);
  for (const Shape shape : {Shape::kInt64, Shape::kText, Shape::kFewKeys}) {
    PairSource source(shape, 7, 2000, Limits::of(table()));
    Model model;
    for (uint32_t i = 0; i < 12'000; ++i) {
      const keydrome::Pair pair = source.pair();
      const bool inserts = source.below(10) < (i < 6000 ? 7u : 3u);
      const int expected = inserts ? static_cast<int>(model.insert(pair).second)
                                   : static_cast<int>(model.erase(pair));
      ASSERT_EQ(inserts ? structure.put(pair) : structure.del(pair), expected);
      if (i % 1000 == 0) {
        ASSERT_EQ(structure.check(), 0);
      }
    }
    const std::vector<keydrome::Pair> all(model.begin(), model.end());
    EXPECT_EQ(structure.all("", 100), all);
    for (const keydrome::Pair& pair : all) ASSERT_EQ(structure.del(pair), 1);
    ASSERT_EQ(structure.check(), 0);
    EXPECT_EQ(structure.statistic(KEYDROME_STATISTIC_NODES), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(DeltaStorage, Variants,
                         ::testing::Values(R"({})", R"({"search": "linear"})",
                                           R"({"dictionary": "per_core"})",
                                           R"({"search": "linear", "dictionary": "per_core"})"));

TEST(DeltaStorage, UnknownOptionsAreRefused) {
  WatchedEnvironment environment;
  for (const char* options :
       {R"({"search": "fast"})", R"({"method": "linear"})", R"({"dictionary": 1})", "[]", "{"}) {
    EXPECT_EQ(create(environment, options), nullptr) << options;
  }
}

class DeltaTree : public ::testing::Test {
 protected:
  static int put(Tree& tree, uint64_t number) {
    const std::string key = big_endian(number, 8);
    return tree.put(keydrome::bytes_of(key), keydrome::bytes_of(key));
  }
  static int del(Tree& tree, uint64_t number) {
    const std::string key = big_endian(number, 8);
    return tree.del(keydrome::bytes_of(key), keydrome::bytes_of(key));
  }

  WatchedEnvironment environment_;
  const KeydromeSetup setup_{sizeof setup_, 8, nullptr};
  const KeydromeSetup per_core_{sizeof per_core_, 8, R"({"dictionary": "per_core"})"};
};

TEST_F(DeltaTree, ADeletedPairStaysAsASeparator) {
  Tree tree(*environment_.get(), setup_);
  // The last put splits a leaf.
  for (uint32_t i = 0; i <= Leaf::kIds; ++i) ASSERT_EQ(put(tree, i), 1);
  const Dictionary& dictionary = tree.dictionaries().at(0);
  uint32_t first = 0;  // the first id of the right leaf; here, each id is the number of its pair
  while (dictionary.uses(first) != (kInLeaf | kSeparator)) ++first;
  ASSERT_LT(first, Leaf::kIds);
  EXPECT_EQ(del(tree, first), 1);
  EXPECT_EQ(dictionary.uses(first), kSeparator);
  EXPECT_EQ(del(tree, first), 0);
  ASSERT_EQ(tree.check(), 0);
  EXPECT_EQ(put(tree, first), 1);  // another pair with the same bytes
  EXPECT_EQ(put(tree, first), 0);
  EXPECT_EQ(dictionary.size(), Leaf::kIds + 2);
  ASSERT_EQ(tree.check(), 0);
  for (uint32_t i = 0; i <= Leaf::kIds; ++i) EXPECT_EQ(del(tree, i), 1);
  EXPECT_EQ(dictionary.uses(first), 0);
  EXPECT_EQ(tree.check(), 0);
}

TEST_F(DeltaTree, PositionsAreUsedAgain) {
  constexpr uint32_t kPairs = 10'000;
  Tree tree(*environment_.get(), setup_);
  for (uint32_t i = 0; i < kPairs; ++i) put(tree, i);
  const size_t bytes = environment_.bytes();
  for (uint32_t i = 0; i < 10 * kPairs; ++i) {
    ASSERT_EQ(del(tree, i), 1);
    ASSERT_EQ(put(tree, i + kPairs), 1);
  }
  // A deleted pair that is a separator keeps its position for a while.
  EXPECT_LT(tree.dictionaries().at(0).size(), kPairs + kPairs / 10);
  EXPECT_LT(environment_.bytes(), bytes + bytes / 2);
  EXPECT_EQ(tree.check(), 0);
}

TEST_F(DeltaTree, EachCoreAppendsToItsDictionary) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  Tree tree(*environment_.get(), per_core_);
  std::set<uint32_t> expected;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    put(tree, static_cast<uint64_t>(cpu));
    expected.insert(static_cast<uint32_t>(cpu) % tree.dictionaries().count());
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  std::set<uint32_t> filled;
  for (uint32_t i = 0; i < tree.dictionaries().count(); ++i) {
    if (tree.dictionaries().at(i).size() > 0) filled.insert(i);
  }
  EXPECT_EQ(filled, expected);
  EXPECT_EQ(tree.check(), 0);
}

// Stores the addresses of the nodes that were allocated.
struct NodeWatch {
  static void* allocate(void* context, size_t size, size_t alignment) {
    void* memory = std::aligned_alloc(std::max<size_t>(alignment, 8),
                                      (size + alignment - 1) / alignment * alignment);
    auto& watch = *static_cast<NodeWatch*>(context);
    if (size == sizeof(Leaf)) watch.leaves.push_back(static_cast<Leaf*>(memory));
    if (size == sizeof(Inner)) watch.inners.push_back(static_cast<Inner*>(memory));
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }

  std::vector<Leaf*> leaves;
  std::vector<Inner*> inners;
};

TEST(DeltaStorage, CheckSeesDamage) {
  NodeWatch watch;
  const KeydromeEnvironment environment{sizeof environment, 0, &watch, NodeWatch::allocate,
                                        NodeWatch::retire};
  const KeydromeSetup setup{sizeof setup, 8, nullptr};
  Structure structure(table(), table().create(&environment, &setup));
  for (uint32_t i = 0; i < 1000; ++i) structure.put({big_endian(i, 8), big_endian(i, 8)});
  ASSERT_EQ(structure.check(), 0);
  ASSERT_GT(watch.leaves.size(), 2u);
  ASSERT_FALSE(watch.inners.empty());
  const auto expect_damage = [&](const char* what, auto& place, auto wrong) {
    const auto right = place;
    place = wrong;
    EXPECT_NE(structure.check(), 0) << what;
    place = right;
    EXPECT_EQ(structure.check(), 0) << what;
  };
  Leaf& leaf = *watch.leaves[1];
  Inner& inner = *watch.inners[0];
  expect_damage("an order", leaf.ids[1], leaf.ids[2]);
  expect_damage("an id that the dictionary lacks", leaf.ids[0], Id{5000});
  expect_damage("an id twice", leaf.ids[3], watch.leaves[2]->ids[0]);
  expect_damage("a separator", inner.ids[0], inner.ids[1]);
  expect_damage("a level", leaf.level, uint16_t{2});
  expect_damage("a small leaf", leaf.count, uint16_t{3});
  expect_damage("a link", leaf.next, static_cast<Leaf*>(nullptr));
}

}  // namespace
}  // namespace keydrome::delta_storage
