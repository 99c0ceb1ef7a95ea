// Tests the benchmarks "unit" and "phantom": a correct index passes, and each seeded fault is found
// by name.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome::unit {
namespace {

using testing::Faults;
using testing::text_of;

judge::Findings run_benchmark(std::string_view name, const Faults& faults) {
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    if (entry.name != name) continue;
    const workload::Parameters parameters =
        workload::Manifest::parse(entry.manifest_json).value().resolve(name, "smoke", {}).value();
    const std::unique_ptr<workload::Workload> workload = entry.make(name);
    const script::Script script =
        workload->generate(parameters, 1, workload::CheckPolicy{}).value();
    const script::Outcome outcome = testing::play(script, testing::test_index(faults));
    judge::Findings findings{std::string(name)};
    workload->judge(script, outcome, findings);
    return findings;
  }
  fail(KEYDROME_HERE, "the benchmark is not registered");
}

// Runs the benchmark until it has the finding and returns the findings of the last run. Without
// isolation, timing decides which finding shows, so more runs are allowed. All other faults must
// show in the first run.
judge::Findings run_until(std::string_view name, const std::string& finding, const Faults& faults) {
  const int runs = faults.no_isolation ? 20 : 1;
  judge::Findings findings = run_benchmark(name, faults);
  for (int run = 1; run < runs && findings.count(finding) == 0; ++run) {
    findings = run_benchmark(name, faults);
  }
  return findings;
}

TEST(Unit, ACorrectIndexPassesWithoutAWarning) {
  for (int i = 0; i < 5; ++i) {
    const judge::Findings findings = run_benchmark("unit", Faults{});
    EXPECT_TRUE(findings.empty()) << text_of(findings);
  }
}

TEST(Unit, DeadlocksAreNoFindings) {
  const judge::Findings findings = run_benchmark("unit", {.deadlock_every = 37});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

struct Case {
  const char* finding;
  Faults faults;
};

class UnitFinds : public ::testing::TestWithParam<Case> {};

TEST_P(UnitFinds, TheFaultByName) {
  const judge::Findings findings = run_until("unit", GetParam().finding, GetParam().faults);
  EXPECT_TRUE(findings.failed());
  EXPECT_GT(findings.count(GetParam().finding), 0u) << text_of(findings);
}

INSTANTIATE_TEST_SUITE_P(
    Unit, UnitFinds,
    ::testing::Values(Case{"create_twice", {.success_only = true}},
                      Case{"impossible_record", {.no_isolation = true}},
                      Case{"abort_undoes_insert", {.keeps_aborted = true}},
                      Case{"abort_undoes_delete", {.loses_aborted_deletes = true}},
                      // The threads share the counter of getNext calls. Every fifth call skips a
                      // record, so every scan of eight records is affected.
                      Case{"string_order", {.skips_every = 5}},
                      Case{"read_own_insert", {.misses_everything = true}},
                      Case{"duplicate_insert", {.accepts_duplicates = true}},
                      Case{"delete_missing_key", {.deletes_missing = true}},
                      Case{"delete_key", {.keeps_deleted = true}},
                      Case{"end_of_index", {.wraps_around = true}}),
    [](const ::testing::TestParamInfo<Case>& parameter) { return parameter.param.finding; });

TEST(Phantom, ACorrectIndexPasses) {
  for (int i = 0; i < 5; ++i) {
    const judge::Findings findings = run_benchmark("phantom", Faults{});
    EXPECT_TRUE(findings.empty()) << text_of(findings);
  }
}

TEST(Phantom, DeadlocksAreNoFindings) {
  const judge::Findings findings = run_benchmark("phantom", {.deadlock_every = 30'011});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST(Phantom, FindsAnIndexWithoutIsolation) {
  const judge::Findings findings = run_until("phantom", "phantom", {.no_isolation = true});
  EXPECT_GT(findings.count("phantom"), 0u) << text_of(findings);
}

}  // namespace
}  // namespace keydrome::unit
