// Tests features that only the cache-conscious tree has: pending and dead slots of the directory
// (directory.h), rebuilds of the directory, and a check() that detects damage. The test of contract
// B, the interface of a data structure (keydrome/structure.h), covers the features that all
// structures have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "keydrome/structure.h"
#include "structures/csb/leaf.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::csb {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

uint64_t statistic(const Structure& structure, uint32_t which) {
  return table().statistic(structure.get(), which);
}

std::vector<Pair> pairs_of(const Structure& structure) { return structure.all("", 50); }

// Tests divide their numbers of pairs by this factor.
#ifdef KEYDROME_SANITIZED
constexpr uint32_t kLess = 4;
#else
constexpr uint32_t kLess = 1;
#endif

enum class Keys { kDense, kSparse, kCommonPrefix, kTwoPrefixes, kHighByte, kLowByte, kOneKey };
enum class Order { kAscending, kDescending, kShuffled };

// Returns about 5,000 pairs in ascending order. They fill some 100 leaves, so the directory is
// rebuilt many times.
std::vector<Pair> make_pairs(Keys shape) {
  Model pairs;
  std::mt19937_64 random(3);
  for (uint32_t i = 0; i < 5000 / kLess; ++i) {
    const std::string payload = big_endian(random() % 1000, i % 9);
    switch (shape) {
      case Keys::kDense:
        pairs.insert({big_endian((uint64_t{1} << 63) + i, 8), payload});
        break;
      case Keys::kSparse:
        pairs.insert({big_endian(random(), 8), payload});
        break;
      case Keys::kCommonPrefix:
        pairs.insert({std::string(120, 'p') + big_endian(random(), 8), payload});
        break;
      case Keys::kTwoPrefixes:
        pairs.insert({std::string(random() % 100, "ab"[i % 2]), std::to_string(random() % 1000)});
        break;
      case Keys::kHighByte:
        pairs.insert({big_endian(random() << 56, 8), big_endian(i, 4)});
        break;
      case Keys::kLowByte:
        pairs.insert({big_endian(random() % 256, 4), big_endian(i, 4)});
        break;
      case Keys::kOneKey:
        pairs.insert({"key", big_endian(random(), 8)});
        break;
    }
  }
  return {pairs.begin(), pairs.end()};
}

class KeyShapes : public testing::TestWithParam<std::tuple<Keys, Order, Order>> {
 protected:
  static std::vector<Pair> arrange(std::vector<Pair> pairs, Order order) {
    std::mt19937_64 random(4);
    if (order == Order::kDescending) std::reverse(pairs.begin(), pairs.end());
    if (order == Order::kShuffled) std::shuffle(pairs.begin(), pairs.end(), random);
    return pairs;
  }
};

// Inserts all pairs in one order, deletes three quarters of them in another order, and inserts
// these again.
TEST_P(KeyShapes, GrowAndShrinkAsTheModel) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  const auto [shape, order_in, order_out] = GetParam();
  const std::vector<Pair> pairs = make_pairs(shape);
  const auto insert = [&](const std::vector<Pair>& wanted, Model& model) {
    for (const Pair& pair : wanted)
      ASSERT_EQ(structure.put(pair), model.insert(pair).second ? 1 : 0);
  };
  Model model;
  ASSERT_NO_FATAL_FAILURE(insert(arrange(pairs, order_in), model));
  ASSERT_EQ(structure.check(), 0);
  ASSERT_EQ(pairs_of(structure), pairs);
  const uint64_t leaves_most = statistic(structure, KEYDROME_STATISTIC_NODES);

  std::vector<Pair> deleted = arrange(pairs, order_out);
  deleted.resize(deleted.size() * 3 / 4);
  for (const Pair& pair : deleted) {
    ASSERT_EQ(structure.del(pair), 1);
    ASSERT_EQ(structure.del(pair), 0);
    model.erase(pair);
  }
  ASSERT_EQ(structure.check(), 0);
  ASSERT_EQ(pairs_of(structure), std::vector<Pair>(model.begin(), model.end()));
  EXPECT_LT(statistic(structure, KEYDROME_STATISTIC_NODES), leaves_most * 3 / 4);

  ASSERT_NO_FATAL_FAILURE(insert(arrange(deleted, order_in), model));
  ASSERT_EQ(structure.check(), 0);
  ASSERT_EQ(pairs_of(structure), pairs);
  for (const Pair& pair : pairs) ASSERT_EQ(structure.del(pair), 1);
  ASSERT_EQ(structure.check(), 0);
  EXPECT_LE(statistic(structure, KEYDROME_STATISTIC_NODES), 2u);
  EXPECT_EQ(structure.scan("", std::nullopt, false, RunBuffer(1)).pairs.size(), 0u);
}

constexpr Order kOrders[] = {Order::kAscending, Order::kDescending, Order::kShuffled};
INSTANTIATE_TEST_SUITE_P(All, KeyShapes,
                         testing::Combine(testing::Values(Keys::kDense, Keys::kSparse,
                                                          Keys::kCommonPrefix, Keys::kTwoPrefixes,
                                                          Keys::kHighByte, Keys::kLowByte,
                                                          Keys::kOneKey),
                                          testing::ValuesIn(kOrders), testing::ValuesIn(kOrders)));

TEST(Csb, AscendingPairsFillTheLeaves) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  const uint32_t pairs = Leaf::kCapacity * 1000 / kLess;
  for (uint32_t i = 0; i < pairs; ++i) structure.put({big_endian(i, 4), ""});
  EXPECT_EQ(statistic(structure, KEYDROME_STATISTIC_NODES), pairs / Leaf::kCapacity);
  EXPECT_EQ(statistic(structure, KEYDROME_STATISTIC_SLOTS_USED), pairs);
}

TEST(Csb, OneKeyHasAMillionPayloads) {
  constexpr uint32_t kPayloads = 1000000 / kLess;
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  structure.put({"before", ""});
  structure.put({"key-", ""});
  const auto payload = [](uint32_t i) { return big_endian(i * 2654435761u, 4); };
  for (uint32_t i = 0; i < kPayloads; ++i) ASSERT_EQ(structure.put({"key", payload(i)}), 1);
  ASSERT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.find("key"), payload(0));
  const Scanned past = structure.scan("key", std::nullopt, true, RunBuffer(2));
  EXPECT_EQ(past.pairs, (std::vector<Pair>{{"key-", ""}}));
  std::optional<std::string> last;
  for (int i = 0; i < 1000; ++i) {
    const std::optional<std::string> next = structure.find("key", last);
    ASSERT_TRUE(next && (!last || *last < *next));
    last = next;
  }
  for (uint32_t i = 0; i < kPayloads; ++i) ASSERT_EQ(structure.del({"key", payload(i)}), 1);
  EXPECT_EQ(pairs_of(structure), (std::vector<Pair>{{"before", ""}, {"key-", ""}}));
}

// Makes each allocation fail once in operations that split leaves and rebuild the directory.
TEST(Csb, RebuildsThatFailLoseNothing) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  Model model;
  std::mt19937_64 random(6);
  uint32_t failures = 0;
  for (uint32_t i = 0; i < 8000 / kLess; ++i) {
    const Pair pair{big_endian(random() % 20000, 4), ""};
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
    if (i % 500 == 0) {
      ASSERT_EQ(structure.check(), 0);
    }
  }
  // A split allocates a record, a fence and a leaf, and sometimes a directory as the fourth block.
  EXPECT_GT(failures, 0u);
  environment.fail_after(0);
  for (const Pair& pair : model) ASSERT_EQ(structure.del(pair), 1);
  environment.fail_after(-1);
  EXPECT_EQ(structure.check(), 0);
  for (const Pair& pair : model) ASSERT_EQ(structure.put(pair), 1);
  EXPECT_EQ(structure.check(), 0);
  EXPECT_EQ(pairs_of(structure), std::vector<Pair>(model.begin(), model.end()));
}

// Stores the address of the last leaf that was allocated.
struct LeafWatch {
  static void* allocate(void* context, size_t size, size_t) {
    void* memory = std::aligned_alloc(64, (size + 63) / 64 * 64);
    if (size == sizeof(Leaf)) static_cast<LeafWatch*>(context)->leaf = memory;
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }
  void* leaf = nullptr;
};

TEST(Csb, CheckSeesDamage) {
  LeafWatch watch;
  const KeydromeEnvironment environment{sizeof environment, 0, &watch, LeafWatch::allocate,
                                        LeafWatch::retire};
  const KeydromeSetup setup{sizeof setup, 0, nullptr};
  Structure structure(table(), table().create(&environment, &setup));
  for (uint32_t i = 0; i < 5000; ++i) structure.put({big_endian(i * 2654435761u, 4), ""});
  ASSERT_EQ(structure.check(), 0);
  auto& leaf = *static_cast<Leaf*>(watch.leaf);
  ASSERT_NE(leaf.next(), nullptr);
  const auto expect_damage = [&](const char* what, auto damage) {
    alignas(Leaf) char copy[sizeof(Leaf)];
    std::memcpy(copy, &leaf, sizeof copy);
    damage();
    EXPECT_NE(structure.check(), 0) << what;
    std::memcpy(static_cast<void*>(&leaf), copy, sizeof copy);
  };
  expect_damage("a head", [&] { leaf.entries[3].head ^= 1; });
  expect_damage("a group", [&] { --leaf.group_heads[1]; });
  expect_damage("an order", [&] { std::swap(leaf.entries[1], leaf.entries[2]); });
  expect_damage("an entry less", [&] { --leaf.count; });
  expect_damage("a lost leaf", [&] { leaf.next() = leaf.next()->next(); });
  expect_damage("a record of another leaf",
                [&] { leaf.entries[leaf.count - 1] = leaf.next()->entries[0]; });
  EXPECT_EQ(structure.check(), 0);
}

}  // namespace
}  // namespace keydrome::csb
