// The program structure_contract_test --library PATH tests whether a data structure keeps the
// promises of contract B (keydrome/structure.h). Many tests compare the structure with a model, a
// std::set of the same pairs of key and payload.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "structures/tests/structure_fixture.h"

namespace keydrome {
namespace {

const KeydromeStructureTable* g_table = nullptr;

// The tests divide their numbers of operations, pairs and keys by this. It is larger under
// sanitizers, because sanitizers are slow and need only a few operations to find memory errors and
// races.
#ifdef KEYDROME_SANITIZED
constexpr uint32_t kLess = 4;
#else
constexpr uint32_t kLess = 1;
#endif

TEST(StructureContract, TableIsComplete) {
  EXPECT_EQ(g_table->version, KEYDROME_STRUCTURE_VERSION);
  ASSERT_NE(g_table->name, nullptr);
  ASSERT_NE(g_table->description, nullptr);
  EXPECT_TRUE(g_table->create && g_table->destroy && g_table->put && g_table->del &&
              g_table->seek && g_table->next);
  const auto has = [](uint32_t capability) { return (g_table->capabilities & capability) != 0; };
  EXPECT_EQ(has(KEYDROME_BATCH), g_table->get_batch != nullptr);
  EXPECT_EQ(has(KEYDROME_SPLITTABLE), g_table->split != nullptr && g_table->concat != nullptr);
  EXPECT_EQ(has(KEYDROME_STREAMABLE),
            g_table->export_run != nullptr && g_table->import_run != nullptr);
}

TEST(StructureContract, OptionsThatAreNotUnderstoodAreRefused) {
  WatchedEnvironment environment;
  EXPECT_EQ(g_table->create(environment.get(), "{\"no_such_option\": 1}"), nullptr);
  KeydromeStructure* instance = g_table->create(environment.get(), "{}");
  ASSERT_NE(instance, nullptr);
  g_table->destroy(instance);
}

TEST(StructureContract, EmptyInstance) {
  WatchedEnvironment environment;
  Structure structure(*g_table, environment);
  Pair pair;
  for (const bool after : {false, true}) {
    KeydromePosition position = structure.seek("key", kNoPayload, after);
    EXPECT_FALSE(structure.next(position, pair));
    EXPECT_FALSE(structure.next(position, pair));
  }
  EXPECT_EQ(structure.del({"key", "payload"}), 0);
  EXPECT_EQ(structure.check(), 0);
}

TEST(StructureContract, InstancesAreIndependent) {
  WatchedEnvironment environment;
  Structure one(*g_table, environment);
  Structure other(*g_table, environment);
  EXPECT_EQ(one.put({"a", "1"}), 1);
  EXPECT_EQ(other.put({"a", "2"}), 1);
  expect_same(one, {{"a", "1"}});
  expect_same(other, {{"a", "2"}});
}

TEST(StructureContract, InputsAreCopied) {
  WatchedEnvironment environment;
  Structure structure(*g_table, environment);
  Pair pair{std::string(40, 'k'), std::string(40, 'p')};
  EXPECT_EQ(structure.put(pair), 1);
  std::fill(pair.first.begin(), pair.first.end(), 'x');
  std::fill(pair.second.begin(), pair.second.end(), 'x');
  expect_same(structure, {{std::string(40, 'k'), std::string(40, 'p')}});
}

TEST(StructureContract, CopiesOfAPositionArePositions) {
  WatchedEnvironment environment;
  Structure structure(*g_table, environment);
  for (const char* key : {"a", "b", "c"}) ASSERT_EQ(structure.put({key, ""}), 1);
  KeydromePosition first = structure.seek("a", kNoPayload, true);
  KeydromePosition second = first;
  Pair pair;
  ASSERT_TRUE(structure.next(first, pair));
  EXPECT_EQ(pair.first, "b");
  ASSERT_TRUE(structure.next(second, pair));
  EXPECT_EQ(pair.first, "b");
}

// Returns the pair in the model that `next` must return after `seek` with the same arguments.
Model::const_iterator bound(const Model& model, const std::string& key, const std::string* payload,
                            bool after) {
  if (payload != nullptr) {
    return after ? model.upper_bound({key, *payload}) : model.lower_bound({key, *payload});
  }
  if (!after) return model.lower_bound({key, ""});
  auto place = model.lower_bound({key, ""});
  while (place != model.end() && place->first == key) ++place;
  return place;
}

// Seeks a random pair, and compares the next three pairs with those of the model.
void expect_seek_agrees(const Structure& structure, const Model& model, PairSource& source) {
  const Pair probe = source.pair();
  const bool whole_key = source.below(2) == 0;
  const bool after = source.below(2) == 0;
  KeydromePosition position =
      structure.seek(probe.first, whole_key ? kNoPayload : bytes_of(probe.second), after);
  auto expected = bound(model, probe.first, whole_key ? nullptr : &probe.second, after);
  for (int i = 0; i < 3; ++i) {
    Pair pair;
    const bool found = structure.next(position, pair);
    ASSERT_EQ(found, expected != model.end());
    if (!found) break;
    ASSERT_EQ(pair, *expected++);
  }
}

struct Scenario {
  Shape shape;  // the kind of keys, see structure_fixture.h
  uint64_t seed;
  uint32_t universe;  // the number of different keys, approximately
  uint32_t operations;
  uint32_t check_every;
};

void PrintTo(const Scenario& run, std::ostream* out) {
  *out << "shape " << static_cast<int>(run.shape) << ", seed " << run.seed << ", universe "
       << run.universe << ", " << run.operations << " operations";
}

class RandomOperations : public testing::TestWithParam<Scenario> {};

// Makes more insertions in the first half of the operations and more deletions in the second half,
// so that the structure grows and then shrinks.
TEST_P(RandomOperations, AgreeWithTheModel) {
  const Scenario& run = GetParam();
  std::printf("seed %llu\n", static_cast<unsigned long long>(run.seed));
  WatchedEnvironment environment;
  Structure structure(*g_table, environment);
  PairSource source(run.shape, run.seed, run.universe);
  Model model;
  for (uint32_t i = 0; i < run.operations; ++i) {
    const Pair pair = source.pair();
    const uint64_t insert_share = i < run.operations / 2 ? 7 : 3;
    if (source.below(10) < insert_share) {
      ASSERT_EQ(structure.put(pair), model.insert(pair).second ? 1 : 0);
    } else {
      ASSERT_EQ(structure.del(pair), static_cast<int>(model.erase(pair)));
    }
    if (i % run.check_every == 0) {
      ASSERT_EQ(structure.check(), 0) << "after operation " << i;
      ASSERT_NO_FATAL_FAILURE(expect_seek_agrees(structure, model, source));
      if (g_table->statistic != nullptr) {
        ASSERT_EQ(structure.statistic(KEYDROME_STATISTIC_PAIRS), model.size());
      }
    }
  }
  expect_same(structure, model);
  while (!model.empty()) {
    ASSERT_EQ(structure.del(*model.begin()), 1);
    model.erase(model.begin());
  }
  EXPECT_EQ(structure.check(), 0);
  expect_same(structure, model);
}

INSTANTIATE_TEST_SUITE_P(Small, RandomOperations,
                         testing::Values(Scenario{Shape::kInt32, 1, 300, 4000, 1},
                                         Scenario{Shape::kInt64, 2, 300, 4000, 1},
                                         Scenario{Shape::kText, 3, 300, 4000, 1},
                                         Scenario{Shape::kCommonPrefix, 4, 300, 4000, 1},
                                         Scenario{Shape::kHostileBytes, 5, 1000, 4000, 1},
                                         Scenario{Shape::kFewKeys, 6, 300, 4000, 1}));

INSTANTIATE_TEST_SUITE_P(
    Large, RandomOperations,
    testing::Values(Scenario{Shape::kInt32, 11, 15000 / kLess, 60000 / kLess, 6000 / kLess},
                    Scenario{Shape::kInt64, 12, 15000 / kLess, 60000 / kLess, 6000 / kLess},
                    Scenario{Shape::kText, 13, 15000 / kLess, 60000 / kLess, 6000 / kLess},
                    Scenario{Shape::kCommonPrefix, 14, 8000 / kLess, 30000 / kLess, 3000 / kLess},
                    Scenario{Shape::kHostileBytes, 15, 2560 / kLess, 30000 / kLess, 3000 / kLess},
                    Scenario{Shape::kFewKeys, 16, 8000 / kLess, 30000 / kLess, 3000 / kLess}));

enum class Sequence { kAscending, kDescending, kShuffled };

class BulkLoads : public testing::TestWithParam<std::pair<Sequence, Sequence>> {};

TEST_P(BulkLoads, GrowAndShrink) {
  constexpr uint64_t kSeed = 17;
  constexpr uint32_t kPairs = 20000 / kLess;
  WatchedEnvironment environment;
  Structure structure(*g_table, environment);
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  const auto numbers = [](Sequence sequence, uint64_t seed) {
    std::vector<uint32_t> order(kPairs);
    for (uint32_t i = 0; i < kPairs; ++i) order[i] = i;
    if (sequence == Sequence::kDescending) std::reverse(order.begin(), order.end());
    std::mt19937_64 random(seed);
    if (sequence == Sequence::kShuffled) std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  Model model;
  for (const uint32_t number : numbers(GetParam().first, kSeed)) {
    const Pair pair{big_endian(number, 4), "payload"};
    ASSERT_EQ(structure.put(pair), 1);
    model.insert(pair);
  }
  ASSERT_EQ(structure.check(), 0);
  expect_same(structure, model);
  uint32_t step = 0;
  for (const uint32_t number : numbers(GetParam().second, kSeed)) {
    const Pair pair{big_endian(number, 4), "payload"};
    ASSERT_EQ(structure.del(pair), 1);
    model.erase(pair);
    if (++step % (kPairs / 8) == 0) {
      ASSERT_EQ(structure.check(), 0);
      expect_same(structure, model);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, BulkLoads,
                         testing::Values(std::pair{Sequence::kAscending, Sequence::kAscending},
                                         std::pair{Sequence::kAscending, Sequence::kDescending},
                                         std::pair{Sequence::kDescending, Sequence::kAscending},
                                         std::pair{Sequence::kShuffled, Sequence::kShuffled}));

// Makes each allocation of an operation fail, one after the other. After each failure the structure
// must be unchanged.
TEST(StructureContract, MemoryFailureChangesNothing) {
  constexpr uint64_t kSeed = 23;
  constexpr uint32_t kOperations = 6000 / kLess;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  WatchedEnvironment environment;
  environment.fail_after(0);
  EXPECT_EQ(g_table->create(environment.get(), nullptr), nullptr);
  environment.fail_after(-1);
  environment.forget_failure();

  Structure structure(*g_table, environment);
  ASSERT_NE(structure.get(), nullptr);
  PairSource source(Shape::kText, kSeed, 1500 / kLess);
  Model model;
  uint32_t failures = 0;
  for (uint32_t i = 0; i < kOperations; ++i) {
    const Pair pair = source.pair();
    const bool insert = source.below(10) < (i < kOperations / 2 ? 8u : 2u);
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
      if (successes > 0 || failures % 16 == 0) {
        ASSERT_EQ(structure.check(), 0);
        expect_same(structure, model);
      }
    }
  }
  std::printf("%u injected failures\n", failures);
  EXPECT_GT(failures, 0u);
  expect_same(structure, model);
}

TEST(StructureContract, SharedReads) {
  if ((g_table->capabilities & (KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE)) == 0) {
    GTEST_SKIP() << g_table->name << " does not claim shared reads";
  }
  WatchedEnvironment environment;
  Structure structure(*g_table, environment);
  Model model;
  PairSource source(Shape::kText, 29, 5000);
  for (int i = 0; i < 5000; ++i) {
    const Pair pair = source.pair();
    structure.put(pair);
    model.insert(pair);
  }
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) expect_same(structure, model);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3 || std::string(argv[1]) != "--library") {
    std::fprintf(stderr, "usage: %s --library PATH\n", argv[0]);
    return 2;
  }
  void* library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, "keydrome_structure");
  if (symbol == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  keydrome::g_table = reinterpret_cast<const KeydromeStructureTable* (*)()>(symbol)();
  return RUN_ALL_TESTS();
}
