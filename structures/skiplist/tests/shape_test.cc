// Tests features that only the skip list has: how many links its nodes have, and a check() that
// detects damage. The test of contract B, the interface of a data structure (keydrome/structure.h),
// covers what all structures have.
#include <gtest/gtest.h>

#include <cstdlib>

#include "structures/skiplist/node.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::skiplist {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

TEST(Skiplist, AQuarterOfTheNodesHasOneLinkMore) {
  constexpr uint32_t kPairs = 20'000;
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  const size_t bytes_empty = environment.bytes();
  for (uint32_t i = 0; i < kPairs; ++i) structure.put({big_endian(i, 8), ""});
  const size_t links = environment.bytes() - bytes_empty - kPairs * Node::bytes(0, 8, 0);
  const double links_per_node = static_cast<double>(links) / sizeof(Node::Link) / kPairs;
  EXPECT_NEAR(links_per_node, 4.0 / 3, 0.05);
  EXPECT_GE(structure.statistic(KEYDROME_STATISTIC_HEIGHT), 6u);
  EXPECT_LE(structure.statistic(KEYDROME_STATISTIC_HEIGHT), 12u);
}

// Stores the address of the first node that was allocated, which is the node before all pairs.
struct NodeWatch {
  static void* allocate(void* context, size_t size, size_t) {
    void* memory = std::malloc(size);
    auto& watch = *static_cast<NodeWatch*>(context);
    if (size == Node::bytes(kHeightMax, 0, 0)) watch.start = static_cast<Node*>(memory);
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }
  Node* start = nullptr;
};

TEST(Skiplist, CheckSeesDamage) {
  NodeWatch watch;
  const KeydromeEnvironment environment{sizeof environment, 0, &watch, NodeWatch::allocate,
                                        NodeWatch::retire};
  const KeydromeSetup setup{sizeof setup, 0, nullptr};
  Structure structure(table(), table().create(&environment, &setup));
  for (uint32_t i = 0; i < 1000; ++i) structure.put({big_endian(i, 4), ""});
  ASSERT_EQ(structure.check(), 0);
  ASSERT_NE(watch.start, nullptr);
  Node& first = *watch.start->next();
  const auto expect_damage = [&](const char* what, auto damage, auto repair) {
    damage();
    EXPECT_NE(structure.check(), 0) << what;
    repair();
    EXPECT_EQ(structure.check(), 0) << what;
  };
  expect_damage("a lock", [&] { first.locked = true; }, [&] { first.locked = false; });
  expect_damage("a mark", [&] { first.marked = true; }, [&] { first.marked = false; });
  Node* high = watch.start->next(2);
  expect_damage(
      "a level that lacks a node", [&] { watch.start->set_next(2, high->next(2)); },
      [&] { watch.start->set_next(2, high); });
  Node* second = first.next();
  Node* third = second->next();
  expect_damage(
      "an order",
      [&] {
        watch.start->set_next(0, second);
        second->set_next(0, &first);
        first.set_next(0, third);
      },
      [&] {
        watch.start->set_next(0, &first);
        first.set_next(0, second);
        second->set_next(0, third);
      });
}

}  // namespace
}  // namespace keydrome::skiplist
