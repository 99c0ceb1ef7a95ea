// Tests the benchmark "duplicates": payloads per key, the mix of operations, and refused
// parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::duplicates {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::for_each_transaction;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "duplicates";

workload::ParameterValues small(const std::string& instance) {
  if (instance == "many") return {{"keys", 8}, {"payloads_per_key", 200}};
  return {{"keys", 100}, {"operations_per_thread", 250}};
}

class DuplicatesInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(DuplicatesInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const std::string instance = GetParam();
  const script::Script script = make_script(kName, instance, 1, small(instance));
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, instance, script));
  EXPECT_EQ(sum.get_hits, sum.gets);
  expect_faults_are_found(kName, instance, script);
}

INSTANTIATE_TEST_SUITE_P(Duplicates, DuplicatesInstance,
                         ::testing::Values("one", "few", "many", "existing_0", "existing_50",
                                           "zipf", "one_heavy"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Returns the number of loaded payloads of each key, in descending order.
std::vector<double> loaded_counts(const script::Script& script) {
  std::map<uint32_t, double> counts;
  for (const std::vector<format::Op>& ops : script.phases[1].threads) {
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kInsert &&
          static_cast<format::Kind>(op.kind) == format::Kind::kStream)
        ++counts[op.key];
    }
  }
  std::vector<double> sorted;
  for (const auto& [key, count] : counts) sorted.push_back(count);
  std::sort(sorted.rbegin(), sorted.rend());
  return sorted;
}

TEST(Duplicates, PayloadsPerKeyFollowTheDistribution) {
  EXPECT_EQ(loaded_counts(make_script(kName, "few", 2, small("few"))),
            std::vector<double>(100, 10));
  EXPECT_EQ(loaded_counts(make_script(kName, "one", 2, small("one"))), std::vector<double>(100, 1));
  const std::vector<double> heavy =
      loaded_counts(make_script(kName, "one_heavy", 2, small("one_heavy")));
  EXPECT_EQ(heavy[0], 99 * 5);
  EXPECT_EQ(heavy[1], 5);
  EXPECT_EQ(heavy.back(), 5);
  const std::vector<double> zipf = loaded_counts(make_script(kName, "zipf", 2, small("zipf")));
  double harmonic = 0;
  for (int rank = 1; rank <= 100; ++rank) harmonic += 1.0 / rank;
  for (std::size_t rank = 1; rank <= 100; ++rank) {
    EXPECT_EQ(zipf[rank - 1], std::round(1'000 / harmonic / static_cast<double>(rank))) << rank;
  }
}

// The operations have the percentages that README.md gives. The number of reads of a key is
// proportional to its number of payloads, so half of all reads use the heavy key.
TEST(Duplicates, OperationsAndKeysComeAsOftenAsTheyShould) {
  const script::Script script =
      make_script(kName, "one_heavy", 3, {{"keys", 100}, {"operations_per_thread", 5'000}});
  std::array<double, 5> counts{};
  std::map<uint32_t, double> reads;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    ++counts[ops[0].class_];
    if (ops[0].class_ == 0) ++reads[ops[1].key];
  });
  const std::array<double, 5> shares = {0.40, 0.25, 0.2508, 0.0792, 0.02};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double n = 20'000, p = shares[i];
    EXPECT_NEAR(counts[i], n * p, 3.3 * std::sqrt(n * p * (1 - p))) << i;
  }
  double most = 0;
  for (const auto& [key, count] : reads) most = std::max(most, count);
  EXPECT_NEAR(most / counts[0], 0.5, 0.02);
}

// Some transactions insert one pair. In a certain share of them, which the instance determines, the
// pair already exists.
TEST(Duplicates, TheShareOfExistingPairsIsThatOfTheInstance) {
  for (const auto& [instance, share] :
       std::map<std::string, double>{{"one", 0.24}, {"existing_0", 0}, {"existing_50", 0.5}}) {
    const script::Script script =
        make_script(kName, instance, 3, {{"keys", 100}, {"operations_per_thread", 5'000}});
    double existing = 0, inserts = 0;
    for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
      const bool exists = (ops[ops.size() - 2].flags & format::kMayExist) != 0;
      EXPECT_EQ(exists, ops[0].class_ == 3);
      existing += exists ? 1 : 0;
      inserts += ops[0].class_ == 2 || ops[0].class_ == 3 ? 1 : 0;
    });
    EXPECT_NEAR(inserts, 20'000 * 0.33, 3.3 * std::sqrt(20'000 * 0.33 * 0.67)) << instance;
    EXPECT_NEAR(existing, inserts * share, 3.3 * std::sqrt(inserts * share * (1 - share)))
        << instance;
  }
}

// Replays the writes on a model of the keys. A pair that is deleted or inserted a second time must
// exist at this moment, and a new pair must not. In the run, each key has one writing thread.
TEST(Duplicates, WritesFitWhatIsThere) {
  const script::Script script = make_script(
      kName, "zipf", 4, small("zipf"), {.stripes = false, .canaries = false, .evidence = false});
  std::map<uint32_t, std::set<uint32_t>> tags;  // by key
  std::map<uint32_t, std::size_t> writer;
  for (const std::size_t phase : {1u, 2u}) {
    for (std::size_t t = 0; t < script.phases[phase].threads.size(); ++t) {
      for (const format::Op& op : script.phases[phase].threads[t]) {
        const bool insert = op.code == format::OpCode::kInsert;
        if (!insert && op.code != format::OpCode::kDeletePair &&
            op.code != format::OpCode::kDeleteKey)
          continue;
        if (phase == 2) {
          ASSERT_EQ(writer.try_emplace(op.key, t).first->second, t);
        }
        std::set<uint32_t>& there = tags[op.key];
        if (op.code == format::OpCode::kDeleteKey) {
          ASSERT_FALSE(there.empty());
          there.clear();
        } else if (op.code == format::OpCode::kDeletePair) {
          ASSERT_EQ(there.erase(op.argument), 1u);
        } else {
          ASSERT_EQ(there.insert(op.argument).second, (op.flags & format::kMayExist) == 0);
        }
      }
    }
  }
}

TEST(Duplicates, AnIndexThatAcceptsDuplicatesIsFound) {
  const script::Script script = make_script(kName, "few", 5, {{"keys", 50}});
  judge::Findings findings;
  judge::judge_script(
      script, testing::play(script, testing::test_index({.accepts_duplicates = true})), findings);
  EXPECT_GT(findings.count("wrong_insert"), 0u) << testing::text_of(findings);
}

TEST(Duplicates, TooFewKeysAreRefused) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("few", "smoke", {{"keys", 7}}).value();
  const Result<script::Script> script =
      testing::benchmark(kName).make("few")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise keys"), std::string::npos);
}

// delete_all uses keys with at most 1,000 payloads, or with at most the average number if that is
// more. So each thread has a key to delete for all parameters.
TEST(Duplicates, EveryNumberOfPayloadsHasKeysToDelete) {
  for (const char* instance : {"few", "many", "zipf", "one_heavy"}) {
    for (const int64_t payloads : {1, 1'000, 1'001, 10'000}) {
      const script::Script script = make_script(kName, instance, 1,
                                                {{"threads", 2},
                                                 {"keys", 4},
                                                 {"payloads_per_key", payloads},
                                                 {"operations_per_thread", 100}});
      int deletes = 0;
      for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
        if (ops[1].code != format::OpCode::kDeleteKey) return;
        ++deletes;
        EXPECT_LE(ops.size(), std::max<std::size_t>(payloads, 1'000) + 3);
      });
      EXPECT_GT(deletes, 0) << instance << ' ' << payloads;
    }
  }
}

// The referee, the process that runs sessions, estimates the memory of a session, and refuses a
// session that does not fit (harness/referee/session/memory_fit.h). This test generates no script,
// because the script would not fit into the memory.
TEST(Duplicates, TheEstimateCountsThePayloadsOfAllKeys) {
  const auto records = [](const char* instance) {
    const workload::Parameters parameters =
        testing::manifest_of(kName)
            .resolve(instance, "smoke", {{"keys", 100'000'000}, {"payloads_per_key", 1'000}})
            .value();
    return testing::benchmark(kName).make(instance)->demand(parameters).records;
  };
  EXPECT_GE(records("few"), 1e11);
  EXPECT_GE(records("one_heavy"), 2e11);  // one key has as many payloads as all others together
}

TEST(Duplicates, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "zipf", 6, small("zipf"))),
            workload::fingerprint(make_script(kName, "zipf", 6, small("zipf"))));
  EXPECT_NE(workload::fingerprint(make_script(kName, "zipf", 6, small("zipf"))),
            workload::fingerprint(make_script(kName, "zipf", 7, small("zipf"))));
}

}  // namespace
}  // namespace keydrome::duplicates
