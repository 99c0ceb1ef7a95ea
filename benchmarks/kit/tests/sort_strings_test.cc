#include "benchmarks/kit/sort_strings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/rng.h"

namespace keydrome {
namespace {

// Short texts over few letters behind a beginning that none or all have: many are prefixes of
// others, many are equal. With 30,000 more of them than are sorted by comparing.
TEST(SortStrings, SortsAsTheContractDoes) {
  for (const std::string beginning : {"", "all of them begin like this "}) {
    for (const uint32_t count : {0u, 1u, 2u, 3'000u, 30'000u}) {
      Rng rng(7, 0, Purpose::kPools);
      Strings texts;
      for (uint32_t i = 0; i < count; ++i) {
        std::string text = beginning;
        for (uint64_t left = rng.below(20); left > 0; --left) text += "ab\xff"[rng.below(3)];
        texts.add(text);
      }
      const std::vector<uint32_t> numbers = ascending(texts);
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
