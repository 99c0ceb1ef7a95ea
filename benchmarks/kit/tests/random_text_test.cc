// Tests the random texts for keys and payloads: all characters are equally likely, and texts never
// change.
#include "benchmarks/kit/workload/random_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "benchmarks/kit/tests/workloads.h"

namespace keydrome {
namespace {

// Returns the characters with the codes 0 .. count-1.
std::string first_characters(std::size_t count) {
  std::string characters;
  for (std::size_t i = 0; i < count; ++i) characters += static_cast<char>(i);
  return characters;
}

workload::Rng stream() { return {11, 0, workload::Purpose::kPools}; }

// With 94 characters, one random number in three thousand is rejected. So this test also covers the
// code that rejects.
TEST(Letters, EachCharacterAndEachPairIsAsLikelyAsTheOthers) {
  for (const std::size_t count : {6u, 31u, 52u, 94u, 128u}) {
    const workload::Alphabet alphabet(first_characters(count));
    workload::Rng rng = stream();
    std::vector<double> by_place(8 * count), pairs(count * count);
    for (int i = 0; i < 100'000; ++i) {
      const std::string text = alphabet.text(rng, 8);
      for (std::size_t at = 0; at < 8; ++at) {
        ++by_place.at(at * count + static_cast<uint8_t>(text[at]));
      }
      ++pairs.at(static_cast<uint8_t>(text[1]) * count + static_cast<uint8_t>(text[2]));
    }
    testing::expect_uniform(by_place);
    testing::expect_uniform(pairs);
  }
}

TEST(Letters, TextsHaveTheirLengthAndGoToTheEndOfWhatIsThere) {
  workload::Rng rng = stream();
  for (std::size_t length = 0; length < 40; ++length) {
    std::string text = "before ";
    workload::letters().append(rng, length, text);
    EXPECT_EQ(text.size(), 7 + length);
    EXPECT_TRUE(text.starts_with("before "));
    EXPECT_EQ(text.find_first_not_of(workload::kLetters, 7), std::string::npos);
  }
}

// These texts must never change. A change would alter the operations of benchmarks, which would
// then need new versions.
TEST(Letters, AreTheSameForEver) {
  workload::Rng rng = stream();
  EXPECT_EQ(workload::letters().text(rng, 20), "paDQgRAfqjVdbSVytOqI");
  EXPECT_EQ(workload::Alphabet("01").text(rng, 12), "000101110111");
}

TEST(Letters, ShorterTextsTakeNoMoreRandomNumbersThanLongerOnes) {
  workload::Rng one = stream(), other = stream();
  workload::letters().text(one, 1);
  workload::letters().text(other, 8);
  EXPECT_EQ(one.next(), other.next());
}

}  // namespace
}  // namespace keydrome
