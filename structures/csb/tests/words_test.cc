// Tests leaves of word pairs (entry.h): keys and payloads of eight bytes, which the leaf contains
// itself. The leaf changes to records when a pair with another payload arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "keydrome/structure.h"
#include "structures/csb/leaf.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::csb {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

const std::string kSmallest(8, '\0');

// An instance whose keys all have eight bytes, and the set of its pairs.
struct Words {
  WatchedEnvironment environment;
  Structure structure{table(), environment, kWordBytes};
  Model model;

  void put(const Pair& pair) {
    ASSERT_TRUE(structure.put_returns(pair, model.insert(pair).second ? 1 : 0));
  }
  void del(const Pair& pair) {
    ASSERT_TRUE(structure.del_returns(pair, static_cast<int64_t>(model.erase(pair))));
  }
  void replace(const Pair& before, const std::string& now) {
    const bool exists = model.count(before) > 0;
    const int expected = !exists ? 0 : model.count({before.first, now}) > 0 ? 2 : 1;
    ASSERT_EQ(structure.replace(before, now), expected);
    if (expected != 1) return;
    model.erase(before);
    model.insert({before.first, now});
  }
  void expect_model() const {
    ASSERT_TRUE(structure.is_sound());
    ASSERT_EQ(structure.all(kSmallest, 50), std::vector<Pair>(model.begin(), model.end()));
  }
};

// Keys in ascending order of `i`.
std::string key_of(uint64_t i) { return big_endian(i << 40, 8); }
std::string word(uint64_t i) { return big_endian(i, 8); }

TEST(CsbWords, LeavesContainThePairs) {
  Words words;
  const size_t empty = words.environment.bytes();
  for (uint32_t i = 0; i < Leaf::kCapacity; ++i) words.put({key_of(i), word(i)});
  EXPECT_EQ(words.environment.bytes(), empty);  // no record was allocated
  words.expect_model();
  for (uint32_t i = 0; i < Leaf::kCapacity; ++i) {
    words.replace({key_of(i), word(i)}, word(i + 1000));
    EXPECT_EQ(words.structure.find(key_of(i)), word(i + 1000));
  }
  words.expect_model();
  EXPECT_EQ(words.environment.bytes(), empty);
}

// A pair with another payload arrives at each place of a leaf, be it full or not.
TEST(CsbWords, LeavesChangeTheirKind) {
  for (const uint32_t pairs : {1u, 20u, Leaf::kCapacity}) {
    for (uint32_t place = 0; place <= pairs; ++place) {
      Words words;
      for (uint32_t i = 0; i < pairs; ++i) words.put({key_of(2 * i + 1), word(i)});
      words.put({key_of(2 * place), "other"});
      ASSERT_NO_FATAL_FAILURE(words.expect_model());
      for (uint32_t i = 0; i < pairs; ++i) {
        ASSERT_EQ(words.structure.find(key_of(2 * i + 1)), word(i));
      }
      words.del({key_of(2 * place), "other"});
      words.put({key_of(2 * place), word(7)});
      ASSERT_NO_FATAL_FAILURE(words.expect_model());
    }
  }
}

TEST(CsbWords, AReplacementChangesTheKind) {
  Words words;
  for (uint32_t i = 0; i < 200; ++i) words.put({key_of(i), word(i)});
  for (uint32_t i = 0; i < 200; i += 9) words.replace({key_of(i), word(i)}, "other");
  ASSERT_NO_FATAL_FAILURE(words.expect_model());
  for (uint32_t i = 0; i < 200; i += 9) words.replace({key_of(i), "other"}, word(i));
  for (uint32_t i = 0; i < 200; i += 9) words.replace({key_of(i), "other"}, word(i));
  words.expect_model();
}

// Once a leaf is empty, it contains pairs again.
TEST(CsbWords, AnEmptyLeafForgetsItsKind) {
  Words words;
  const size_t empty = words.environment.bytes();
  words.put({key_of(1), "other"});
  words.put({key_of(2), word(2)});
  words.del({key_of(1), "other"});
  words.del({key_of(2), word(2)});
  words.put({key_of(3), word(3)});
  EXPECT_EQ(words.environment.bytes(), empty);
  words.expect_model();
}

// Merges two leaves of different kinds, with and without memory for the records. The first pair of
// the left leaf or the last pair of the right one has another payload.
TEST(CsbWords, LeavesOfDifferentKindsMerge) {
  constexpr uint32_t kPairs = 2 * Leaf::kCapacity;
  for (const bool is_left : {false, true}) {
    for (const bool has_memory : {false, true}) {
      Words words;
      const uint32_t odd = is_left ? 0 : kPairs - 1;
      for (uint32_t i = 0; i < kPairs; ++i) words.put({key_of(i), i == odd ? "other" : word(i)});
      ASSERT_EQ(words.structure.statistic(KEYDROME_STATISTIC_NODES), 2u);
      ASSERT_NO_FATAL_FAILURE(words.expect_model());
      if (!has_memory) words.environment.fail_after(0);
      for (uint32_t i = Leaf::kCapacity + 1; i < kPairs - 1; ++i) words.del({key_of(i), word(i)});
      for (uint32_t i = 10; i < Leaf::kCapacity; ++i) words.del({key_of(i), word(i)});
      words.environment.fail_after(-1);
      EXPECT_EQ(words.structure.statistic(KEYDROME_STATISTIC_NODES), has_memory ? 1u : 2u);
      ASSERT_NO_FATAL_FAILURE(words.expect_model());
      words.del({key_of(9), word(9)});
      EXPECT_EQ(words.structure.statistic(KEYDROME_STATISTIC_NODES), 1u);
      ASSERT_NO_FATAL_FAILURE(words.expect_model());
    }
  }
}

// Makes each allocation fail once in insertions that change the kind of leaves and split them.
TEST(CsbWords, ChangesThatFailLoseNothing) {
  for (const uint32_t pairs : {20u, Leaf::kCapacity}) {
    for (const uint32_t place : {0u, pairs / 2, pairs}) {
      Words words;
      for (uint32_t i = 0; i < pairs; ++i) words.put({key_of(2 * i + 1), word(i)});
      const Pair other{key_of(2 * place), "other"};
      const size_t bytes = words.environment.bytes();
      int successes = 0;
      for (;; ++successes) {
        words.environment.fail_after(successes);
        const int result = words.structure.put(other);
        words.environment.fail_after(-1);
        if (result == 1) break;
        ASSERT_EQ(result, KEYDROME_NO_MEMORY);
        ASSERT_EQ(words.environment.bytes(), bytes);
        ASSERT_NO_FATAL_FAILURE(words.expect_model());
      }
      // A pair that comes after a full leaf gets a leaf of its own.
      const bool gets_leaf = place == Leaf::kCapacity;
      EXPECT_GE(successes, gets_leaf ? 3 : static_cast<int>(pairs));
      words.model.insert(other);
      ASSERT_NO_FATAL_FAILURE(words.expect_model());
    }
  }
}

// Random changes. Few payloads have other sizes, so that leaves of both kinds exist. The share of
// deletions changes, so that the tree grows and shrinks.
TEST(CsbWords, RandomChangesAreThoseOfTheModel) {
#ifdef KEYDROME_SANITIZED
  constexpr uint32_t kChanges = 40'000;
#else
  constexpr uint32_t kChanges = 200'000;
#endif
  for (const uint32_t keys : {5u, 300u, 4000u}) {
    Words words;
    std::mt19937_64 random(keys);
    const auto payload = [&] {
      const uint64_t number = random() % 40;
      return number == 0 ? std::string(random() % 10, 'p') : word(random() % 5);
    };
    for (uint32_t i = 0; i < kChanges; ++i) {
      const uint64_t number = random() % keys;
      // The smallest and the largest key are among the keys.
      const std::string key = big_endian(number == 1 ? UINT64_MAX : number << 48, 8);
      const bool shrinks = i / 10'000 % 2 == 1;
      const uint64_t choice = random() % 8;
      if (choice == 0) {
        words.replace({key, payload()}, payload());
      } else if ((choice <= 2) != shrinks) {
        words.del({key, payload()});
      } else {
        words.put({key, payload()});
      }
      if (testing::Test::HasFatalFailure()) return;
      const auto first = words.model.lower_bound({key, ""});
      const bool exists = first != words.model.end() && first->first == key;
      ASSERT_EQ(words.structure.find(key), exists ? std::optional(first->second) : std::nullopt);
      if (i % 5000 == 0) {
        ASSERT_NO_FATAL_FAILURE(words.expect_model());
      }
    }
    ASSERT_NO_FATAL_FAILURE(words.expect_model());
    const Model all = words.model;
    for (const Pair& pair : all) words.del(pair);
    ASSERT_NO_FATAL_FAILURE(words.expect_model());
  }
}

}  // namespace
}  // namespace keydrome::csb
