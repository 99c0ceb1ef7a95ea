// Tests the benchmark "scan": starts of ranges, metrics, refused parameters, and scans that end
// early.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::scan {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::for_each_transaction;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "scan";

struct ScanCase {
  const char* instance;
  int64_t range, scans;
  double records;  // read by all four threads together
  uint32_t payload_bytes;
};

class ScanInstance : public ::testing::TestWithParam<ScanCase> {
 protected:
  script::Script script(uint64_t seed) const {
    return make_script(kName, GetParam().instance, seed,
                       {{"records", 1'000},
                        {"scans_per_thread", GetParam().scans},
                        {"records_per_scan", GetParam().range}});
  }
};

TEST_P(ScanInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script made = script(1);
  expect_right_is_not_accused(kName, GetParam().instance, made);
  expect_faults_are_found(kName, GetParam().instance, made);
}

TEST_P(ScanInstance, RecordsAndBytesPerSecondAreThoseOfTheScans) {
  const workload::Parameters parameters = testing::manifest_of(kName)
                                              .resolve(GetParam().instance, "smoke",
                                                       {{"records", 1'000},
                                                        {"scans_per_thread", GetParam().scans},
                                                        {"records_per_scan", GetParam().range}})
                                              .value();
  const auto workload = testing::benchmark(kName).make(GetParam().instance);
  const script::Script made = workload->generate(parameters, 2, {}).value();
  const script::Outcome outcome = testing::play(made, testing::test_index({}));
  workload::Metrics metrics;
  const std::vector<workload::PhaseMeasures> measures(outcome.phases.size(), {500'000'000, {}});
  workload->measure(made, outcome, measures, metrics);
  EXPECT_DOUBLE_EQ(metrics.at("scanned_records_per_s"), 2 * GetParam().records);
  EXPECT_DOUBLE_EQ(metrics.at("scanned_mb_per_s"),
                   2 * GetParam().records * GetParam().payload_bytes / 1e6);
}

// A full scan ends when the index returns DB_END, so a faulty index can end it early. The scan of a
// range always makes the same number of getNext calls.
TEST(Scan, APassThatEndsEarlyIsFound) {
  const script::Script made =
      make_script(kName, "full", 3, {{"records", 1'000}, {"scans_per_thread", 4}},
                  {.stripes = false, .canaries = false, .evidence = false});
  script::Outcome outcome = testing::play(made, testing::test_index({}));
  const auto judged = [&] {
    judge::Findings findings;
    testing::benchmark(kName).make("full")->judge(made, outcome, findings);
    return findings.count("short_scan");
  };
  EXPECT_EQ(judged(), 0u);
  outcome.phases[2].threads[1].totals.calls -= 1;
  EXPECT_EQ(judged(), 1u);
  const script::Outcome skipping = testing::play(made, testing::test_index({.skips_every = 700}));
  judge::Findings findings;
  testing::benchmark(kName).make("full")->judge(made, skipping, findings);
  EXPECT_GT(findings.count("short_scan"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Scan, ScanInstance,
                         ::testing::Values(ScanCase{"full", 0, 4, 4 * 4 * 1'000, 8},
                                           ScanCase{"full_wide", 0, 4, 4 * 4 * 1'000, 100},
                                           ScanCase{"range_100", 100, 200, 4 * 200 * 100, 8},
                                           ScanCase{"range_10000", 900, 110, 4 * 110 * 900, 8}),
                         [](const ::testing::TestParamInfo<ScanCase>& parameter) {
                           return std::string(parameter.param.instance);
                         });

TEST(Scan, RangesStartUniformlyAndStayInside) {
  const script::Script script =
      make_script(kName, "range_100", 4, {{"records", 1'099}, {"scans_per_thread", 5'000}});
  std::vector<double> starts(50);
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    ASSERT_EQ(ops.size(), 4u);
    ASSERT_EQ(ops[2].argument, 99u);
    const auto key = static_cast<uint64_t>(script.pools.int64_keys[ops[1].key]);
    ASSERT_LT(key, 1'000u);
    ++starts[key / 20];
  });
  expect_uniform(starts);
}

TEST(Scan, AScanLongerThanTheIndexIsRefused) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("range_100", "smoke", {{"records", 50}}).value();
  const Result<script::Script> script =
      testing::benchmark(kName).make("range_100")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise records"), std::string::npos);
}

TEST(Scan, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  const workload::ParameterValues small = {{"records", 500}, {"scans_per_thread", 20}};
  EXPECT_EQ(workload::fingerprint(make_script(kName, "range_100", 6, small)),
            workload::fingerprint(make_script(kName, "range_100", 6, small)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "range_100", 6, small)),
            workload::fingerprint(make_script(kName, "range_100", 7, small)));
}

}  // namespace
}  // namespace keydrome::scan
