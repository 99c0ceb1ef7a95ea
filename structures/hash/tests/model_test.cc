// Compares the hash table with a std::map of std::sets: random operations, failing allocations,
// many payloads of one key, growth of the table, and repeated insertion and deletion.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "structures/tests/structure_fixture.h"

namespace keydrome::hash {
namespace {

using Payloads = std::map<std::string, std::set<std::string>>;

// Tests divide their numbers of operations by this, because sanitizers are slow.
#ifdef KEYDROME_SANITIZED
constexpr uint32_t kSlower = 10;
#else
constexpr uint32_t kSlower = 1;
#endif

std::string number_key(uint64_t number, size_t size) {
  std::string key(size, '\0');
  for (size_t i = 0; i < size; ++i) key[i] = static_cast<char>(number >> (8 * (size - 1 - i)));
  return key;
}

enum class Shape { kDense, kSparse, kHighByte, kText, kCommonPrefix, kNested };

std::string make_key(Shape shape, uint64_t number, uint32_t key_bytes) {
  const size_t size = key_bytes == 0 ? 8 : key_bytes;
  switch (shape) {
    case Shape::kDense:
      return number_key(number, size);
    case Shape::kSparse:
      if (number < 2) return std::string(size, number == 0 ? '\0' : '\xFF');
      return number_key(number * 0x9E3779B97F4A7C15u, size);
    case Shape::kHighByte:
      return number_key(number << (8 * (size - 1)), size);
    case Shape::kText:
      return std::to_string(number * 0x9E3779B97F4A7C15u);
    case Shape::kCommonPrefix:
      return std::string(120, 'p') + number_key(number, 8);
    case Shape::kNested:
      return std::string(number % 129, 'n');
  }
  return {};
}

std::string make_payload(std::mt19937_64& random) {
  static constexpr size_t kSizes[] = {8, 8, 8, 0, 1, 7, 9, 16, 99, 100};
  const uint64_t number = random();
  std::string payload(kSizes[number % 10], '\0');
  if (!payload.empty()) payload.back() = static_cast<char>(number >> 8 & 3);
  if (number >> 16 & 1) payload.insert(0, 1, 'x').pop_back();
  return payload;
}

std::vector<std::string> listed(const std::set<std::string>& payloads) {
  return {payloads.begin(), payloads.end()};
}

void expect_same(const Structure& table, const Payloads& model) {
  ASSERT_EQ(table.check(), 0);
  size_t keys = 0;
  for (const auto& [key, payloads] : model) {
    ASSERT_EQ(table.payloads(key), listed(payloads));
    keys += payloads.empty() ? 0 : 1;
  }
  ASSERT_EQ(table.statistic(KEYDROME_STATISTIC_SLOTS_USED), keys);
}

int replace(Payloads& model, const std::string& key, const std::string& before,
            const std::string& now) {
  std::set<std::string>& payloads = model[key];
  if (!payloads.contains(before)) return 0;
  if (payloads.contains(now)) return 2;
  payloads.erase(before);
  payloads.insert(now);
  return 1;
}

void random_operations(Shape shape, uint32_t key_bytes, uint64_t seed) {
  WatchedEnvironment environment(Retired::kKept);
  Structure table(*keydrome_structure(), environment, key_bytes);
  Payloads model;
  std::mt19937_64 random(seed);
  for (uint32_t step = 0; step < 20'000 / kSlower; ++step) {
    const std::string key = make_key(shape, random() % 300, key_bytes);
    const std::string payload = make_payload(random);
    const uint64_t operation = random() % 8;
    if (operation < 4) {
      ASSERT_EQ(table.put({key, payload}), model[key].insert(payload).second ? 1 : 0);
    } else if (operation < 6) {
      ASSERT_EQ(table.del({key, payload}), static_cast<int>(model[key].erase(payload)));
    } else if (operation == 6) {
      const std::string now = make_payload(random);
      ASSERT_EQ(table.replace({key, payload}, now), replace(model, key, payload, now));
    } else {
      const auto next = model[key].upper_bound(payload);
      const bool exists = next != model[key].end();
      ASSERT_EQ(table.find(key, payload), exists ? std::optional(*next) : std::nullopt);
    }
    if (step % 1000 == 0) expect_same(table, model);
    environment.free_retired();
  }
  expect_same(table, model);
  for (auto& [key, payloads] : model) {
    for (const std::string& payload : payloads) ASSERT_EQ(table.del({key, payload}), 1);
    payloads.clear();
  }
  expect_same(table, model);
}

TEST(HashModel, RandomOperations) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const Shape shape : {Shape::kDense, Shape::kSparse, Shape::kHighByte}) {
      for (const uint32_t key_bytes : {8u, 4u, 0u}) {
        SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", key_bytes "
                                        << key_bytes << ", seed " << seed);
        random_operations(shape, key_bytes, seed);
      }
    }
    for (const Shape shape : {Shape::kText, Shape::kCommonPrefix, Shape::kNested}) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", seed " << seed);
      random_operations(shape, 0, seed);
    }
  }
}

// In each call, a random number of allocations (0 to 3) may succeed, and all later ones fail. A
// call that gets too little memory must change nothing.
void failing_allocations(uint32_t key_bytes) {
  WatchedEnvironment environment(Retired::kKept);
  Structure table(*keydrome_structure(), environment, key_bytes);
  Payloads model;
  std::mt19937_64 random(5);
  for (uint32_t step = 0; step < 10'000 / kSlower; ++step) {
    const std::string key = make_key(Shape::kSparse, random() % 20, key_bytes);
    // A key has up to 64 payloads of at least 47 bytes. They do not fit into one Block, so
    // Directories (payloads.h) occur, too.
    const std::string payload = std::string(40, 'f') + std::to_string(1'000'000 + random() % 64);
    environment.fail_after(static_cast<int>(random() % 4));
    const uint64_t operation = random() % 4;
    if (operation < 2) {
      const int result = table.put({key, payload});
      if (result == KEYDROME_NO_MEMORY) {
        ASSERT_FALSE(model[key].contains(payload));
      } else {
        ASSERT_EQ(result, model[key].insert(payload).second ? 1 : 0);
      }
    } else if (operation == 2) {
      // del needs no memory, so it must succeed.
      ASSERT_EQ(table.del({key, payload}), static_cast<int>(model[key].erase(payload)));
    } else {
      const std::string now = "replaced" + payload;
      const int result = table.replace({key, payload}, now);
      if (result != KEYDROME_NO_MEMORY) {
        ASSERT_EQ(result, replace(model, key, payload, now));
      }
    }
    environment.fail_after(-1);
    ASSERT_EQ(table.payloads(key), listed(model[key]));
    if (step % 500 == 0) expect_same(table, model);
    environment.free_retired();
  }
  expect_same(table, model);
}

TEST(HashModel, FailingAllocationsChangeNothing) {
  failing_allocations(8);
  failing_allocations(0);
}

TEST(HashModel, CreateReportsFailingAllocations) {
  for (int successes = 0; successes < 2; ++successes) {
    WatchedEnvironment environment(Retired::kKept);
    environment.fail_after(successes);
    const Structure table(*keydrome_structure(), environment, 8);
    EXPECT_EQ(table.get(), nullptr);
  }
}

// The cost of a payload must not grow with the number of payloads. If the test took quadratic time,
// it would exceed its time limit.
TEST(HashModel, ManyPayloadsOfOneKey) {
  constexpr uint64_t kPayloads = 1'000'000 / (kSlower * kSlower);
  WatchedEnvironment environment(Retired::kKept);
  Structure table(*keydrome_structure(), environment, 8);
  const std::string key = number_key(7, 8);
  const auto payload = [](uint64_t i) { return number_key(i * 0x9E3779B97F4A7C15u, 8); };
  for (uint64_t i = 0; i < kPayloads; ++i) {
    ASSERT_EQ(table.put({key, payload(i)}), 1);
    if (i % 1000 == 0) environment.free_retired();
  }
  EXPECT_EQ(table.put({key, payload(1)}), 0);
  EXPECT_EQ(table.check(), 0);
  EXPECT_EQ(table.payloads(key).size(), kPayloads);
  for (uint64_t i = 0; i < kPayloads; ++i) {
    ASSERT_EQ(table.del({key, payload(i)}), 1);
    if (i % 1000 == 0) environment.free_retired();
  }
  EXPECT_EQ(table.payloads(key).size(), 0u);
  EXPECT_EQ(table.check(), 0);
}

TEST(HashModel, GrowsInSmallStepsAndFindsBatches) {
  constexpr uint64_t kKeys = 200'000 / kSlower;
  for (const uint32_t key_bytes : {8u, 0u}) {
    WatchedEnvironment environment(Retired::kKept);
    Structure table(*keydrome_structure(), environment, key_bytes);
    uint64_t lines = table.statistic(KEYDROME_STATISTIC_NODES);
    for (uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_EQ(table.put({number_key(i * 3, 8), number_key(i, 8)}), 1);
      if (i % 1024 != 0) continue;
      // Each insertion makes at most four new buckets, with one line each, and needs at most one
      // further line.
      const uint64_t now = table.statistic(KEYDROME_STATISTIC_NODES);
      ASSERT_LE(now, lines + 1024 * 5);
      lines = now;
    }
    EXPECT_EQ(table.check(), 0);
    EXPECT_GE(table.statistic(KEYDROME_STATISTIC_SLOTS), kKeys);
    EXPECT_LE(table.statistic(KEYDROME_STATISTIC_SLOTS), kKeys * 5);
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < 1000; ++i) keys.push_back(number_key(i, 8));
    std::vector<KeydromeLookup> lookups(keys.size());
    std::vector<std::string> payloads(keys.size(), std::string(KEYDROME_PAYLOAD_BYTES_MAX, '\0'));
    for (size_t i = 0; i < keys.size(); ++i) {
      lookups[i] = {{keys[i].data(), 8}, {payloads[i].data(), 0, KEYDROME_PAYLOAD_BYTES_MAX}, 9};
    }
    ASSERT_EQ(keydrome_structure()->find_batch(table.get(), 1000, lookups.data()), 0);
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(lookups[i].found, i % 3 == 0 ? 1 : 0);
      if (i % 3 == 0) {
        ASSERT_EQ(payloads[i].substr(0, lookups[i].payload.size), number_key(i / 3, 8));
      }
    }
  }
}

// Repeated insertion and deletion of pairs must not make the memory grow.
TEST(HashModel, ChurnNeedsNoMoreMemory) {
  constexpr uint64_t kKeys = 20'000 / kSlower;
  WatchedEnvironment environment(Retired::kKept);
  Structure table(*keydrome_structure(), environment, 8);
  const auto churn = [&](uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; ++i) {
      ASSERT_EQ(table.put({number_key(i, 8), number_key(i, 8)}), 1);
      if (i >= kKeys) {
        ASSERT_EQ(table.del({number_key(i - kKeys, 8), number_key(i - kKeys, 8)}), 1);
      }
    }
    environment.free_retired();
  };
  churn(0, 2 * kKeys);
  const size_t before = environment.bytes();
  churn(2 * kKeys, 8 * kKeys);
  EXPECT_LE(environment.bytes(), before + before / 10);
  EXPECT_EQ(table.check(), 0);
}

}  // namespace
}  // namespace keydrome::hash
