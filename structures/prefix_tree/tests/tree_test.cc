// Tests features that only the prefix tree has: skipped symbols, sizes of nodes, moves of ranges
// between trees, and a check() that detects damage. The test of contract B, the interface of a data
// structure (keydrome/structure.h), covers the features that all structures have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "keydrome/structure.h"
#include "structures/prefix_tree/node.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::prefix_tree {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

uint64_t statistic(const Structure& structure, uint32_t which) {
  return table().statistic(structure.get(), which);
}

std::vector<Pair> pairs_of(const Structure& structure) { return structure.all("", 50); }

// Tests divide their numbers of pairs by this factor.
#ifdef KEYDROME_SANITIZED
constexpr uint32_t kLess = 8;
#else
constexpr uint32_t kLess = 1;
#endif

enum class Keys { kDense, kSparse, kCommonPrefix, kHighByte, kLowByte, kPrefixes, kDescending };

// Returns the keys in ascending order, or in descending order for kDescending.
std::vector<std::string> make_keys(Keys shape) {
  std::vector<std::string> keys;
  std::mt19937_64 random(3);
  for (uint64_t i = 0; i < 4096 / kLess; ++i) {
    switch (shape) {
      case Keys::kDense:
      case Keys::kDescending:
        keys.push_back(big_endian((uint64_t{1} << 63) + i, 8));
        break;
      case Keys::kSparse:
        keys.push_back(big_endian(random(), 8));
        break;
      case Keys::kCommonPrefix:
        keys.push_back(std::string(120, 'p') + big_endian(random(), 8));
        break;
      case Keys::kHighByte:
        keys.push_back(big_endian((i % 256) << 56, 8));
        break;
      case Keys::kLowByte:
        keys.push_back(big_endian(i % 256, 4));
        break;
      case Keys::kPrefixes:
        keys.push_back(std::string(i % 129, '\0'));
        break;
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (shape == Keys::kDescending) std::reverse(keys.begin(), keys.end());
  return keys;
}

class KeyShapes : public testing::TestWithParam<Keys> {};

// Inserts all pairs in the order of the keys, deletes every second pair, and then deletes the rest.
TEST_P(KeyShapes, GrowAndShrinkAsTheModel) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  const size_t bytes_empty = environment.bytes();
  Model model;
  const std::vector<std::string> keys = make_keys(GetParam());
  for (size_t i = 0; i < keys.size(); ++i) {
    const Pair pair{keys[i], std::string(i % 101, 'x')};
    ASSERT_EQ(structure.put(pair), 1);
    ASSERT_EQ(structure.put(pair), 0);
    model.insert(pair);
  }
  ASSERT_EQ(structure.check(), 0);
  ASSERT_EQ(pairs_of(structure), std::vector<Pair>(model.begin(), model.end()));
  for (size_t i = 0; i < keys.size(); i += 2) {
    const Pair pair{keys[i], std::string(i % 101, 'x')};
    ASSERT_EQ(structure.find(pair.first), pair.second);
    ASSERT_EQ(structure.del(pair), 1);
    ASSERT_EQ(structure.del(pair), 0);
    ASSERT_EQ(structure.find(pair.first), std::nullopt);
    model.erase(pair);
  }
  ASSERT_EQ(structure.check(), 0);
  ASSERT_EQ(pairs_of(structure), std::vector<Pair>(model.begin(), model.end()));
  for (const Pair& pair : model) ASSERT_EQ(structure.del(pair), 1);
  EXPECT_EQ(environment.bytes(), bytes_empty);
}

INSTANTIATE_TEST_SUITE_P(All, KeyShapes,
                         testing::Values(Keys::kDense, Keys::kSparse, Keys::kCommonPrefix,
                                         Keys::kHighByte, Keys::kLowByte, Keys::kPrefixes,
                                         Keys::kDescending));

TEST(PrefixTree, CommonSymbolsHaveNoNodes) {
  const std::string prefixes[] = {"", std::string(4, '\0'), std::string("\x80\0\0\0", 4),
                                  std::string(120, 'p')};
  for (const std::string& prefix : prefixes) {
    WatchedEnvironment environment;
    Structure structure(table(), environment);
    for (uint32_t i = 0; i < 65536 / kLess; ++i) structure.put({prefix + big_endian(i, 4), ""});
    EXPECT_EQ(statistic(structure, KEYDROME_STATISTIC_HEIGHT), 2u);
    EXPECT_EQ(statistic(structure, KEYDROME_STATISTIC_NODES), 1 + 256 / kLess);
  }
}

TEST(PrefixTree, OneKeyHasAMillionPayloads) {
  constexpr uint32_t kPayloads = 1000000 / kLess;
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  structure.put({"before", ""});
  structure.put({"key-", ""});
  const auto payload = [](uint32_t i) { return big_endian(i * 2654435761u, 4); };
  for (uint32_t i = 0; i < kPayloads; ++i) ASSERT_EQ(structure.put({"key", payload(i)}), 1);
  EXPECT_LE(statistic(structure, KEYDROME_STATISTIC_HEIGHT), 6u);
  EXPECT_EQ(structure.find("key"), payload(0));
  const Scanned past = structure.scan("key", std::nullopt, true, RunBuffer(2));
  EXPECT_EQ(past.pairs, (std::vector<Pair>{{"key-", ""}}));
  EXPECT_FALSE(past.more);
  std::optional<std::string> last;
  for (int i = 0; i < 1000; ++i) {
    const std::optional<std::string> next = structure.find("key", last);
    ASSERT_TRUE(next && (!last || *last < *next));
    last = next;
  }
  for (uint32_t i = 0; i < kPayloads; ++i) ASSERT_EQ(structure.del({"key", payload(i)}), 1);
  EXPECT_EQ(pairs_of(structure), (std::vector<Pair>{{"before", ""}, {"key-", ""}}));
}

TEST(PrefixTree, BatchesOfAllSizesAgreeWithFind) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  char payloads[40][KEYDROME_PAYLOAD_BYTES_MAX];
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < 40; ++i) keys.push_back(std::string(i % 7, 'a') + std::to_string(i));
  for (uint32_t filled = 0; filled < 40; ++filled) {
    std::vector<KeydromeLookup> lookups;
    for (uint32_t i = 0; i < filled; ++i) {
      lookups.push_back({bytes_of(keys[i]), {payloads[i], 0, sizeof payloads[i]}, -9});
    }
    ASSERT_EQ(table().find_batch(structure.get(), filled, lookups.data()), 0);
    for (uint32_t i = 0; i < filled; ++i) {
      const std::optional<std::string> expected = structure.find(keys[i]);
      ASSERT_EQ(lookups[i].found, expected ? 1 : 0);
      if (expected) {
        ASSERT_EQ(std::string(payloads[i], lookups[i].payload.size), *expected);
      }
    }
    if (filled % 3 != 0) structure.put({keys[filled], std::to_string(filled)});
  }
}

// Returns pairs that need several levels: keys of 0 to 5 bytes, many of which are prefixes of
// others, and four payloads of each key.
Model nested() {
  Model model;
  for (const char* a : {"", "a", "b", "ba", "c", "cab"}) {
    for (const char* b : {"", "x", "xy", "y", "z"}) {
      for (const char* payload : {"", "1", "12", "2"}) model.insert({std::string(a) + b, payload});
    }
  }
  return model;
}

// Divides the pairs between two trees at each key, and joins the trees. Makes each allocation of
// concat fail once.
TEST(PrefixTree, ConcatThatFailsChangesNothing) {
  const Model model = nested();
  std::vector<std::string> cuts{"", "aa", "bb", "cc", "d"};
  for (const Pair& pair : model) cuts.push_back(pair.first);
  uint32_t failures = 0;
  for (const std::string& cut : cuts) {
    WatchedEnvironment environment;
    Structure low(table(), environment);
    Structure high(table(), environment);
    for (const Pair& pair : model) (pair.first < cut ? low : high).put(pair);
    const std::vector<Pair> lows = pairs_of(low);
    const std::vector<Pair> highs = pairs_of(high);
    for (int successes = 0;; ++successes) {
      environment.fail_after(successes);
      const int result = table().concat(low.get(), high.get());
      environment.fail_after(-1);
      if (result == 0) break;
      ++failures;
      ASSERT_EQ(result, KEYDROME_NO_MEMORY);
      ASSERT_EQ(low.check(), 0);
      ASSERT_EQ(high.check(), 0);
      ASSERT_EQ(pairs_of(low), lows);
      ASSERT_EQ(pairs_of(high), highs);
    }
    high.release();
    ASSERT_EQ(low.check(), 0);
    ASSERT_EQ(pairs_of(low), std::vector<Pair>(model.begin(), model.end()));
    for (const Pair& pair : model) ASSERT_EQ(low.del(pair), 1);
  }
  EXPECT_GT(failures, 0u);
}

TEST(PrefixTree, MovesCostNoCopies) {
  WatchedEnvironment environment;
  Structure low(table(), environment);
  for (uint32_t i = 0; i < 20000; ++i) low.put({big_endian(i * 2654435761u, 4), "payload"});
  const size_t bytes = environment.bytes();
  environment.fail_after(5);  // the Tree object, and one node for each of at most four levels
  KeydromeStructure* moved =
      table().split(low.get(), bytes_of(big_endian(0x7F800000, 4)), environment.get());
  ASSERT_NE(moved, nullptr);
  Structure high(table(), moved);
  EXPECT_GT(pairs_of(low).size(), 9000u);
  EXPECT_GT(pairs_of(high).size(), 9000u);
  ASSERT_EQ(table().concat(low.get(), high.release()), 0);
  EXPECT_EQ(pairs_of(low).size(), 20000u);
  environment.fail_after(-1);
  EXPECT_LE(environment.bytes(), bytes + 4 * 4096);
}

// Stores the address of the last node that was allocated.
struct NodeWatch {
  static void* allocate(void* context, size_t size, size_t alignment) {
    void* memory = std::aligned_alloc(64, (size + 63) / 64 * 64);
    if (alignment == kNodeAlignment) static_cast<NodeWatch*>(context)->node = memory;
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }
  void* node = nullptr;
};

TEST(PrefixTree, CheckSeesDamage) {
  NodeWatch watch;
  const KeydromeEnvironment environment{sizeof environment, 0, &watch, NodeWatch::allocate,
                                        NodeWatch::retire};
  const KeydromeSetup setup{sizeof setup, 0, nullptr};
  Structure structure(table(), table().create(&environment, &setup));
  for (const char* key : {"aa", "ab", "ba"}) structure.put({key, ""});
  for (int i = 0; i < 4; ++i) structure.put({"cc", std::string(1, static_cast<char>('0' + i))});
  ASSERT_EQ(structure.check(), 0);
  auto& node = *static_cast<Node*>(watch.node);
  ASSERT_EQ(node.count, 4u);
  const auto expect_damage = [&](const char* what, auto damage) {
    alignas(Node) char copy[sizeof(Node) + 11 * sizeof(Slot)];
    const size_t size = Node::bytes(node.size_class);
    ASSERT_LE(size, sizeof copy);
    std::memcpy(copy, &node, size);
    damage();
    EXPECT_NE(structure.check(), 0) << what;
    std::memcpy(static_cast<void*>(&node), copy, size);
  };
  expect_damage("a depth", [&] { ++node.depth; });
  expect_damage("a child less", [&] { --node.count; });
  expect_damage("a bit", [&] { node.bits[0] ^= 1; });
  expect_damage("a moved bit", [&] { node.bits[0] ^= uint64_t{3} << '3'; });
  expect_damage("a rank", [&] { ++node.ranks[3]; });
  expect_damage("an order", [&] { std::swap(node.children()[0], node.children()[1]); });
  expect_damage("no child", [&] { node.children()[2] = Slot(); });
  EXPECT_EQ(structure.check(), 0);
}

}  // namespace
}  // namespace keydrome::prefix_tree
