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
  EXPECT_EQ(g_table.version, KEYDROME_STRUCTURE_VERSION)
      << "set `version` to KEYDROME_STRUCTURE_VERSION";
  EXPECT_GE(g_table.size, offsetof(KeydromeStructureTable, find_batch))
      << "set `size` to sizeof(KeydromeStructureTable)";
  ASSERT_NE(g_table.name, nullptr);
  ASSERT_NE(g_table.description, nullptr);
  EXPECT_TRUE(g_table.create && g_table.destroy && g_table.put && g_table.del)
      << "create, destroy, put and del are required";
  EXPECT_LE(g_table.key_bytes_only, KEYDROME_KEY_BYTES_MAX);
  EXPECT_LE(g_table.payload_bytes_max, KEYDROME_PAYLOAD_BYTES_MAX);
  if (has(KEYDROME_UNORDERED)) {
    EXPECT_NE(g_table.find, nullptr) << "find is required with KEYDROME_UNORDERED";
    EXPECT_TRUE(!g_table.scan && !g_table.load && !g_table.split && !g_table.concat)
        << "with KEYDROME_UNORDERED, scan, load, split and concat must be NULL";
  } else {
    EXPECT_NE(g_table.scan, nullptr) << "scan is required without KEYDROME_UNORDERED";
  }
}

TEST(StructureContract, OptionsThatAreNotUnderstoodAreRefused) {
  WatchedEnvironment environment;
  const uint32_t key_bytes = g_table.key_bytes_only;
  KeydromeSetup setup{sizeof setup, key_bytes, "{\"no_such_option\": 1}"};
  EXPECT_EQ(g_table.create(environment.get(), &setup), nullptr)
      << "create must return NULL, because no structure has the option no_such_option";
  setup.options = "{}";
  KeydromeStructure* instance = g_table.create(environment.get(), &setup);
  ASSERT_NE(instance, nullptr) << "create must accept an empty JSON object of options";
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
  EXPECT_TRUE(structure.del_returns(source.pair(), 0));
  EXPECT_TRUE(structure.is_sound());
}

TEST(StructureContract, InstancesAreIndependent) {
  WatchedEnvironment environment;
  const PairSource source = small_source();
  Structure one(g_table, environment, source.key_bytes());
  Structure other(g_table, environment, source.key_bytes());
  const std::string key = small_key(source, 7);
  EXPECT_TRUE(one.put_returns({key, "1"}, 1));
  EXPECT_TRUE(other.put_returns({key, "2"}, 1));
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
  EXPECT_TRUE(structure.put_returns(pair, 1));
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
  EXPECT_EQ(g_table.create(environment.get(), &setup), nullptr)
      << "create must return NULL if memory runs out";
  environment.fail_after(-1);
  environment.forget_failure();

  Structure structure(g_table, environment, source.key_bytes());
  ASSERT_NE(structure.get(), nullptr) << "create returned NULL, but no allocation failed";
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
        ASSERT_EQ(result, expected ? 1 : 0)
            << (insert ? "put" : "del") << " of " << testing::PrintToString(pair);
        break;
      }
      ASSERT_TRUE(environment.failed())
          << (insert ? "put" : "del") << " returned " << result << ", but no allocation failed";
      ASSERT_EQ(environment.bytes(), bytes_before)
          << "a call that fails must retire the memory that it has allocated";
      ++failures;
      // Always checks after the failure of a second or later allocation of one operation, because
      // operations with several allocations are rare in most structures.
      if ((successes > 0 && failures < 500) || failures % 16 == 0) {
        ASSERT_TRUE(structure.is_sound());
        expect_same(structure, model, source);
      }
    }
  }
  std::printf("%u injected failures\n", failures);
  EXPECT_GT(failures, 0u) << "allocations failed, but every call succeeded: does the structure "
                             "take all its memory from its environment?";
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
  for (const Pair& pair : pairs) ASSERT_TRUE(structure.put_returns(pair, 1));
  size_t bytes_early = 0;
  for (uint32_t i = 0; i < 10 * kPairs; ++i) {
    if (i == 2 * kPairs) bytes_early = environment.bytes();
    Pair& pair = pairs[random() % kPairs];
    ASSERT_TRUE(structure.del_returns(pair, 1));
    keys.erase(pair.first);
    pair = new_pair();
    ASSERT_TRUE(structure.put_returns(pair, 1));
  }
  ASSERT_TRUE(structure.is_sound());
  EXPECT_LT(environment.bytes(), bytes_early * 11 / 10)
      << "the number of pairs is constant, but the memory in bytes grows by a tenth or more";
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
    std::fprintf(
        stderr,
        "%s: cannot load the structure: %s; give the path of a shared library that exports "
        "keydrome_structure\n",
        argv[0], dlerror());
    return 2;
  }
  const auto* table = reinterpret_cast<const KeydromeStructureTable* (*)()>(symbol)();
  if (table == nullptr) {
    std::fprintf(stderr,
                 "%s: keydrome_structure returned NULL; it must return the structure's table of "
                 "functions\n",
                 argv[0]);
    return 2;
  }
  std::memcpy(&keydrome::g_table, table,
              std::min<size_t>(table->size, sizeof(KeydromeStructureTable)));
  return RUN_ALL_TESTS();
}
