// Tests the sorting of string keys, which the judge needs to compare keys by their ranks
// (positions in the order of all keys).
#include "benchmarks/kit/judge/keys/sort_strings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace
}  // namespace keydrome
