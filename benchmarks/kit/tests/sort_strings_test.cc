// Tests the sorting of string keys, which the judge needs to compare keys by their ranks
// (positions in the order of all keys). Also tests the search for the rank of a key.
#include "benchmarks/kit/judge/keys/sort_strings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

// Sorts short strings over three letters, with and without a common prefix. Many of them are
// prefixes of others, and many are equal. 30,000 strings are enough for the radix sort; fewer are
// sorted by comparison.
TEST(SortStrings, SortsAsTheContractDoes) {
  for (const std::string beginning : {"", "all of them begin like this "}) {
    for (const uint32_t count : {0u, 1u, 2u, 3'000u, 30'000u}) {
      workload::Rng rng(7, 0, workload::Purpose::kPools);
      script::Strings texts;
      for (uint32_t i = 0; i < count; ++i) {
        std::string text = beginning;
        for (uint64_t left = rng.below(20); left > 0; --left) text += "ab\xff"[rng.below(3)];
        texts.add(text);
      }
      const std::vector<uint32_t> numbers = judge::ascending(texts);
      std::vector<uint32_t> each_once = numbers;
      std::ranges::sort(each_once);
      ASSERT_EQ(each_once.size(), count);
      for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(each_once[i], i);
      std::vector<std::string_view> sorted(texts.begin(), texts.end());
      std::ranges::sort(sorted);
      for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(texts[numbers[i]], sorted[i]);
    }
  }
}

// Wherever the search begins, it finds the same rank. Keys before, between and after those of the
// pool have no rank.
TEST(KeyRanks, FindsAKeyFromEveryPlace) {
  script::Pools pools;
  for (const int32_t key : {10, 20, 20, 30, 40, 50, 60, 70}) {
    pools.int32_keys.push_back(key);
    pools.int64_keys.push_back(key);
    pools.varchar_keys.add(std::to_string(key));
  }
  const judge::KeyRanks ranks(pools);
  ASSERT_EQ(ranks.count(SHORT), 7u);
  for (uint32_t near = 0; near < 9; ++near) {
    for (int32_t key = 5; key <= 75; key += 5) {
      const bool stored = key % 10 == 0 && key <= 70;
      const std::optional<uint32_t> rank =
          stored ? std::optional<uint32_t>(key / 10 - 1) : std::nullopt;
      const int64_t wide = key;
      const auto bytes_of = [](const auto& number) {
        return std::string_view(reinterpret_cast<const char*>(&number), sizeof number);
      };
      EXPECT_EQ(ranks.find(SHORT, bytes_of(key), near), rank) << key << " from " << near;
      EXPECT_EQ(ranks.find(INT, bytes_of(wide), near), rank) << key << " from " << near;
      if (key < 10) continue;  // "5" comes between "40" and "50"
      EXPECT_EQ(ranks.find(VARCHAR, std::to_string(key), near), rank) << key << " from " << near;
    }
  }
}

}  // namespace
}  // namespace keydrome
