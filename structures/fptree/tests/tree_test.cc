// Tests features that only the B+-tree with fingerprints has: payloads of a key in several leaves,
// leaves that are freed when they are empty, full leaves after ascending insertions, and a check()
// that detects damage. The test of contract B, the interface of a data structure
// (keydrome/structure.h), covers the features that all structures have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "keydrome/structure.h"
#include "structures/fptree/node.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::fptree {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

uint64_t statistic(const Structure& structure, uint32_t which) {
  return table().statistic(structure.get(), which);
}

class Widths : public testing::TestWithParam<uint32_t> {
 protected:
  // Returns a key whose size the test's parameter chooses. If it is 0, keys have 28 bytes, of which
  // they share the first 20.
  static std::string key(uint64_t number) {
    return GetParam() == 0 ? std::string(20, 'k') + big_endian(number, 8) : big_endian(number, 8);
  }
};

// A thousand payloads of one key fill many leaves. The fences (boundaries) between these leaves all
// have the head of this key, i.e. its first eight bytes.
TEST_P(Widths, PayloadsOfOneKeyInManyLeaves) {
  WatchedEnvironment environment;
  Structure structure(table(), environment, GetParam());
  std::vector<std::string> payloads;
  for (uint32_t i = 0; i < 1000; ++i) payloads.push_back(big_endian(i, 4));
  std::vector<std::string> shuffled = payloads;
  std::mt19937_64 random(5);  // NOLINT(bugprone-random-generator-seed): the same order each time
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  for (const std::string& payload : shuffled) ASSERT_EQ(structure.put({key(7), payload}), 1);
  ASSERT_EQ(structure.put({key(6), "before"}), 1);
  ASSERT_EQ(structure.put({key(8), "after"}), 1);
  ASSERT_EQ(structure.check(), 0);
  EXPECT_GT(statistic(structure, KEYDROME_STATISTIC_NODES), 20u);
  std::optional<std::string> found = structure.find(key(7));
  for (const std::string& payload : payloads) {
    ASSERT_EQ(found, payload);
    found = structure.find(key(7), payload);
  }
  EXPECT_EQ(found, std::nullopt);
  EXPECT_EQ(structure.find(key(9)), std::nullopt);
  for (uint32_t i = 0; i < 1000; i += 2) ASSERT_EQ(structure.del({key(7), payloads[i]}), 1);
  for (uint32_t i = 0; i < 1000; ++i) {
    const auto next = i % 2 == 0 ? i + 1 : i + 2;
    const auto expected = next < 1000 ? std::optional(payloads[next]) : std::nullopt;
    ASSERT_EQ(structure.find(key(7), payloads[i]), expected) << i;
  }
  EXPECT_EQ(structure.check(), 0);
}

// When all pairs are deleted, in random, ascending or descending order, all nodes except one leaf
// must be freed.
TEST_P(Widths, EmptyLeavesAreFreed) {
  for (uint32_t round = 0; round < 3; ++round) {
    WatchedEnvironment environment;
    Structure structure(table(), environment, GetParam());
    const size_t empty = environment.bytes();
    std::vector<uint64_t> numbers(20000);
    for (uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = i * 0x9E3779B97F4A7C15u;
    for (const uint64_t number : numbers) ASSERT_EQ(structure.put({key(number), "p"}), 1);
    EXPECT_GE(statistic(structure, KEYDROME_STATISTIC_HEIGHT), 3u);
    if (round == 1) std::sort(numbers.begin(), numbers.end());
    if (round == 2) std::sort(numbers.rbegin(), numbers.rend());
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(structure.del({key(numbers[i]), "p"}), 1);
      if (i % 1000 == 0) {
        ASSERT_EQ(structure.check(), 0);
      }
    }
    EXPECT_EQ(structure.check(), 0);
    EXPECT_EQ(statistic(structure, KEYDROME_STATISTIC_HEIGHT), 1u);
    EXPECT_EQ(environment.bytes(), empty);
  }
}

TEST_P(Widths, AscendingInsertionsFillTheLeaves) {
  WatchedEnvironment environment;
  Structure structure(table(), environment, GetParam());
  for (uint64_t i = 0; i < 10000; ++i) ASSERT_EQ(structure.put({key(i), "payload!"}), 1);
  EXPECT_EQ(structure.check(), 0);
  const uint64_t used = statistic(structure, KEYDROME_STATISTIC_SLOTS_USED);
  EXPECT_EQ(used, 10000u);
  EXPECT_GE(used * 100, statistic(structure, KEYDROME_STATISTIC_SLOTS) * 99);
}

// replace() must move the pair to another leaf, because a fence divides the payloads of its key.
TEST_P(Widths, ReplaceMovesAPairToItsLeaf) {
  WatchedEnvironment environment;
  Structure structure(table(), environment, GetParam());
  for (uint32_t i = 0; i < 500; ++i) structure.put({key(7), big_endian(2 * i, 4)});
  const std::string from = key(7), before = big_endian(0, 4), now = big_endian(901, 4);
  EXPECT_EQ(table().replace(structure.get(), bytes_of(from), bytes_of(before), bytes_of(now)), 1);
  EXPECT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.find(from), big_endian(2, 4));
  EXPECT_EQ(structure.find(from, big_endian(900, 4)), now);
}

INSTANTIATE_TEST_SUITE_P(NarrowAndWide, Widths, testing::Values(8u, 0u));

// A search in an inner node must find the same child as a search from left to right, however many
// fences the node has.
TEST(Inner, FindsTheChildAfterInsertionsAndRemovals) {
  std::mt19937_64 random(11);  // NOLINT(bugprone-random-generator-seed): the same order each time
  Inner node;
  node.children[0] = &node;
  const auto expect_right_children = [&](const Inner& inner) {
    ASSERT_TRUE(inner.has_right_lasts());
    for (uint32_t i = 0; i < inner.count; ++i) {
      for (const uint64_t head : {inner.heads[i] - 1, inner.heads[i], inner.heads[i] + 1}) {
        const auto end = inner.heads.begin() + inner.count;
        const auto expected =
            std::upper_bound(inner.heads.begin(), end, head) - inner.heads.begin();
        ASSERT_EQ(inner.child_for({head, {}, {}}, true), expected) << inner.count;
      }
    }
    EXPECT_EQ(inner.child_for({0, {}, {}}, true), 0u);
    EXPECT_EQ(inner.child_for({UINT64_MAX, {}, {}}, true), inner.count);
  };
  const auto add = [&] {
    const uint64_t head = 10 + random() % (UINT64_MAX - 20);
    node.insert(node.child_for({head, {}, {}}, true), {head, nullptr}, &node);
    expect_right_children(node);
  };
  while (!node.is_full()) add();
  while (node.count > 20) {
    const auto index = static_cast<uint32_t>(random() % node.count);
    node.remove(index, index + 1);
    expect_right_children(node);
  }
  while (!node.is_full()) add();
  Inner half;
  node.split(31, half);
  EXPECT_EQ(node.count, 31u);
  EXPECT_EQ(half.count, 31u);
  expect_right_children(node);
  expect_right_children(half);
}

// Lookups take a short way if a leaf has only payloads of eight bytes. They must find the smallest
// payload of a key before, while and after the leaf has others.
TEST(FpTree, FindsTheSmallestPayloadOfEightBytes) {
  WatchedEnvironment environment;
  Structure structure(table(), environment, 8);
  std::mt19937_64 random(7);  // NOLINT(bugprone-random-generator-seed): the same order each time
  Model model;
  for (uint32_t round = 0; round < 30'000; ++round) {
    const std::string key = big_endian(random() % 400 * 0x9E3779B97F4A7C15u, 8);
    const bool is_other = round / 5000 % 2 == 1 && random() % 50 == 0;
    const std::string payload = is_other ? "other" : big_endian(random() % 4, 8);
    if (random() % 2 == 0) {
      ASSERT_EQ(structure.put({key, payload}), model.insert({key, payload}).second ? 1 : 0);
    } else {
      ASSERT_EQ(structure.del({key, payload}), static_cast<int>(model.erase({key, payload})));
    }
    const auto first = model.lower_bound({key, ""});
    const bool has_key = first != model.end() && first->first == key;
    ASSERT_EQ(structure.find(key), has_key ? std::optional(first->second) : std::nullopt) << round;
  }
  EXPECT_EQ(structure.check(), 0);
}

// Stores the address of the first leaf that was allocated.
struct LeafWatch {
  void* leaf = nullptr;

  static void* allocate(void* context, size_t size, size_t alignment) {
    void* memory = std::aligned_alloc(std::max(alignment, sizeof(void*)),
                                      (size + alignment - 1) / alignment * alignment);
    auto& self = *static_cast<LeafWatch*>(context);
    if (size == sizeof(Leaf) && self.leaf == nullptr) self.leaf = memory;
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }
};

TEST(FpTree, CheckSeesDamage) {
  LeafWatch watch;
  const KeydromeEnvironment environment{sizeof environment, 0, &watch, LeafWatch::allocate,
                                        LeafWatch::retire};
  const KeydromeSetup setup{sizeof setup, 8, nullptr};
  Structure structure(table(), table().create(&environment, &setup));
  for (uint32_t i = 0; i < 5000; ++i) {
    structure.put({big_endian(i * 0x9E3779B97F4A7C15u, 8), "payload!"});
  }
  ASSERT_EQ(structure.check(), 0);
  auto& leaf = *static_cast<Leaf*>(watch.leaf);
  ASSERT_NE(leaf.next, nullptr);
  const auto slot = static_cast<uint32_t>(std::countr_zero(leaf.slots()));
  const auto free_slot = static_cast<uint32_t>(std::countr_one(leaf.slots()));
  ASSERT_LT(free_slot, Leaf::kSlots);
  const auto expect_damage = [&](const char* what, auto damage) {
    alignas(Leaf) char copy[sizeof(Leaf)];
    std::memcpy(copy, &leaf, sizeof copy);
    damage();
    EXPECT_NE(structure.check(), 0) << what;
    std::memcpy(static_cast<void*>(&leaf), copy, sizeof copy);
  };
  expect_damage("a fingerprint", [&] { leaf.prints[slot] ^= 1; });
  expect_damage("a key of another leaf", [&] { leaf.entries[slot].head = UINT64_MAX; });
  expect_damage("a mark", [&] { leaf.marks[slot] = 7; });
  expect_damage("a pair twice", [&] {
    leaf.write(free_slot, leaf.prints[slot], leaf.marks[slot], leaf.entries[slot]);
  });
  expect_damage("an empty leaf", [&] { leaf.used = Leaf::kPlain; });
  expect_damage("a lost leaf", [&] { leaf.next = leaf.next->next; });
  EXPECT_EQ(structure.check(), 0);
}

}  // namespace
}  // namespace keydrome::fptree
