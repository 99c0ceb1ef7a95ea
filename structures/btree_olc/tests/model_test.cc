// Compares the B+-tree with optimistic lock coupling with a std::set of pairs. The keys and
// payloads lead to different nodes: number and text leaves, heads (node.h) of keys and of payloads,
// long common prefixes, and leaves that grow, divide and merge. The test of contract B
// (structures/tests), the interface of a data structure, covers what all structures have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "structures/btree_olc/tables.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome {
namespace {

// Tests divide their numbers of operations by this, because sanitizers are slow.
#ifdef KEYDROME_SANITIZED
constexpr uint32_t kDivisor = 10;
#else
constexpr uint32_t kDivisor = 1;
#endif

const KeydromeStructureTable& table() { return *keydrome_structure(); }

// The tables of functions (one per kind of processor) that this processor can execute.
std::vector<const KeydromeStructureTable*> tables() {
  std::vector<const KeydromeStructureTable*> all{btree_olc::kTablePlain};
  if (btree_olc::can_use_avx2()) all.push_back(btree_olc::kTableAvx2);
  if (btree_olc::can_use_avx512()) all.push_back(btree_olc::kTableAvx512);
  return all;
}

// A function that makes a pair from a number. Ascending numbers need not give ascending pairs.
struct Pattern {
  const char* name;
  uint32_t key_bytes;
  Pair (*pair)(uint32_t number);
};

std::string spread(uint32_t number, size_t size) {
  return big_endian(number * 0x9E3779B97F4A7C15u >> (64 - 8 * size), size);
}

const Pattern kPatterns[] = {
    {"DenseNumbers", 8, [](uint32_t n) { return Pair{big_endian(n, 8), "payload!"}; }},
    {"SpreadNumbers", 8, [](uint32_t n) { return Pair{spread(n, 8), big_endian(n, 8)}; }},
    {"FourByteKeys", 4, [](uint32_t n) { return Pair{spread(n, 4), big_endian(n, 2)}; }},
    {"NoPayload", 4, [](uint32_t n) { return Pair{spread(n, 4), ""}; }},
    {"HighByteOnly", 8,
     [](uint32_t n) { return Pair{big_endian(uint64_t{n} << 56, 8), big_endian(n, 8)}; }},
    {"LowByteOnly", 8, [](uint32_t n) { return Pair{big_endian(n % 256, 8), big_endian(n, 8)}; }},
    {"MixedPayloads", 8,
     [](uint32_t n) { return Pair{spread(n, 8), std::string(n % 97 == 0 ? n % 101 : 8, 'p')}; }},
    {"LargestNumber", 8, [](uint32_t n) { return Pair{std::string(8, '\xFF'), spread(n, 8)}; }},
    {"LongPrefix", 128, [](uint32_t n) { return Pair{std::string(120, 'k') + spread(n, 8), "v"}; }},
    {"LongPairs", 128,
     [](uint32_t n) { return Pair{spread(n, 8) + std::string(120, 'k'), std::string(100, 'p')}; }},
    {"NestedKeys", 0,
     [](uint32_t n) { return Pair{std::string(n % 129, '\0'), std::to_string(n)}; }},
    {"Texts", 0, [](uint32_t n) { return Pair{std::to_string(n * 2654435761u), "some value"}; }},
    {"FewKeys", 0,
     [](uint32_t n) { return Pair{std::to_string(n % 3), "same start " + std::to_string(n)}; }},
    {"LongPayloadPrefix", 8,
     [](uint32_t n) { return Pair{big_endian(7, 8), std::string(92, 'p') + spread(n, 8)}; }},
};

class BtreeOlcModel
    : public testing::TestWithParam<std::tuple<Pattern, const KeydromeStructureTable*>> {
 protected:
  static const Pattern& pattern() { return std::get<0>(GetParam()); }
  void seed(uint32_t seed) {
    std::printf("seed %u\n", seed);
    random_.seed(seed);
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  Pair draw(uint32_t numbers) { return pattern().pair(below(numbers)); }

  void put(const Pair& pair) {
    ASSERT_EQ(structure_.put(pair), model_.insert(pair).second ? 1 : 0);
  }
  void del(const Pair& pair) {
    const int result = structure_.del(pair);  // first, because erase() may destroy the pair
    ASSERT_EQ(result, static_cast<int>(model_.erase(pair)));
  }
  void expect_agrees() {
    ASSERT_EQ(structure_.check(), 0);
    const std::string from(pattern().key_bytes, '\0');
    ASSERT_EQ(structure_.all(from, 100), std::vector<Pair>(model_.begin(), model_.end()));
  }
  // Compares the results of find() for the key of the pair. If `after` is true, find() must return
  // the first payload after that of the pair, and otherwise the first payload of the key.
  void expect_find_agrees(const Pair& pair, bool after) {
    const auto at = after ? model_.upper_bound(pair) : model_.lower_bound({pair.first, ""});
    const bool exists = at != model_.end() && at->first == pair.first;
    const auto found =
        after ? structure_.find(pair.first, pair.second) : structure_.find(pair.first);
    ASSERT_EQ(found, exists ? std::optional(at->second) : std::nullopt);
  }
  void expect_scan_agrees(const Pair& from, bool after) {
    auto at = after ? model_.upper_bound(from) : model_.lower_bound(from);
    std::vector<Pair> expected;
    for (; at != model_.end() && expected.size() < 5; ++at) expected.push_back(*at);
    ASSERT_EQ(structure_.scan(from.first, from.second, after, RunBuffer(5)).pairs, expected);
  }

  WatchedEnvironment environment_;
  Structure structure_{*std::get<1>(GetParam()), environment_, pattern().key_bytes};
  Model model_;
  std::mt19937 random_;
};

INSTANTIATE_TEST_SUITE_P(Patterns, BtreeOlcModel,
                         testing::Combine(testing::ValuesIn(kPatterns),
                                          testing::ValuesIn(tables())));

TEST_P(BtreeOlcModel, RandomOperations) {
  constexpr uint32_t kOperations = 8'000 / kDivisor;
  constexpr uint32_t kNumbers = 2000;
  seed(51);
  for (uint32_t i = 0; i < kOperations; ++i) {
    // The tree grows in the first half and shrinks in the second.
    if (below(10) < (i < kOperations / 2 ? 8u : 2u)) {
      ASSERT_NO_FATAL_FAILURE(put(draw(kNumbers)));
    } else {
      ASSERT_NO_FATAL_FAILURE(del(draw(kNumbers)));
    }
    ASSERT_NO_FATAL_FAILURE(expect_find_agrees(draw(kNumbers), below(2) == 0));
    ASSERT_NO_FATAL_FAILURE(expect_scan_agrees(draw(kNumbers), below(2) == 0));
    if (i % (kOperations / 16) == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_agrees());
    }
  }
  while (!model_.empty()) {
    const Pair first = *model_.begin();
    ASSERT_NO_FATAL_FAILURE(del(first));
  }
  ASSERT_NO_FATAL_FAILURE(expect_agrees());
  EXPECT_LE(structure_.statistic(KEYDROME_STATISTIC_NODES), 1u);
}

// Inserts all pairs in ascending or descending order, and deletes them in either order.
TEST_P(BtreeOlcModel, Orders) {
  constexpr uint32_t kNumbers = 3000 / kDivisor;
  std::vector<Pair> ascending;
  for (uint32_t i = 0; i < kNumbers; ++i) ascending.push_back(pattern().pair(i));
  std::sort(ascending.begin(), ascending.end());
  const std::vector<Pair> descending(ascending.rbegin(), ascending.rend());
  for (uint32_t way = 0; way < 4; ++way) {
    for (const Pair& pair : way / 2 == 0 ? ascending : descending) {
      ASSERT_NO_FATAL_FAILURE(put(pair));
    }
    ASSERT_NO_FATAL_FAILURE(expect_agrees());
    size_t left = ascending.size();
    for (const Pair& pair : way % 2 == 0 ? ascending : descending) {
      ASSERT_NO_FATAL_FAILURE(del(pair));
      if (--left == ascending.size() / 3) {
        ASSERT_NO_FATAL_FAILURE(expect_agrees());
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_agrees());
  }
}

// Lets each allocation of each operation fail, one after the other. A failed operation must change
// nothing. del must never fail.
TEST_P(BtreeOlcModel, FailedAllocationsChangeNothing) {
  constexpr uint32_t kOperations = 3000 / kDivisor;
  seed(53);
  uint32_t failures = 0;
  for (uint32_t i = 0; i < kOperations; ++i) {
    if (below(10) >= (i < kOperations / 2 ? 9u : 1u)) {
      environment_.fail_after(0);
      ASSERT_NO_FATAL_FAILURE(del(draw(1000)));
      environment_.fail_after(-1);
      continue;
    }
    const Pair pair = draw(1000);
    for (int successes = 0;; ++successes) {
      const size_t bytes = environment_.bytes();
      environment_.fail_after(successes);
      const int result = structure_.put(pair);
      environment_.fail_after(-1);
      if (result >= 0) {
        ASSERT_EQ(result, model_.insert(pair).second ? 1 : 0);
        break;
      }
      ASSERT_EQ(result, KEYDROME_NO_MEMORY);
      ASSERT_EQ(environment_.bytes(), bytes);
      ++failures;
    }
    if (i % (kOperations / 16) == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_agrees());
    }
  }
  EXPECT_GT(failures, 0u);
  ASSERT_NO_FATAL_FAILURE(expect_agrees());
}

// Replaces payloads by others of all sizes, which may belong to another leaf.
TEST_P(BtreeOlcModel, ReplaceAgrees) {
  constexpr uint32_t kOperations = 4'000 / kDivisor;
  seed(57);
  for (uint32_t i = 0; i < kOperations; ++i) {
    ASSERT_NO_FATAL_FAILURE(put(draw(1000)));
    const Pair before = draw(1000);
    const Pair now{before.first, below(2) == 0 ? draw(1000).second : std::string(below(101), 'r')};
    const int expected = model_.count(before) == 0 ? 0 : model_.count(now) != 0 ? 2 : 1;
    ASSERT_EQ(structure_.replace(before, now.second), expected);
    if (expected == 1) {
      model_.erase(before);
      model_.insert(now);
    }
    if (i % (kOperations / 16) == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_agrees());
    }
  }
  ASSERT_NO_FATAL_FAILURE(expect_agrees());
}

TEST(BtreeOlcPayloads, AMillionOfOneKey) {
  constexpr uint32_t kCount = 1'000'000 / kDivisor;
  std::printf("seed 59\n");
  WatchedEnvironment environment;
  Structure structure(table(), environment, 8);
  const std::string key = big_endian(42, 8);
  std::vector<uint32_t> numbers(kCount);
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::mt19937 random(59);
  std::shuffle(numbers.begin(), numbers.end(), random);
  for (const uint32_t number : numbers) ASSERT_EQ(structure.put({key, big_endian(number, 4)}), 1);
  ASSERT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.find(key), big_endian(0, 4));
  for (const uint32_t number : {0u, kCount / 3, kCount / 2, kCount - 2}) {
    EXPECT_EQ(structure.find(key, big_endian(number, 4)), big_endian(number + 1, 4));
  }
  EXPECT_EQ(structure.find(key, big_endian(kCount - 1, 4)), std::nullopt);
  EXPECT_LT(environment.bytes(), size_t{kCount} * 40);
  for (const uint32_t number : numbers) ASSERT_EQ(structure.del({key, big_endian(number, 4)}), 1);
  EXPECT_EQ(structure.check(), 0);
}

// Without memory, empty leaves stay. A search for the only payload that is left passes them all.
TEST(BtreeOlcPayloads, SearchesPassManyEmptyLeaves) {
  constexpr uint32_t kCount = 2000;
  WatchedEnvironment environment;
  Structure structure(table(), environment, 8);
  const std::string key = big_endian(42, 8);
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(structure.put({key, big_endian(i, 8)}), 1);
  environment.fail_after(0);
  for (uint32_t i = 0; i + 1 < kCount; ++i) ASSERT_EQ(structure.del({key, big_endian(i, 8)}), 1);
  EXPECT_EQ(structure.find(key), big_endian(kCount - 1, 8));
  EXPECT_EQ(structure.find(key, big_endian(3, 8)), big_endian(kCount - 1, 8));
  environment.fail_after(-1);
  ASSERT_EQ(structure.del({key, big_endian(kCount - 1, 8)}), 1);
  EXPECT_EQ(structure.find(key), std::nullopt);
  EXPECT_EQ(structure.check(), 0);
}

// Inserts and deletes random pairs, about as many of each, again and again. The memory of the tree
// must not grow by more than a tenth.
TEST_P(BtreeOlcModel, ChurnDoesNotGrow) {
  constexpr uint32_t kNumbers = 4000;
  seed(61);
  // Half of the pairs exist at the beginning. The loop below keeps this number about constant.
  for (uint32_t number = 0; number < kNumbers; number += 2) {
    structure_.put(pattern().pair(number));
  }
  size_t bytes = 0;
  for (uint32_t round = 0; round < 10; ++round) {
    for (uint32_t i = 0; i < kNumbers / 2; ++i) {
      structure_.put(draw(kNumbers));
      structure_.del(draw(kNumbers));
    }
    if (round == 1) bytes = environment_.bytes();
  }
  EXPECT_LE(environment_.bytes(), bytes + bytes / 10);
}

TEST_P(BtreeOlcModel, ReplacingInPlaceAllocatesNothing) {
  const Pair pair = pattern().pair(5);
  const std::string other(pair.second.size(), 'x');
  if (pair.second.empty()) return;  // there is only one empty payload
  ASSERT_EQ(structure_.put(pair), 1);
  environment_.fail_after(0);
  EXPECT_EQ(structure_.replace(pair, other), 1);
  EXPECT_EQ(structure_.replace({pair.first, other}, pair.second), 1);
  EXPECT_EQ(structure_.find(pair.first), pair.second);
  environment_.fail_after(-1);
}

}  // namespace
}  // namespace keydrome
