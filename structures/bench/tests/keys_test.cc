// Tests the keys of structure_bench, the program that times data structures. The keys are distinct
// and the same in every run. They have the sizes and distributions that
// docs/reference/structures.md states.
#include "structures/bench/keys.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>

namespace keydrome::bench {
namespace {

constexpr uint64_t kCount = 20'000;
constexpr KeySet kAll[] = {KeySet::kInt, KeySet::kYcsb,   KeySet::kEmail,
                           KeySet::kUrl, KeySet::kRandom, KeySet::kPrefix};

double mean_bytes(const Keys& keys) {
  return static_cast<double>(keys.bytes()) / static_cast<double>(keys.size());
}

TEST(StructureBenchKeys, AreDistinctAndTheSameInEveryRun) {
  for (const KeySet set : kAll) {
    const Keys keys = make_keys(set, kCount);
    const Keys again = make_keys(set, kCount);
    std::set<std::string> distinct;
    for (uint64_t i = 0; i < kCount; ++i) {
      distinct.emplace(keys[i]);
      ASSERT_EQ(keys[i], again[i]);
      ASSERT_LE(keys[i].size(), 128u);
    }
    EXPECT_EQ(distinct.size(), kCount) << name_of(set);
  }
}

TEST(StructureBenchKeys, HaveTheStatedSizes) {
  EXPECT_EQ(mean_bytes(make_keys(KeySet::kInt, kCount)), 8);
  EXPECT_EQ(mean_bytes(make_keys(KeySet::kYcsb, kCount)), 23);
  EXPECT_NEAR(mean_bytes(make_keys(KeySet::kEmail, kCount)), 23.3, 1);
  EXPECT_NEAR(mean_bytes(make_keys(KeySet::kUrl, kCount)), 66.9, 2);
  EXPECT_NEAR(mean_bytes(make_keys(KeySet::kRandom, kCount)), 65.3, 2);
  EXPECT_EQ(mean_bytes(make_keys(KeySet::kPrefix, kCount)), 128);
}

TEST(StructureBenchKeys, NamesLeadBackToTheSets) {
  for (const KeySet set : kAll) EXPECT_EQ(key_set_of(name_of(set)), set);
  EXPECT_EQ(key_set_of("texts"), std::nullopt);
}

// The sum of a Queries object must be the sum of the numbers of its keys.
TEST(StructureBenchKeys, SumsBelongToTheDrawnKeys) {
  const Keys keys = make_keys(KeySet::kUrl, 1000);
  std::map<std::string, uint64_t> number_of;
  for (uint64_t i = 0; i < keys.size(); ++i) number_of[std::string(keys[i])] = i;
  QuerySource source(keys, 7);
  for (const Draw draw : {Draw::kUniform, Draw::kZipf}) {
    const Queries queries = source.draw(draw, 5000);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) {
      sum += number_of.at(std::string(queries.keys[i]));
    }
    EXPECT_EQ(sum, queries.sum);
  }
}

// With exponent 0.99 and 1,000 keys, 1 / 7.73 of the lookups are for the most popular key.
TEST(StructureBenchKeys, ZipfPrefersFewKeys) {
  const Keys keys = make_keys(KeySet::kInt, 1000);
  QuerySource source(keys, 7);
  const auto most = [&](Draw draw) {
    const Queries queries = source.draw(draw, 100'000);
    std::map<std::string, double> share;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) share[std::string(queries.keys[i])] += 1e-5;
    double largest = 0;
    for (const auto& [key, value] : share) largest = std::max(largest, value);
    return largest;
  };
  EXPECT_NEAR(most(Draw::kZipf), 1 / 7.73, 0.01);
  EXPECT_LT(most(Draw::kUniform), 0.003);
}

}  // namespace
}  // namespace keydrome::bench
