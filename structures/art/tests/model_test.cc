// Compares the adaptive radix tree with a std::set of pairs. The sets of keys make nodes of every
// kind grow, shrink and merge. The test of contract B (structures/tests), the interface of a data
// structure, covers the functions that all structures have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

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

// A set of keys. `key` makes the key of a number, which must be less than `numbers`.
struct Distribution {
  const char* name;
  uint32_t numbers;
  uint32_t key_bytes;
  std::string (*key)(uint32_t number);
  bool words = false;  // all payloads have 8 bytes, so word pages (words.h) contain the pairs
};

const Distribution kDistributions[] = {
    {"dense 4 bytes", 3000, 4, [](uint32_t n) { return big_endian(n, 4); }},
    {"dense 8 bytes", 3000, 8, [](uint32_t n) { return big_endian(n, 8); }},
    {"sparse", 3000, 8, [](uint32_t n) { return big_endian(n * 0x9E3779B97F4A7C15u, 8); }},
    {"only the high byte differs", 256, 8,
     [](uint32_t n) { return big_endian(uint64_t{n} << 56, 8); }},
    {"only the low byte differs", 256, 8,
     [](uint32_t n) { return big_endian(0x0102030405060700u + n, 8); }},
    {"only the high and low bytes differ", 4096, 4,
     [](uint32_t n) { return big_endian((n / 64) << 26 | n % 64, 4); }},
    {"common prefix of 120 bytes", 3000, 128,
     [](uint32_t n) { return std::string(120, 'p') + big_endian(n * 0x9E3779B97F4A7C15u, 8); }},
    {"prefixes of each other", 129, 0, [](uint32_t n) { return std::string(n, 'a'); }},
    {"prefixes of two bytes", 2046, 0,
     [](uint32_t n) {
       std::string key;  // the binary digits of n + 2 without the first digit
       for (n += 2; n > 1; n /= 2) key.insert(key.begin(), n % 2 == 0 ? '\0' : '\xFF');
       return key;
     }},
    {"numbers as text", 3000, 0, [](uint32_t n) { return std::to_string(n); }},
    {"words, few", 40, 8, [](uint32_t n) { return big_endian(n * 0x9E3779B97F4A7C15u, 8); }, true},
    {"words, dense", 3000, 8, [](uint32_t n) { return big_endian(n, 8); }, true},
    {"words, sparse", 3000, 8, [](uint32_t n) { return big_endian(n * 0x9E3779B97F4A7C15u, 8); },
     true},
    {"words, some near each other and some far apart", 64, 8,
     [](uint32_t n) { return big_endian(n % 2 == 0 ? n : uint64_t{n} << 58, 8); }, true},
    {"words, only the high byte differs", 256, 8,
     [](uint32_t n) { return big_endian(uint64_t{n} << 56, 8); }, true},
};

// Payloads, some of which are prefixes of others, and the longest possible payload.
const std::string kPayloads[] = {"", std::string(1, '\0'), "12345678", "1234567890",
                                 std::string(KEYDROME_PAYLOAD_BYTES_MAX, '\xFF')};
// The first bytes and the last bytes of these payloads have different orders.
const std::string kWords[] = {"12345678", std::string(8, '\0'), std::string(8, '\xFF'), "8765432a",
                              "a2345670"};

class ArtModel : public testing::TestWithParam<Distribution> {
 protected:
  ArtModel() : structure_(*keydrome_structure(), environment_, GetParam().key_bytes) {}

  void seed(uint32_t seed) {
    std::printf("seed %u\n", seed);
    random_.seed(seed);
  }
  uint32_t below(size_t bound) { return static_cast<uint32_t>(random_() % bound); }
  std::string key() { return GetParam().key(below(GetParam().numbers)); }
  std::string payload() {
    static_assert(std::size(kPayloads) == std::size(kWords));
    const size_t number = below(std::size(kWords));
    return GetParam().words ? kWords[number] : kPayloads[number];
  }

  static std::string kept_payload() { return GetParam().words ? "a word.." : "payload"; }

  void expect_agrees() {
    ASSERT_EQ(structure_.check(), 0);
    const std::string from(GetParam().key_bytes, '\0');
    ASSERT_EQ(structure_.all(from, 64), std::vector<Pair>(model_.begin(), model_.end()));
  }

  // Scans a few pairs from a random pair, which in most cases is not stored.
  void expect_scan_agrees(const Pair& from, bool after) {
    auto at = after ? model_.upper_bound(from) : model_.lower_bound(from);
    std::vector<Pair> expected;
    for (; at != model_.end() && expected.size() < 3; ++at) expected.push_back(*at);
    const Scanned scanned = structure_.scan(from.first, from.second, after, RunBuffer(3));
    ASSERT_EQ(scanned.pairs, expected);
  }

  void expect_find_agrees(const std::string& key) {
    const auto at = model_.lower_bound({key, ""});
    const bool exists = at != model_.end() && at->first == key;
    ASSERT_EQ(structure_.find(key), exists ? std::optional(at->second) : std::nullopt);
  }

  void put(const Pair& pair) {
    ASSERT_EQ(structure_.put(pair), model_.insert(pair).second ? 1 : 0);
  }
  void del(const Pair& pair) {
    // The structure deletes first, because `pair` may refer to a pair of the model, which erase()
    // destroys.
    const int result = structure_.del(pair);
    ASSERT_EQ(result, static_cast<int>(model_.erase(pair)));
  }

  WatchedEnvironment environment_;
  Structure structure_;
  Model model_;
  std::mt19937 random_;
};

TEST_P(ArtModel, RandomOperations) {
  constexpr uint32_t kOperations = 30000 / kDivisor;
  seed(7);
  for (uint32_t i = 0; i < kOperations; ++i) {
    const Pair pair{key(), payload()};
    // Inserts more often in the first half and deletes more often in the second half, so the tree
    // grows and then shrinks.
    if (below(10) < (i < kOperations / 2 ? 8u : 2u)) {
      ASSERT_NO_FATAL_FAILURE(put(pair));
    } else {
      ASSERT_NO_FATAL_FAILURE(del(pair));
    }
    ASSERT_NO_FATAL_FAILURE(expect_scan_agrees({key(), payload()}, below(2) == 0));
    ASSERT_NO_FATAL_FAILURE(expect_find_agrees(key()));
    if (i % (kOperations / 20) == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_agrees());
    }
  }
  while (!model_.empty()) ASSERT_NO_FATAL_FAILURE(del(*model_.begin()));
  ASSERT_NO_FATAL_FAILURE(expect_agrees());
}

// Inserts all keys in one order and deletes them in another order.
TEST_P(ArtModel, Orders) {
  std::vector<std::string> ascending;
  for (uint32_t i = 0; i < GetParam().numbers; ++i) ascending.push_back(GetParam().key(i));
  std::sort(ascending.begin(), ascending.end());
  const std::vector<std::string> descending(ascending.rbegin(), ascending.rend());
  const std::vector<std::string>* const orders[] = {&ascending, &descending};
  for (uint32_t way = 0; way < 4; ++way) {
    const auto* in = orders[way / 2];
    const auto* out = orders[way % 2];
    uint32_t step = 0;
    const uint32_t check_every = GetParam().numbers / 8;
    for (const std::string& key : *in) {
      ASSERT_NO_FATAL_FAILURE(put({key, kept_payload()}));
      if (++step % check_every == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_agrees());
      }
    }
    for (const std::string& key : *out) {
      ASSERT_NO_FATAL_FAILURE(del({key, kept_payload()}));
      if (++step % check_every == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_agrees());
      }
    }
  }
}

// Makes each allocation of each operation fail once. A failed operation must change nothing, and
// del must never fail.
TEST_P(ArtModel, FailedAllocationsChangeNothing) {
  constexpr uint32_t kOperations = 4000 / kDivisor;
  seed(11);
  uint32_t failures = 0;
  for (uint32_t i = 0; i < kOperations; ++i) {
    const Pair pair{key(), payload()};
    if (below(10) >= (i < kOperations / 2 ? 9u : 1u)) {
      environment_.fail_after(0);
      ASSERT_NO_FATAL_FAILURE(del(pair));
      environment_.fail_after(-1);
    } else {
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
    }
    if (i % (kOperations / 20) == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_agrees());
    }
  }
  EXPECT_GT(failures, 0u);
  ASSERT_NO_FATAL_FAILURE(expect_agrees());
}

TEST_P(ArtModel, ReplaceAgrees) {
  constexpr uint32_t kOperations = 6000 / kDivisor;
  seed(13);
  for (uint32_t i = 0; i < kOperations; ++i) {
    const std::string chosen = key();
    const std::string before = payload();
    const std::string now = payload();
    ASSERT_NO_FATAL_FAILURE(put({key(), before}));
    int expected = 0;
    if (model_.count({chosen, before}) > 0) {
      expected = model_.insert({chosen, now}).second ? 1 : 2;
      if (expected == 1) model_.erase({chosen, before});
    }
    ASSERT_EQ(keydrome_structure()->replace(structure_.get(), bytes_of(chosen), bytes_of(before),
                                            bytes_of(now)),
              expected);
  }
  ASSERT_NO_FATAL_FAILURE(expect_agrees());
}

// Pages change between word pages and pages of other pairs.
TEST_P(ArtModel, PagesChangeTheirForm) {
  constexpr uint32_t kOperations = 6000 / kDivisor;
  seed(19);
  for (uint32_t i = 0; i < kOperations; ++i) {
    const std::string chosen = key();
    const std::string word = kWords[below(std::size(kWords))];
    ASSERT_NO_FATAL_FAILURE(put({chosen, word}));
    const std::string other = below(8) == 0 ? "" : kWords[below(std::size(kWords))];
    int expected = 0;
    if (model_.count({chosen, word}) > 0) {
      expected = model_.insert({chosen, other}).second ? 1 : 2;
      if (expected == 1) model_.erase({chosen, word});
    }
    ASSERT_EQ(keydrome_structure()->replace(structure_.get(), bytes_of(chosen), bytes_of(word),
                                            bytes_of(other)),
              expected);
    ASSERT_NO_FATAL_FAILURE(expect_find_agrees(key()));
    ASSERT_NO_FATAL_FAILURE(expect_scan_agrees({key(), word}, below(2) == 0));
    if (below(2) == 0) {
      ASSERT_NO_FATAL_FAILURE(del({key(), kWords[below(std::size(kWords))]}));
    }
  }
  ASSERT_NO_FATAL_FAILURE(expect_agrees());
}

INSTANTIATE_TEST_SUITE_P(Distributions, ArtModel, testing::ValuesIn(kDistributions));

// The payloads of a key are part of the tree, so a million payloads of one key must cost no more
// than a million keys.
TEST(ArtPayloads, MillionOfOneKey) {
  constexpr uint32_t kCount = 1000000 / kDivisor;
  std::printf("seed 17\n");
  WatchedEnvironment environment;
  Structure structure(*keydrome_structure(), environment, 8);
  const std::string key = big_endian(42, 8);
  std::vector<uint32_t> numbers(kCount);
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::mt19937 random(17);
  std::shuffle(numbers.begin(), numbers.end(), random);
  ASSERT_EQ(structure.put({big_endian(41, 8), "before"}), 1);
  ASSERT_EQ(structure.put({big_endian(43, 8), "behind"}), 1);
  for (const uint32_t number : numbers) ASSERT_EQ(structure.put({key, big_endian(number, 4)}), 1);
  ASSERT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.find(key), big_endian(0, 4));
  EXPECT_EQ(structure.find(key, big_endian(kCount / 2, 4)), big_endian(kCount / 2 + 1, 4));
  EXPECT_EQ(structure.find(key, big_endian(kCount - 1, 4)), std::nullopt);

  const std::vector<Pair> pairs = structure.all(std::string(8, '\0'), 256);
  ASSERT_EQ(pairs.size(), kCount + 2);
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(pairs[i + 1].second, big_endian(i, 4));
  for (const uint32_t number : numbers) ASSERT_EQ(structure.del({key, big_endian(number, 4)}), 1);
  EXPECT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.find(key), std::nullopt);
}

}  // namespace
}  // namespace keydrome
