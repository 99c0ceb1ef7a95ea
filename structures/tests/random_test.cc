// Compares a data structure with a model, a std::set of pairs, after random operations and after
// loads in several orders. The data structure has the interface of contract B
// (keydrome/structure.h). contract_test.cc has main().
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "structures/tests/model_checks.h"

namespace keydrome {
namespace {

struct Scenario {
  Shape shape;  // the kind of keys, see pair_source.h
  uint64_t seed;
  uint32_t universe;  // the number of different keys, approximately
  uint32_t operations;
  uint32_t check_every;
};

void PrintTo(const Scenario& run, std::ostream* out) {
  *out << "shape " << static_cast<int>(run.shape) << ", seed " << run.seed << ", universe "
       << run.universe << ", " << run.operations << " operations";
}

class RandomOperations : public testing::TestWithParam<Scenario> {
 protected:
  void change(const Pair& pair, bool insert) {
    if (!insert) {
      ASSERT_TRUE(structure_.del_returns(pair, static_cast<int>(model_.erase(pair))));
    } else if (limits_.admits(model_, pair)) {
      ASSERT_TRUE(structure_.put_returns(pair, model_.insert(pair).second ? 1 : 0));
    }
  }

  const Scenario& run_ = GetParam();
  const Limits limits_ = Limits::of(table());
  PairSource source_{run_.shape, run_.seed, run_.universe, limits_};
  WatchedEnvironment environment_;
  Structure structure_{table(), environment_, source_.key_bytes()};
  Model model_;
};

// Makes more insertions in the first half of the operations and more deletions in the second half,
// so that the structure grows and then shrinks.
TEST_P(RandomOperations, AgreeWithTheModel) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(run_.seed));
  for (uint32_t i = 0; i < run_.operations; ++i) {
    const Pair pair = source_.pair();
    const uint64_t insert_share = i < run_.operations / 2 ? 7 : 3;
    ASSERT_NO_FATAL_FAILURE(change(pair, source_.below(10) < insert_share));
    if (i % run_.check_every == 0) {
      ASSERT_TRUE(structure_.is_sound()) << "after operation " << i;
      ASSERT_NO_FATAL_FAILURE(expect_scans_agree(structure_, model_, source_));
      ASSERT_NO_FATAL_FAILURE(expect_lookups_agree(structure_, model_, source_));
    }
  }
  for (const uint32_t limit : {1, 2, 64}) {
    ASSERT_NO_FATAL_FAILURE(expect_same(structure_, model_, source_, limit));
  }
  while (!model_.empty()) {
    ASSERT_TRUE(structure_.del_returns(*model_.begin(), 1));
    model_.erase(model_.begin());
  }
  EXPECT_TRUE(structure_.is_sound());
  expect_same(structure_, model_, source_);
}

// A scan in runs, with changes between the runs. Each run starts after the last pair of the
// previous run, even if this pair has been deleted.
TEST_P(RandomOperations, ScansContinueAfterChanges) {
  if (!structure_.is_ordered()) return;  // optional: this structure has no scan
  for (uint32_t i = 0; i < std::min(run_.universe, 2000u); ++i) {
    ASSERT_NO_FATAL_FAILURE(change(source_.pair(), true));
  }
  for (const uint32_t limit : {1, 2, 64}) {
    Pair last{source_.smallest_key(), ""};
    for (bool first = true;; first = false) {
      const Scanned run = structure_.scan(last.first, last.second, !first, RunBuffer(limit));
      auto expected = first ? model_.begin() : model_.upper_bound(last);
      for (const Pair& pair : run.pairs) {
        ASSERT_NE(expected, model_.end()) << "scan returned a pair after the last one";
        ASSERT_EQ(pair, *expected++) << "scan must return the next pair in order";
      }
      if (run.pairs.empty()) break;
      last = run.pairs.back();
      ASSERT_NO_FATAL_FAILURE(change(source_.below(2) == 0 ? last : source_.pair(), false));
      ASSERT_NO_FATAL_FAILURE(change(source_.pair(), true));
    }
    ASSERT_TRUE(structure_.is_sound());
  }
}

INSTANTIATE_TEST_SUITE_P(Small, RandomOperations,
                         testing::Values(Scenario{Shape::kInt32, 1, 300, 4000, 1},
                                         Scenario{Shape::kInt64, 2, 300, 4000, 1},
                                         Scenario{Shape::kText, 3, 300, 4000, 1},
                                         Scenario{Shape::kCommonPrefix, 4, 300, 4000, 1},
                                         Scenario{Shape::kHostileBytes, 5, 1000, 4000, 1},
                                         Scenario{Shape::kFewKeys, 6, 300, 4000, 1}));

INSTANTIATE_TEST_SUITE_P(
    Large, RandomOperations,
    testing::Values(Scenario{Shape::kInt32, 11, 15000 / kLess, 60000 / kLess, 6000 / kLess},
                    Scenario{Shape::kInt64, 12, 15000 / kLess, 60000 / kLess, 6000 / kLess},
                    Scenario{Shape::kText, 13, 15000 / kLess, 60000 / kLess, 6000 / kLess},
                    Scenario{Shape::kCommonPrefix, 14, 8000 / kLess, 30000 / kLess, 3000 / kLess},
                    Scenario{Shape::kHostileBytes, 15, 2560 / kLess, 30000 / kLess, 3000 / kLess},
                    Scenario{Shape::kFewKeys, 16, 8000 / kLess, 30000 / kLess, 3000 / kLess}));

enum class Sequence { kAscending, kDescending, kShuffled };

class BulkLoads : public testing::TestWithParam<std::pair<Sequence, Sequence>> {};

TEST_P(BulkLoads, GrowAndShrink) {
  constexpr uint64_t kSeed = 17;
  constexpr uint32_t kPairs = 20000 / kLess;
  WatchedEnvironment environment;
  const PairSource source(Shape::kInt32, kSeed, kPairs, Limits::of(table()));
  Structure structure(table(), environment, source.key_bytes());
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  const auto numbers = [](Sequence sequence, uint64_t seed) {
    std::vector<uint32_t> order(kPairs);
    for (uint32_t i = 0; i < kPairs; ++i) order[i] = i;
    if (sequence == Sequence::kDescending) std::reverse(order.begin(), order.end());
    std::mt19937_64 random(seed);
    if (sequence == Sequence::kShuffled) std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  const std::string payload = std::string("payload").substr(
      0, table().payload_bytes_max == 0 ? 7 : table().payload_bytes_max);
  Model model;
  for (const uint32_t number : numbers(GetParam().first, kSeed)) {
    const Pair pair{big_endian(number, source.key_bytes()), payload};
    ASSERT_TRUE(structure.put_returns(pair, 1));
    model.insert(pair);
  }
  ASSERT_TRUE(structure.is_sound());
  expect_same(structure, model, source);
  uint32_t step = 0;
  for (const uint32_t number : numbers(GetParam().second, kSeed)) {
    const Pair pair{big_endian(number, source.key_bytes()), payload};
    ASSERT_TRUE(structure.del_returns(pair, 1));
    model.erase(pair);
    if (++step % (kPairs / 8) == 0) {
      ASSERT_TRUE(structure.is_sound());
      expect_same(structure, model, source);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, BulkLoads,
                         testing::Values(std::pair{Sequence::kAscending, Sequence::kAscending},
                                         std::pair{Sequence::kAscending, Sequence::kDescending},
                                         std::pair{Sequence::kDescending, Sequence::kAscending},
                                         std::pair{Sequence::kShuffled, Sequence::kShuffled}));

}  // namespace
}  // namespace keydrome
