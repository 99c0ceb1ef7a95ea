// Tests features that only the ordered hash table has: codes (hashes) that keep the order, tables
// that stay shallow for keys that do not vary in their first bits, and a check() that detects
// damage. The test of contract B, the interface of a data structure (keydrome/structure.h), covers
// the features that all structures have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "structures/hash_ordered/code.h"
#include "structures/hash_ordered/ordered_hash.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::hash_ordered {
namespace {

const KeydromeStructureTable& table() { return *keydrome_structure(); }

// Tests divide their numbers of pairs by this.
#ifdef KEYDROME_SANITIZED
constexpr uint32_t kLess = 8;
#else
constexpr uint32_t kLess = 1;
#endif
constexpr uint32_t kPairs = 40'000 / kLess;

// Returns a string of up to `size_max` bytes. Most bytes are `a`, `Z`, `~`, `_` or 0x01, and some
// are 0x00 or 0xFF.
std::string random_text(std::mt19937_64& random, size_t size_max) {
  std::string text(random() % (size_max + 1), '\0');
  for (char& c : text) {
    const uint64_t choice = random() % 10;
    if (choice == 0) c = '\xff';
    if (choice > 1) c = static_cast<char>("aZ\x01~_"[random() % 5]);
  }
  return text;
}

Probe probe_of(const Pair& pair, bool past_key = false) {
  return Probe::of({pair.first.data(), static_cast<uint32_t>(pair.first.size())},
                   {pair.second.data(), static_cast<uint32_t>(pair.second.size())}, past_key);
}

TEST(HashOrdered, CodesKeepTheOrder) {
  std::mt19937_64 random(1);
  for (const uint32_t mark : {0u, 1u}) {
    std::vector<Pair> pairs;
    for (uint32_t i = 0; i < 3'000 / kLess; ++i) {
      const std::string key = mark == 1 ? random_text(random, 12) : big_endian(random() % 300, 4);
      pairs.emplace_back(key, random_text(random, 12));
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const Alphabet coarse = mark == 1 ? Alphabet::kText : Alphabet::kBytes;
    for (size_t i = 0; i + 1 < pairs.size(); ++i) {
      const Probe low = probe_of(pairs[i]);
      const Probe high = probe_of(pairs[i + 1]);
      const uint32_t common = common_symbols(low, high, mark, 300);
      ASSERT_LT(low.symbol(common, mark), high.symbol(common, mark)) << i;
      for (uint32_t at = 0; at <= common; ++at) {
        ASSERT_LE(code_of(low, at, mark, coarse), code_of(high, at, mark, coarse)) << i;
        ASSERT_LE(code_of(low, at, mark, Alphabet::kExact),
                  code_of(high, at, mark, Alphabet::kExact));
      }
      ASSERT_LT(code_of(low, common, mark, Alphabet::kExact),
                code_of(high, common, mark, Alphabet::kExact));
      // A probe past a key comes after all payloads of the key, and before the next key.
      const Pair key{pairs[i].first, ""};
      const Probe past = probe_of(key, true);
      ASSERT_GE(code_of(past, 0, mark, coarse), code_of(low, 0, mark, coarse));
      if (pairs[i].first == pairs[i + 1].first) continue;
      ASSERT_LE(code_of(past, 0, mark, coarse), code_of(high, 0, mark, coarse));
      ASSERT_LT(past.symbol(common, mark), high.symbol(common, mark));
    }
  }
}

// Distributions of pairs. If the first bits of a key chose the bucket, the pairs of each
// distribution except kRandom would crowd into few buckets.
enum class Keys {
  kRandom,
  kTruncated,
  kAscending,
  kDescending,
  kClusters,
  kPowers,
  kOutlier,
  kOneKey
};

Pair pair_of(Keys keys, uint32_t i, std::mt19937_64& random) {
  switch (keys) {
    case Keys::kRandom:
      return {big_endian(random(), 8), ""};
    case Keys::kTruncated:
      return {big_endian(0x1234567800000000 | random() >> 40, 8), ""};
    case Keys::kAscending:
      return {big_endian(i, 8), ""};
    case Keys::kDescending:
      return {big_endian(kPairs - i, 8), ""};
    case Keys::kClusters:
      return {big_endian((random() % 16) << 60 | random() % kPairs, 8), ""};
    case Keys::kPowers:
      return {big_endian(random() >> random() % 64, 8), ""};
    case Keys::kOutlier:
      return {big_endian(i == 0 ? ~uint64_t{0} : random() >> 32, 8), ""};
    case Keys::kOneKey:
      return {big_endian(7, 8), big_endian(random(), 8)};
  }
  return {};
}

class Distributions : public testing::TestWithParam<Keys> {};

TEST_P(Distributions, TablesStayShallow) {
  WatchedEnvironment environment;
  Structure structure(table(), environment, 8);
  std::mt19937_64 random(2);
  Model model;
  while (model.size() < kPairs) {
    const auto i = static_cast<uint32_t>(model.size());
    const Pair pair = pair_of(GetParam(), i, random);
    const bool is_new = model.insert(pair).second;
    ASSERT_EQ(structure.put(pair), is_new ? 1 : 0);
  }
  ASSERT_EQ(structure.check(), 0);
  EXPECT_LE(structure.statistic(KEYDROME_STATISTIC_HEIGHT), 8u);
  // There are at most five buckets for each pair, and at least one used bucket for ten pairs.
  EXPECT_LE(structure.statistic(KEYDROME_STATISTIC_SLOTS), 5 * kPairs);
  EXPECT_GE(structure.statistic(KEYDROME_STATISTIC_SLOTS_USED), kPairs / 10);
  ASSERT_EQ(structure.all("", 100), std::vector<Pair>(model.begin(), model.end()));
  uint32_t deleted = 0;
  for (const Pair& pair : model) {
    ASSERT_EQ(structure.del(pair), 1);
    ASSERT_EQ(++deleted % (kPairs / 8) == 0 ? structure.check() : 0, 0);
  }
  EXPECT_EQ(structure.statistic(KEYDROME_STATISTIC_NODES), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Distributions,
                         testing::Values(Keys::kRandom, Keys::kTruncated, Keys::kAscending,
                                         Keys::kDescending, Keys::kClusters, Keys::kPowers,
                                         Keys::kOutlier, Keys::kOneKey));

// The worst case: each string is a prefix of the next, so each table separates only a few of them.
TEST(HashOrdered, PrefixesOfOneStringNestTables) {
  WatchedEnvironment environment;
  Structure structure(table(), environment);
  Model model;
  for (uint32_t size = 0; size <= KEYDROME_KEY_BYTES_MAX; ++size) {
    for (const uint32_t payload_size : {0u, 1u, KEYDROME_PAYLOAD_BYTES_MAX}) {
      const Pair pair{std::string(size, '\0'), std::string(payload_size, '\0')};
      ASSERT_EQ(structure.put(pair), 1);
      model.insert(pair);
    }
  }
  EXPECT_EQ(structure.check(), 0);
  EXPECT_EQ(structure.all("", 7), std::vector<Pair>(model.begin(), model.end()));
  EXPECT_LE(structure.statistic(KEYDROME_STATISTIC_HEIGHT), KEYDROME_KEY_BYTES_MAX);
}

// Stores the address of the largest block, which is the table of the root.
struct TableWatch {
  static void* allocate(void* context, size_t size, size_t alignment) {
    void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    auto& watch = *static_cast<TableWatch*>(context);
    if (size > watch.size) watch.table = static_cast<BucketTable*>(memory);
    watch.size = std::max(watch.size, size);
    return memory;
  }
  static void retire(void*, void* memory, size_t, size_t) { std::free(memory); }
  BucketTable* table = nullptr;
  size_t size = 0;
};

TEST(HashOrdered, CheckSeesDamage) {
  TableWatch watch;
  const KeydromeEnvironment environment{sizeof environment, 0, &watch, TableWatch::allocate,
                                        TableWatch::retire};
  const KeydromeSetup setup{sizeof setup, 8, nullptr};
  Structure structure(table(), table().create(&environment, &setup));
  std::mt19937_64 random(3);
  for (uint32_t i = 0; i < 1'000; ++i) ASSERT_EQ(structure.put({big_endian(random(), 8), ""}), 1);
  ASSERT_EQ(structure.check(), 0);
  BucketTable& root = *watch.table;
  const uint32_t first = root.occupied(0);
  const uint32_t second = root.occupied(first + 1);
  Bucket& bucket = root.at(first);
  const Bucket whole = bucket;
  const auto expect_damage = [&](int number, auto damage, auto repair) {
    damage();
    EXPECT_EQ(structure.check(), number);
    repair();
    EXPECT_EQ(structure.check(), 0);
  };
  ASSERT_FALSE(whole.is_table());
  const auto swap_buckets = [&] { std::swap(bucket, root.at(second)); };
  expect_damage(2, swap_buckets, swap_buckets);
  expect_damage(3, [&] { ++root.pairs; }, [&] { --root.pairs; });
  expect_damage(4, [&] { bucket = Bucket(); }, [&] { bucket = whole; });
  // A list of two nodes in the wrong order.
  uint32_t number = first;
  while (root.at(number).is_table() || root.at(number).list()->next == nullptr) {
    number = root.occupied(number + 1);
    ASSERT_LT(number, root.buckets());
  }
  Bucket& crowded = root.at(number);
  Node* smaller = crowded.list();
  Node* larger = smaller->next;
  Node* rest = larger->next;
  const auto link = [&](Node* one, Node* two) {
    crowded = Bucket(one);
    one->next = two;
    two->next = rest;
  };
  expect_damage(1, [&] { link(larger, smaller); }, [&] { link(smaller, larger); });
}

}  // namespace
}  // namespace keydrome::hash_ordered
