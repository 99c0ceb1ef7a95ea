// Tests four optional functions of contract B, the interface of a data structure
// (keydrome/structure.h): replace, load, split and concat, which change an instance. If the
// structure lacks a function, its tests check nothing. model_checks.cc tests find_batch.
// contract_test.cc has main().
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "structures/tests/model_checks.h"

namespace keydrome {
namespace {

constexpr Shape kShapes[] = {Shape::kInt32,        Shape::kInt64,        Shape::kText,
                             Shape::kCommonPrefix, Shape::kHostileBytes, Shape::kFewKeys};

class Optional : public testing::TestWithParam<Shape> {
 protected:
  static constexpr uint64_t kSeed = 37;
  static constexpr uint32_t kUniverse = 4000 / kLess;

  // Fills the structure and the model with about `count` random pairs.
  void fill(uint32_t count) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
    for (uint32_t i = 0; i < count; ++i) {
      const Pair pair = source_.pair();
      if (!limits_.admits(model_, pair)) continue;
      ASSERT_TRUE(structure_.put_returns(pair, model_.insert(pair).second ? 1 : 0));
    }
  }
  void expect_unchanged() {
    ASSERT_TRUE(structure_.is_sound());
    expect_same(structure_, model_, source_);
  }

  const Limits limits_ = Limits::of(table());
  PairSource source_{GetParam(), kSeed, kUniverse, limits_};
  WatchedEnvironment environment_;
  Structure structure_{table(), environment_, source_.key_bytes()};
  Model model_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, Optional, testing::ValuesIn(kShapes));

TEST_P(Optional, ReplaceAgreesWithTheModel) {
  if (table().replace == nullptr) return;  // optional: this structure has no replace
  ASSERT_NO_FATAL_FAILURE(fill(kUniverse));
  std::array<uint32_t, 3> answers{};
  for (uint32_t i = 0; i < kUniverse; ++i) {
    const Pair probe = source_.pair();
    const auto found = model_.lower_bound({probe.first, ""});
    // Half of the replacements replace a payload that exists.
    const bool known = source_.below(2) == 0 && found != model_.end();
    const Pair before = known ? *found : probe;
    const Pair now{before.first, source_.payload()};
    const int expected = model_.count(before) == 0 ? 0 : model_.count(now) != 0 ? 2 : 1;
    ASSERT_EQ(table().replace(structure_.get(), bytes_of(before.first), bytes_of(before.second),
                              bytes_of(now.second)),
              expected)
        << "replace must return 0 if the old pair is missing, 2 if both exist, and 1 otherwise";
    ++answers[static_cast<size_t>(expected)];
    if (expected == 1) {
      model_.erase(before);
      model_.insert(now);
    }
    if (i % (kUniverse / 8) == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_unchanged());
    }
  }
  EXPECT_GT(answers[1], 0u);
  expect_unchanged();
}

TEST_P(Optional, ReplaceOfAMissingPairReturnsZeroEvenIfTheNewPairExists) {
  if (table().replace == nullptr) return;  // optional: this structure has no replace
  ASSERT_NO_FATAL_FAILURE(fill(500));
  for (const Pair& now : std::vector<Pair>(model_.begin(), model_.end())) {
    const Pair missing{now.first, source_.payload()};
    if (model_.count(missing) != 0) continue;
    ASSERT_EQ(table().replace(structure_.get(), bytes_of(now.first), bytes_of(missing.second),
                              bytes_of(now.second)),
              0)
        << "replace must return 0 if the old pair is missing";
  }
  expect_unchanged();
}

TEST_P(Optional, ReplaceThatFailsChangesNothing) {
  if (table().replace == nullptr) return;  // optional: this structure has no replace
  ASSERT_NO_FATAL_FAILURE(fill(500));
  for (const Pair& before : std::vector<Pair>(model_.begin(), model_.end())) {
    const Pair now{before.first, source_.payload()};
    if (model_.count(now) != 0) continue;
    for (int successes = 0;; ++successes) {
      environment_.forget_failure();
      environment_.fail_after(successes);
      const int result = table().replace(structure_.get(), bytes_of(before.first),
                                         bytes_of(before.second), bytes_of(now.second));
      environment_.fail_after(-1);
      if (result >= 0) {
        ASSERT_EQ(result, 1) << "replace of an existing pair by a new one must return 1";
        break;
      }
      ASSERT_TRUE(environment_.failed())
          << "replace returned " << result << ", but no allocation failed";
      ASSERT_NO_FATAL_FAILURE(expect_unchanged());
    }
    model_.erase(before);
    model_.insert(now);
  }
  expect_unchanged();
}

// Puts some pairs, and then loads the rest in runs of several lengths.
TEST_P(Optional, LoadAppends) {
  if (table().load == nullptr) return;  // optional: this structure has no load
  Model all;
  for (uint32_t i = 0; i < kUniverse; ++i) {
    const Pair pair = source_.pair();
    if (limits_.admits(all, pair)) all.insert(pair);
  }
  size_t number = 0;
  uint32_t limit = 1;
  std::vector<uint8_t> bytes(256 * KEYDROME_RUN_BYTES_MIN);
  KeydromeRun run{bytes.data(), static_cast<uint32_t>(bytes.size()), 0, limit, 0};
  const auto load = [&] {
    ASSERT_EQ(table().load(structure_.get(), &run), 0) << "load must return 0";
    keydrome_run_clear(&run);
    limit = limit % 200 + 37;
    run.limit = limit;
  };
  for (const Pair& pair : all) {
    model_.insert(pair);
    if (number++ < all.size() / 8) {
      ASSERT_TRUE(structure_.put_returns(pair, 1));
      continue;
    }
    if (keydrome_run_add(&run, bytes_of(pair.first), bytes_of(pair.second)) == 1) continue;
    ASSERT_NO_FATAL_FAILURE(load());
    ASSERT_EQ(keydrome_run_add(&run, bytes_of(pair.first), bytes_of(pair.second)), 1);
  }
  ASSERT_NO_FATAL_FAILURE(load());
  ASSERT_NO_FATAL_FAILURE(load());  // an empty run
  ASSERT_NO_FATAL_FAILURE(expect_unchanged());
  // the loaded structure works like one that was filled by put
  for (uint32_t i = 0; i < kUniverse; ++i) {
    const Pair pair = source_.pair();
    ASSERT_TRUE(structure_.del_returns(pair, static_cast<int>(model_.erase(pair))));
  }
  expect_unchanged();
}

// Moves the upper part of the pairs to an instance in another environment, and back.
TEST_P(Optional, SplitAndConcatMovePairs) {
  if (table().split == nullptr) return;  // optional: this structure has no split
  ASSERT_NO_FATAL_FAILURE(fill(kUniverse));
  for (int round = 0; round < 12; ++round) {
    // The first rounds split before the first pair and after the last pair.
    std::string key = source_.key();
    if (round == 0) key = source_.smallest_key();
    if (round == 1 && !model_.empty()) key = model_.rbegin()->first;
    KeydromeStructure* moved = table().split(structure_.get(), bytes_of(key), environment_.get());
    ASSERT_NE(moved, nullptr) << "split returned NULL, but no allocation failed";
    Structure high(table(), moved);
    const auto cut = model_.lower_bound({key, ""});
    Model low_model(model_.begin(), cut);
    Model high_model(cut, model_.end());
    ASSERT_TRUE(structure_.is_sound());
    ASSERT_TRUE(high.is_sound());
    ASSERT_NO_FATAL_FAILURE(expect_same(structure_, low_model, source_));
    ASSERT_NO_FATAL_FAILURE(expect_same(high, high_model, source_));
    for (uint32_t i = 0; i < 200; ++i) {  // both instances must work
      const Pair pair = source_.pair();
      Model& model = pair.first < key ? low_model : high_model;
      Structure& part = pair.first < key ? structure_ : high;
      ASSERT_TRUE(part.del_returns(pair, static_cast<int>(model.erase(pair))));
    }
    model_ = low_model;
    model_.insert(high_model.begin(), high_model.end());
    if (table().concat == nullptr) return;
    ASSERT_EQ(table().concat(structure_.get(), high.release()), 0) << "concat must return 0";
    ASSERT_NO_FATAL_FAILURE(expect_unchanged());
  }
}

TEST_P(Optional, SplitThatFailsMovesNothing) {
  if (table().split == nullptr) return;  // optional: this structure has no split
  ASSERT_NO_FATAL_FAILURE(fill(1000));
  const std::string key = source_.key();
  KeydromeStructure* moved = nullptr;
  for (int successes = 0; moved == nullptr; ++successes) {
    environment_.fail_after(successes);
    moved = table().split(structure_.get(), bytes_of(key), environment_.get());
    environment_.fail_after(-1);
    if (moved == nullptr) {
      ASSERT_NO_FATAL_FAILURE(expect_unchanged());
    }
  }
  const Structure high(table(), moved);
  expect_same(high, Model(model_.lower_bound({key, ""}), model_.end()), source_);
}

}  // namespace
}  // namespace keydrome
