// Compares the B+-tree with a std::set of pairs: random operations on keys and payloads of many
// shapes, with each table of functions that this processor can execute.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "structures/btree/tests/fixture.h"

namespace keydrome::btree {
namespace {

#ifdef KEYDROME_SANITIZED
constexpr int kSteps = 500;
#else
constexpr int kSteps = 1000;
#endif

using Parameter = std::tuple<size_t, uint32_t, Keys, PayloadShape>;

class BtreeModel : public testing::TestWithParam<Parameter> {
 protected:
  const KeydromeStructureTable& table() const { return *tables()[std::get<0>(GetParam())]; }
  uint32_t key_bytes() const { return std::get<1>(GetParam()); }
  PairSource source(uint64_t seed, uint32_t universe) const {
    return {key_bytes(), std::get<2>(GetParam()), std::get<3>(GetParam()), seed, universe};
  }
};

// Changes the tree and the model by one random operation, and compares the results.
void change(Instance& tree, Model& model, PairSource& source, uint64_t puts_in_ten) {
  StringPair pair = source.pair();
  if (source.below(2) == 0 && !model.empty()) {  // a pair that exists
    const auto at = model.lower_bound(pair);
    pair = at == model.end() ? *model.begin() : *at;
  }
  const uint64_t kind = source.below(11);
  if (kind == 10) {
    const std::string now = source.payload();
    int expected = model.count({pair.first, now}) != 0 ? 2 : 1;
    if (model.count(pair) == 0) expected = 0;
    ASSERT_EQ(tree.replace(pair.first, pair.second, now), expected);
    if (expected == 1) {
      model.erase(pair);
      model.insert({pair.first, now});
    }
  } else if (kind < puts_in_ten) {
    ASSERT_EQ(tree.put(pair), model.insert(pair).second ? 1 : 0);
  } else {
    ASSERT_EQ(tree.del(pair), static_cast<int>(model.erase(pair)));
  }
}

void expect_same_find(const Instance& tree, const Model& model, const std::string& key,
                      const std::string* after) {
  const auto at =
      after == nullptr ? model.lower_bound({key, ""}) : model.upper_bound({key, *after});
  const bool exists = at != model.end() && at->first == key;
  std::string payload;
  ASSERT_EQ(tree.find(key, after == nullptr ? kAny : bytes_of(*after), payload), exists ? 1 : 0);
  if (exists) {
    ASSERT_EQ(payload, at->second);
  }
}

// Compares one scan from a random pair, with random limits of the run.
void expect_same_scan(const Instance& tree, const Model& model, PairSource& source) {
  const StringPair from = source.pair();
  const bool any_payload = source.below(2) == 0;
  const bool after = source.below(2) == 0;
  const uint32_t limit = 1 + static_cast<uint32_t>(source.below(200));
  const uint32_t capacity = KEYDROME_RUN_BYTES_MIN + static_cast<uint32_t>(source.below(3000));
  int more = -1;
  const auto run = tree.scan_once(from.first, any_payload ? kAny : bytes_of(from.second), after,
                                  limit, capacity, more);
  auto at = after ? model.upper_bound(from) : model.lower_bound(from);
  if (any_payload) {
    at = model.lower_bound({from.first, ""});
    while (after && at != model.end() && at->first == from.first) ++at;
  }
  for (const StringPair& pair : run) {
    ASSERT_NE(at, model.end());
    ASSERT_EQ(pair, *at);
    ++at;
  }
  if (more == 0) {
    ASSERT_EQ(at, model.end());
  } else {
    ASSERT_EQ(more, 1);
    size_t bytes = 0;
    for (const StringPair& pair : run) bytes += 2 + pair.first.size() + pair.second.size();
    if (run.size() < limit) {
      ASSERT_NE(at, model.end());
      ASSERT_GT(bytes + 2 + at->first.size() + at->second.size(), capacity);
    }
  }
}

void expect_same_batch(const KeydromeStructureTable& table, const Instance& tree,
                       const Model& model, PairSource& source) {
  constexpr uint32_t kCount = 50;
  std::string keys[kCount];
  char payloads[kCount][KEYDROME_PAYLOAD_BYTES_MAX];
  KeydromeLookup lookups[kCount];
  for (uint32_t i = 0; i < kCount; ++i) {
    keys[i] = source.key();
    lookups[i] = {bytes_of(keys[i]), {payloads[i], 0, KEYDROME_PAYLOAD_BYTES_MAX}, 7};
  }
  ASSERT_EQ(table.find_batch(tree.get(), kCount, lookups), 0);
  for (uint32_t i = 0; i < kCount; ++i) {
    const auto at = model.lower_bound({keys[i], ""});
    const bool exists = at != model.end() && at->first == keys[i];
    ASSERT_EQ(lookups[i].found, exists ? 1 : 0);
    if (exists) {
      ASSERT_EQ(std::string(payloads[i], lookups[i].payload.size), at->second);
    }
  }
}

TEST_P(BtreeModel, RandomOperations) {
  CheckedEnvironment environment;
  Instance tree(table(), environment, key_bytes());
  Model model;
  PairSource pairs = source(1, 3000);
  for (int step = 0; step < kSteps; ++step) {
    // The tree grows, shrinks, and grows again.
    const uint64_t puts = step % (kSteps / 2) < kSteps / 4 ? 8 : 3;
    ASSERT_NO_FATAL_FAILURE(change(tree, model, pairs, puts));
    const StringPair pair = pairs.pair();
    ASSERT_NO_FATAL_FAILURE(expect_same_find(tree, model, pair.first, nullptr));
    ASSERT_NO_FATAL_FAILURE(expect_same_find(tree, model, pair.first, &pair.second));
    if (step % 50 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_same_scan(tree, model, pairs));
    }
    if (step % 500 == 0) {
      ASSERT_EQ(tree.check(), 0) << "step " << step;
      ASSERT_NO_FATAL_FAILURE(expect_same_batch(table(), tree, model, pairs));
      for (const uint32_t limit : {64u, 1000u}) {
        ASSERT_EQ(tree.scan_all(limit), std::vector<StringPair>(model.begin(), model.end()));
      }
    }
  }
  while (!model.empty()) {
    const StringPair last = *model.rbegin();
    ASSERT_EQ(tree.del(last), 1);
    model.erase(last);
  }
  ASSERT_EQ(tree.check(), 0);
  EXPECT_EQ(tree.statistic(KEYDROME_STATISTIC_NODES), 1u);
}

// Each operation is tried with no memory, with one allocation, and so on, until it succeeds. An
// operation that fails must change nothing.
TEST_P(BtreeModel, FailedAllocationsChangeNothing) {
  CheckedEnvironment environment;
  Instance tree(table(), environment, key_bytes());
  Model model;
  PairSource pairs = source(2, 2000);
  int failures = 0;
  for (int step = 0; step < kSteps / 10; ++step) {
    const StringPair pair = pairs.pair();
    const std::string now = pairs.payload();
    const bool puts = model.empty() || pairs.below(4) > 0;
    const std::string before = puts ? "" : model.lower_bound({model.begin()->first, ""})->second;
    const std::string key = puts ? pair.first : model.begin()->first;
    int result = -1;
    for (int budget = 0; result < 0; ++budget) {
      environment.fail_after(budget);
      result = puts ? tree.put(pair) : tree.replace(key, before, now);
      environment.fail_after(-1);
      if (result >= 0) break;
      ASSERT_EQ(result, KEYDROME_NO_MEMORY);
      ASSERT_LT(budget, 500);
      ++failures;
      ASSERT_NO_FATAL_FAILURE(expect_same_find(tree, model, key, nullptr));
      if (budget > 0 || step % 100 == 0) {
        ASSERT_EQ(tree.check(), 0);
        ASSERT_EQ(tree.scan_all(500, 60000), std::vector<StringPair>(model.begin(), model.end()));
      }
    }
    if (puts) {
      ASSERT_EQ(result, model.insert(pair).second ? 1 : 0);
    } else if (result == 1) {
      model.erase({key, before});
      model.insert({key, now});
    }
  }
  EXPECT_GT(failures, 0);
  environment.fail_after(0);  // del needs no memory
  while (!model.empty()) {
    const auto middle = std::next(model.begin(), static_cast<long>(model.size() / 2));
    ASSERT_EQ(tree.del(*middle), 1);
    model.erase(middle);
    if (model.size() % 100 == 0) {
      ASSERT_EQ(tree.check(), 0);
    }
  }
}

void load(const KeydromeStructureTable& table, Instance& tree, const Model& model) {
  std::vector<char> bytes(3000);
  KeydromeRun run{bytes.data(), 3000, 0, 1000, 0};
  for (const StringPair& pair : model) {
    if (keydrome_run_add(&run, bytes_of(pair.first), bytes_of(pair.second)) == 1) continue;
    ASSERT_EQ(table.load(tree.get(), &run), 0);
    keydrome_run_clear(&run);
    ASSERT_EQ(keydrome_run_add(&run, bytes_of(pair.first), bytes_of(pair.second)), 1);
  }
  ASSERT_EQ(table.load(tree.get(), &run), 0);
}

TEST_P(BtreeModel, LoadSplitAndConcat) {
  CheckedEnvironment environment, other;
  PairSource pairs = source(3, 3000);
  Model model;
  for (int i = 0; i < kSteps / 3; ++i) model.insert(pairs.pair());
  Instance low(table(), environment, key_bytes());
  ASSERT_NO_FATAL_FAILURE(load(table(), low, model));
  ASSERT_EQ(low.check(), 0);
  ASSERT_EQ(low.scan_all(100), std::vector<StringPair>(model.begin(), model.end()));
  for (int round = 0; round < 30; ++round) {
    std::string key = pairs.key();
    if (round == 1) key = model.begin()->first;
    if (round == 2) key = model.rbegin()->first + std::string(key_bytes() > 0 ? 1 : 0, 'x');
    const Model left(model.begin(), model.lower_bound({key, ""}));
    const Model right(model.lower_bound({key, ""}), model.end());
    KeydromeStructure* moved = nullptr;
    for (int budget = 0; moved == nullptr; ++budget) {  // the first attempts fail
      environment.fail_after(budget);
      other.fail_after(budget / 2);
      moved = table().split(low.get(), bytes_of(key), other.get());
      ASSERT_EQ(low.check(), 0);
    }
    Instance high(table(), moved);
    environment.fail_after(-1);
    other.fail_after(-1);
    ASSERT_EQ(high.check(), 0);
    ASSERT_EQ(low.scan_all(200), std::vector<StringPair>(left.begin(), left.end()));
    ASSERT_EQ(high.scan_all(200), std::vector<StringPair>(right.begin(), right.end()));
    int result = -1;
    for (int budget = 0; result < 0; ++budget) {
      environment.fail_after(budget);
      result = table().concat(low.get(), high.get());
      environment.fail_after(-1);
      if (result < 0) {
        ASSERT_EQ(high.check(), 0);
      }
      ASSERT_EQ(low.check(), 0);
    }
    high.release();
    ASSERT_EQ(low.scan_all(200), std::vector<StringPair>(model.begin(), model.end()));
    for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(change(low, model, pairs, 5));
    ASSERT_EQ(low.check(), 0);
  }
}

std::string name_of(const testing::TestParamInfo<Parameter>& info) {
  static const char* const kTables[] = {"plain", "avx2", "avx512"};
  static const char* const kKeys[] = {"dense",    "sparse",    "prefix",     "high_byte",
                                      "low_byte", "ascending", "descending", "few"};
  static const char* const kPayloads[] = {"eight", "mixed", "many"};
  const auto& [table, bytes, keys, payloads] = info.param;
  return std::string(kTables[table]) + "_" + std::to_string(bytes) + "_" +
         kKeys[static_cast<size_t>(keys)] + "_" + kPayloads[static_cast<size_t>(payloads)];
}

INSTANTIATE_TEST_SUITE_P(
    All, BtreeModel,
    testing::Combine(
        testing::Range<size_t>(0, tables().size()), testing::Values(0u, 4u, 8u, 16u),
        testing::Values(Keys::kDense, Keys::kSparse, Keys::kPrefix, Keys::kHighByte, Keys::kLowByte,
                        Keys::kAscending, Keys::kDescending, Keys::kFew),
        testing::Values(PayloadShape::kEight, PayloadShape::kMixed, PayloadShape::kMany)),
    name_of);

}  // namespace
}  // namespace keydrome::btree
