// Tests features that only the T-tree has: balance, nodes that take entries of their neighbours,
// payloads in trees of their own, and a check() that detects damage. The test of contract B, the
// interface of a data structure (keydrome/structure.h), covers the features that all structures
// have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "keydrome/structure.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"
#include "structures/ttree/node.h"

namespace keydrome::ttree {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

// Tests divide their numbers of pairs by this.
#ifdef KEYDROME_SANITIZED
constexpr uint32_t kLess = 4;
#else
constexpr uint32_t kLess = 1;
#endif

enum class Keys { kDense, kSparse, kCommonPrefix, kTies, kManyPayloads };
enum class Order { kAscending, kDescending, kShuffled };

// Returns about 8,000 pairs in ascending order.
std::vector<Pair> make_pairs(Keys shape) {
  Model pairs;
  std::mt19937_64 random(3);
  for (uint32_t i = 0; i < 8000 / kLess; ++i) {
    switch (shape) {
      case Keys::kDense:
        pairs.insert({big_endian(i, 8), "payload"});
        break;
      case Keys::kSparse:
        pairs.insert({big_endian(random(), 8), big_endian(i, i % 9)});
        break;
      case Keys::kCommonPrefix:
        pairs.insert({std::string(120, 'p') + big_endian(random(), 8), ""});
        break;
      case Keys::kTies:  // all heads (first eight bytes of keys, padded with zeros) are equal
        pairs.insert({std::string(random() % 100, '\0'), big_endian(random() % 1000, 2)});
        break;
      case Keys::kManyPayloads:
        pairs.insert({big_endian(random() % 300, 4), big_endian(random(), 4)});
        break;
    }
  }
  return {pairs.begin(), pairs.end()};
}

std::vector<Pair> arrange(std::vector<Pair> pairs, Order order) {
  std::mt19937_64 random(4);
  if (order == Order::kDescending) std::reverse(pairs.begin(), pairs.end());
  if (order == Order::kShuffled) std::shuffle(pairs.begin(), pairs.end(), random);
  return pairs;
}

class Shapes : public testing::TestWithParam<std::tuple<Keys, Order, Order>> {};

// Inserts all pairs in one order, deletes most of them in another order, and inserts them again.
TEST_P(Shapes, GrowAndShrink) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  const auto [shape, order_in, order_out] = GetParam();
  const std::vector<Pair> pairs = make_pairs(shape);
  uint32_t calls = 0;
  const auto check = [&] { return ++calls % 64 == 0 ? structure.check() : 0; };
  for (const Pair& pair : arrange(pairs, order_in)) {
    ASSERT_EQ(structure.put(pair), 1);
    ASSERT_EQ(check(), 0);
  }
  ASSERT_EQ(structure.all("", 50), pairs);
  const uint64_t nodes_most = structure.statistic(KEYDROME_STATISTIC_NODES);
  const uint64_t height = structure.statistic(KEYDROME_STATISTIC_HEIGHT);
  // Knuth, The Art of Computer Programming, volume 3, section 6.2.3, theorem A
  EXPECT_LE(height, 1.4405 * std::log2(static_cast<double>(nodes_most) + 2));

  Model model(pairs.begin(), pairs.end());
  std::vector<Pair> deleted = arrange(pairs, order_out);
  deleted.resize(deleted.size() * 9 / 10);
  for (const Pair& pair : deleted) {
    ASSERT_EQ(structure.del(pair), 1);
    ASSERT_EQ(structure.del(pair), 0);
    ASSERT_EQ(check(), 0);
    model.erase(pair);
  }
  ASSERT_EQ(structure.all("", 50), std::vector<Pair>(model.begin(), model.end()));
  if (shape != Keys::kManyPayloads && shape != Keys::kTies) {
    EXPECT_LT(structure.statistic(KEYDROME_STATISTIC_NODES), nodes_most * 3 / 4);
  }
  for (const Pair& pair : arrange(deleted, order_in)) ASSERT_EQ(structure.put(pair), 1);
  ASSERT_EQ(structure.check(), 0);
  ASSERT_EQ(structure.all("", 50), pairs);
  for (const Pair& pair : pairs) ASSERT_EQ(structure.del(pair), 1);
  EXPECT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.statistic(KEYDROME_STATISTIC_NODES), 0u);
}

constexpr Order kOrders[] = {Order::kAscending, Order::kDescending, Order::kShuffled};
INSTANTIATE_TEST_SUITE_P(All, Shapes,
                         testing::Combine(testing::Values(Keys::kDense, Keys::kSparse,
                                                          Keys::kCommonPrefix, Keys::kTies,
                                                          Keys::kManyPayloads),
                                          testing::ValuesIn(kOrders), testing::ValuesIn(kOrders)));

TEST(TTree, AscendingKeysFillTheNodes) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  const uint32_t keys = 64 * 1000 / kLess;
  for (uint32_t i = 0; i < keys; ++i) ASSERT_EQ(structure.put({big_endian(i, 4), ""}), 1);
  EXPECT_EQ(structure.statistic(KEYDROME_STATISTIC_NODES), keys / 64);
  EXPECT_EQ(structure.statistic(KEYDROME_STATISTIC_SLOTS_USED), keys);
}

// A key with many payloads is one entry of a node. When one payload is left, the memory of the
// others has been given back.
TEST(TTree, PayloadsAreNotAmongTheKeys) {
  constexpr uint32_t kPayloads = 1'000'000 / kLess;
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  const auto payload = [](uint32_t i) { return big_endian(i * 2654435761u, 4); };
  structure.put({"key", payload(0)});
  const size_t bytes_of_one = environment.bytes();
  for (uint32_t i = 1; i < kPayloads; ++i) ASSERT_EQ(structure.put({"key", payload(i)}), 1);
  EXPECT_EQ(structure.put({"key", payload(7)}), 0);
  EXPECT_EQ(structure.statistic(KEYDROME_STATISTIC_SLOTS_USED), 1u);
  ASSERT_EQ(structure.check(), 0);
  std::vector<std::string> sorted;
  for (uint32_t i = 0; i < kPayloads; ++i) sorted.push_back(payload(i));
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(structure.payloads("key"), sorted);
  structure.put({"key-", ""});
  const Scanned past = structure.scan("key", std::nullopt, true, RunBuffer(2));
  EXPECT_EQ(past.pairs, (std::vector<Pair>{{"key-", ""}}));
  structure.del({"key-", ""});
  for (uint32_t i = 1; i < kPayloads; ++i) ASSERT_EQ(structure.del({"key", payload(i)}), 1);
  EXPECT_EQ(environment.bytes(), bytes_of_one);
  EXPECT_EQ(structure.del({"key", payload(0)}), 1);
}

// Makes each allocation fail once in calls that add payloads or nodes.
TEST(TTree, CallsThatFailChangeNothing) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  Model model;
  std::mt19937_64 random(6);
  uint32_t failures = 0;
  for (uint32_t i = 0; i < 8000 / kLess; ++i) {
    const Pair pair{big_endian(random() % 2000, 4), big_endian(random() % 6, 1)};
    for (int successes = 0;; ++successes) {
      environment.fail_after(successes);
      const size_t bytes_before = environment.bytes();
      const int result = structure.put(pair);
      environment.fail_after(-1);
      if (result >= 0) {
        ASSERT_EQ(result, model.insert(pair).second ? 1 : 0);
        break;
      }
      ASSERT_EQ(environment.bytes(), bytes_before);
      failures += successes >= 3 ? 1 : 0;
    }
  }
  EXPECT_GT(failures, 0u);  // a second payload needs four allocations
  ASSERT_EQ(structure.check(), 0);
  environment.fail_after(0);
  std::vector<Pair> pairs(model.begin(), model.end());
  std::shuffle(pairs.begin(), pairs.end(), random);
  for (const Pair& pair : pairs) {
    if (pair.second == big_endian(0, 1)) continue;
    ASSERT_EQ(structure.del(pair), 1);
    model.erase(pair);
  }
  environment.fail_after(-1);
  ASSERT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.all("", 50), std::vector<Pair>(model.begin(), model.end()));
  for (const Pair& pair : model) ASSERT_EQ(structure.del(pair), 1);
  EXPECT_EQ(structure.check(), 0);
}

// Remembers the last node of full size that was allocated.
struct NodeWatch {
  static void* allocate(void* context, size_t size, size_t alignment) {
    const size_t rounded = std::max<size_t>(alignment, 8);
    void* memory = std::aligned_alloc(rounded, (size + rounded - 1) / rounded * rounded);
    if (size == Node::bytes(Node::kCapacity)) static_cast<NodeWatch*>(context)->node = memory;
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }
  void* node = nullptr;
};

TEST(TTree, CheckSeesDamage) {
  NodeWatch watch;
  const KeydromeEnvironment environment{sizeof environment, 0, &watch, NodeWatch::allocate,
                                        NodeWatch::retire};
  const KeydromeSetup setup{sizeof setup, 0, nullptr};
  Structure structure(table(), table().create(&environment, &setup));
  for (uint32_t i = 0; i < 5000; ++i) structure.put({big_endian(i * 2654435761u, 4), ""});
  ASSERT_EQ(structure.check(), 0);
  auto& node = *static_cast<Node*>(watch.node);
  const auto expect_damage = [&](const char* what, auto damage) {
    alignas(Node) char copy[sizeof(Node) + 4 * sizeof(Entry)];
    std::memcpy(copy, &node, sizeof copy);
    damage();
    EXPECT_NE(structure.check(), 0) << what;
    std::memcpy(static_cast<void*>(&node), copy, sizeof copy);
  };
  expect_damage("a head", [&] { node.entries()[1].head ^= 1; });
  expect_damage("the smallest head", [&] { --node.min_head; });
  expect_damage("the largest head", [&] { ++node.max_head; });
  expect_damage("an order", [&] { std::swap(node.entries()[1], node.entries()[2]); });
  expect_damage("an entry less", [&] { --node.count; });
  expect_damage("a height", [&] { ++node.height; });
  expect_damage("the list", [&] { node.next = &node; });
  expect_damage("the list, backwards", [&] { node.previous = &node; });
  EXPECT_EQ(structure.check(), 0);
}

}  // namespace
}  // namespace keydrome::ttree
