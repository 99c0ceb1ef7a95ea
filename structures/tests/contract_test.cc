// The program structure_contract_test --library PATH tests whether a data structure keeps the
// promises of contract B, its interface (keydrome/structure.h). This file has the tests of single
// rules and main(). random_test.cc compares the structure with a model, and optional_test.cc tests
// optional functions.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "structures/tests/model_checks.h"

namespace keydrome {
namespace {

KeydromeStructureTable g_table{};

bool has(uint32_t capability) { return (g_table.capabilities & capability) != 0; }

// Makes pairs with keys of 8 bytes, or of the only size that the structure can hold.
PairSource small_source(uint64_t seed = 1, uint32_t universe = 300) {
  return {Shape::kInt64, seed, universe, Limits::of(g_table)};
}
std::string small_key(const PairSource& source, uint64_t number) {
  return big_endian(number, source.key_bytes());
}

TEST(StructureContract, TableIsComplete) {
  EXPECT_EQ(g_table.version, KEYDROME_STRUCTURE_VERSION);
  EXPECT_GE(g_table.size, offsetof(KeydromeStructureTable, find_batch));
  ASSERT_NE(g_table.name, nullptr);
  ASSERT_NE(g_table.description, nullptr);
  EXPECT_TRUE(g_table.create && g_table.destroy && g_table.put && g_table.del);
  EXPECT_LE(g_table.key_bytes_only, KEYDROME_KEY_BYTES_MAX);
  EXPECT_LE(g_table.payload_bytes_max, KEYDROME_PAYLOAD_BYTES_MAX);
  if (has(KEYDROME_UNORDERED)) {
    EXPECT_NE(g_table.find, nullptr);
    EXPECT_TRUE(!g_table.scan && !g_table.load && !g_table.split && !g_table.concat);
  } else {
    EXPECT_NE(g_table.scan, nullptr);
  }
}

TEST(StructureContract, OptionsThatAreNotUnderstoodAreRefused) {
  WatchedEnvironment environment;
  const uint32_t key_bytes = g_table.key_bytes_only;
  KeydromeSetup setup{sizeof setup, key_bytes, "{\"no_such_option\": 1}"};
  EXPECT_EQ(g_table.create(environment.get(), &setup), nullptr);
  setup.options = "{}";
  KeydromeStructure* instance = g_table.create(environment.get(), &setup);
  ASSERT_NE(instance, nullptr);
  g_table.destroy(instance);
}

TEST(StructureContract, EmptyInstance) {
  WatchedEnvironment environment;
  PairSource source = small_source();
  Structure structure(g_table, environment, source.key_bytes());
  const Model model;
  for (int i = 0; i < 10; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_scans_agree(structure, model, source));
    ASSERT_NO_FATAL_FAILURE(expect_lookups_agree(structure, model, source));
  }
  EXPECT_EQ(structure.del(source.pair()), 0);
  EXPECT_EQ(structure.check(), 0);
}

TEST(StructureContract, InstancesAreIndependent) {
  WatchedEnvironment environment;
  const PairSource source = small_source();
  Structure one(g_table, environment, source.key_bytes());
  Structure other(g_table, environment, source.key_bytes());
  const std::string key = small_key(source, 7);
  EXPECT_EQ(one.put({key, "1"}), 1);
  EXPECT_EQ(other.put({key, "2"}), 1);
  expect_same(one, {{key, "1"}}, source);
  expect_same(other, {{key, "2"}}, source);
}

TEST(StructureContract, InputsAreCopied) {
  WatchedEnvironment environment;
  const PairSource source = small_source();
  Structure structure(g_table, environment, source.key_bytes());
  const uint32_t payload_bytes = std::min(40u, Limits::of(g_table).payload_bytes_max);
  const Pair stored{small_key(source, 0x6B6B), std::string(payload_bytes, 'p')};
  Pair pair = stored;
  EXPECT_EQ(structure.put(pair), 1);
  std::fill(pair.first.begin(), pair.first.end(), 'x');
  std::fill(pair.second.begin(), pair.second.end(), 'x');
  expect_same(structure, {stored}, source);
}

// Makes each allocation of an operation fail once. After each failure the structure must be
// unchanged.
TEST(StructureContract, MemoryFailureChangesNothing) {
  constexpr uint64_t kSeed = 23;
  constexpr uint32_t kOperations = 6000 / kLess;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  WatchedEnvironment environment;
  environment.fail_after(0);
  PairSource source(Shape::kText, kSeed, 1500 / kLess, Limits::of(g_table));
  const KeydromeSetup setup{sizeof setup, source.key_bytes(), nullptr};
  EXPECT_EQ(g_table.create(environment.get(), &setup), nullptr);
  environment.fail_after(-1);
  environment.forget_failure();

  Structure structure(g_table, environment, source.key_bytes());
  ASSERT_NE(structure.get(), nullptr);
  Model model;
  uint32_t failures = 0;
  for (uint32_t i = 0; i < kOperations; ++i) {
    const Pair pair = source.pair();
    const bool insert = source.below(10) < (i < kOperations / 2 ? 8u : 2u);
    if (insert && !Limits::of(g_table).admits(model, pair)) continue;
    for (int successes = 0;; ++successes) {
      environment.forget_failure();
      environment.fail_after(successes);
      const size_t bytes_before = environment.bytes();
      const int result = insert ? structure.put(pair) : structure.del(pair);
      environment.fail_after(-1);
      if (result >= 0) {
        const bool expected = insert ? model.insert(pair).second : model.erase(pair) == 1;
        ASSERT_EQ(result, expected ? 1 : 0);
        break;
      }
      ASSERT_TRUE(environment.failed()) << "the call failed, but no allocation failed";
      ASSERT_EQ(environment.bytes(), bytes_before);
      ++failures;
      // Always checks after the failure of a second or later allocation of one operation, because
      // operations with several allocations are rare in most structures.
      if ((successes > 0 && failures < 500) || failures % 16 == 0) {
        ASSERT_EQ(structure.check(), 0);
        expect_same(structure, model, source);
      }
    }
  }
  std::printf("%u injected failures\n", failures);
  EXPECT_GT(failures, 0u);
  expect_same(structure, model, source);
}

// Replaces random pairs by others, ten times as often as there are pairs. The memory must not grow.
TEST(StructureContract, ChurnDoesNotGrow) {
  constexpr uint32_t kPairs = 20'000 / kLess;
  WatchedEnvironment environment;
  const PairSource source = small_source();
  const uint32_t payload_bytes = std::min(8u, Limits::of(g_table).payload_bytes_max);
  Structure structure(g_table, environment, source.key_bytes());
  std::mt19937_64 random(5);
  std::set<std::string> keys;
  const auto new_pair = [&] {
    for (;;) {
      const std::string key = small_key(source, random());
      if (keys.insert(key).second) return Pair{key, big_endian(random(), payload_bytes)};
    }
  };
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < kPairs; ++i) pairs.push_back(new_pair());
  for (const Pair& pair : pairs) ASSERT_EQ(structure.put(pair), 1);
  size_t bytes_early = 0;
  for (uint32_t i = 0; i < 10 * kPairs; ++i) {
    if (i == 2 * kPairs) bytes_early = environment.bytes();
    Pair& pair = pairs[random() % kPairs];
    ASSERT_EQ(structure.del(pair), 1);
    keys.erase(pair.first);
    pair = new_pair();
    ASSERT_EQ(structure.put(pair), 1);
  }
  ASSERT_EQ(structure.check(), 0);
  EXPECT_LT(environment.bytes(), bytes_early * 11 / 10);
}

TEST(StructureContract, SharedReads) {
  if (!has(KEYDROME_SHARED_READS) && !has(KEYDROME_THREAD_SAFE)) {
    return;  // the structure does not promise shared reads
  }
  WatchedEnvironment environment;
  PairSource source(Shape::kText, 29, 5000, Limits::of(g_table));
  Structure structure(g_table, environment, source.key_bytes());
  Model model;
  for (int i = 0; i < 5000; ++i) {
    const Pair pair = source.pair();
    if (!Limits::of(g_table).admits(model, pair)) continue;
    structure.put(pair);
    model.insert(pair);
  }
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) expect_same(structure, model, source);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

const KeydromeStructureTable& table() { return g_table; }

}  // namespace keydrome

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3 || std::string(argv[1]) != "--library") {
    std::fprintf(stderr, "usage: %s --library PATH\n", argv[0]);
    return 2;
  }
  // dlopen searches for a name without a slash in the system's folders only.
  const std::filesystem::path path = std::filesystem::absolute(argv[2]);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, "keydrome_structure");
  if (symbol == nullptr) {
    std::fprintf(stderr, "cannot load the structure: %s; give the path of its shared library\n",
                 dlerror());
    return 2;
  }
  const auto* table = reinterpret_cast<const KeydromeStructureTable* (*)()>(symbol)();
  std::memcpy(&keydrome::g_table, table,
              std::min<size_t>(table->size, sizeof(KeydromeStructureTable)));
  return RUN_ALL_TESTS();
}
