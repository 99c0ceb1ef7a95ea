// Tests the benchmark "affinity": which keys each thread looks up, and refused parameters.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"

namespace keydrome::affinity {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "affinity";

class AffinityInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(AffinityInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script =
      make_script(kName, GetParam(), 1, {{"records", 1'000}, {"lookups_per_thread", 1'000}});
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, GetParam(), script));
  EXPECT_EQ(sum.transactions_planned, 4'000u);
  EXPECT_EQ(sum.get_hits, sum.gets);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(Affinity, AffinityInstance, ::testing::Values("scattered", "affine"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Expects that each thread looks up uniform keys of a range of `width` keys. The range of thread 0
// begins at key 0, and each further range begins `step` keys later.
void expect_uniform_parts(const std::string& instance, int64_t width, int64_t step) {
  const script::Script script =
      make_script(kName, instance, 2, {{"records", 8'000}, {"lookups_per_thread", 8'000}});
  int64_t first = 0;
  for (const std::vector<format::Op>& ops : timed_phase(script).threads) {
    std::vector<double> counts(40);
    bool stream = false;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kBegin)
        stream = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (op.code != format::OpCode::kGet || !stream) continue;
      const int64_t key = script.pools.int64_keys[op.key];
      ASSERT_GE(key, first);
      ASSERT_LT(key, first + width);
      ++counts[static_cast<std::size_t>((key - first) * 40 / width)];
    }
    expect_uniform(counts);
    first += step;
  }
}

TEST(Affinity, ScatteredThreadsAskForAllKeysAndAffineOnesForTheirPart) {
  expect_uniform_parts("scattered", 8'000, 0);
  expect_uniform_parts("affine", 2'000, 2'000);
}

TEST(Affinity, OnlyTheRunOfAffineThreadsIsPinned) {
  for (const char* instance : {"scattered", "affine"}) {
    for (const script::PhaseScript& phase : make_script(kName, instance, 3).phases) {
      const bool pinned = phase.timed && std::string(instance) == "affine";
      EXPECT_EQ(phase.pinned, pinned) << instance << ", phase " << phase.name;
    }
  }
}

TEST(Affinity, RefusesFewerRecordsThanThreads) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("affine", "smoke", {{"records", 3}}).value();
  const auto script = testing::benchmark(kName).make("affine")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise records"), std::string::npos);
}

}  // namespace
}  // namespace keydrome::affinity
