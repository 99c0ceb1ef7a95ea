// Plays every instance of every performance benchmark on faulty indexes, which do not store every
// record, and expects that the benchmark's own judge finds the faults. `./dev soak` also plays the
// larger scale, laptop.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"

namespace keydrome {
namespace {

using testing::Faults;

bool soaks() { return std::getenv("KEYDROME_SOAK") != nullptr; }

struct InstanceCase {
  std::string benchmark, instance;
};

std::vector<InstanceCase> all_instances() {
  std::vector<InstanceCase> all;
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const workload::Manifest manifest = testing::manifest_of(entry.name);
    if (manifest.kind != "performance") continue;
    for (const auto& [instance, about] : manifest.instances)
      all.push_back({std::string(entry.name), instance});
  }
  return all;
}

script::Script script_of(const InstanceCase& at, const std::string& scale, uint64_t seed) {
  const workload::Parameters parameters =
      testing::manifest_of(at.benchmark).resolve(at.instance, scale, {}).value();
  return testing::benchmark(at.benchmark).make(at.instance)->generate(parameters, seed, {}).value();
}

judge::Findings judged(const InstanceCase& at, const script::Script& script,
                       const script::Outcome& outcome) {
  judge::Findings findings(at.benchmark);
  testing::benchmark(at.benchmark).make(at.instance)->judge(script, outcome, findings);
  return findings;
}

class FaultyIndexes : public ::testing::TestWithParam<InstanceCase> {};

TEST_P(FaultyIndexes, AreFound) {
  const script::Script script = script_of(GetParam(), "smoke", 1);
  for (const Faults& faults : {Faults{.success_only = true}, Faults{.drops_every = 1'000}}) {
    const script::Outcome outcome = testing::play(script, testing::test_index(faults));
    EXPECT_TRUE(judged(GetParam(), script, outcome).failed())
        << "drops_every " << faults.drops_every;
  }
}

std::atomic<uint64_t> inserts_asked;
player::IndexApi faulty;

// Returns an index that drops every nth insert, and counts the inserts in inserts_asked.
player::IndexApi dropping_index(uint32_t n) {
  inserts_asked = 0;
  faulty = testing::test_index({.drops_every = n});
  player::IndexApi counting = faulty;
  counting.insertRecord = [](IdxState* index, TxnState* txn, Key* key, const char* payload) {
    ++inserts_asked;
    return faulty.insertRecord(index, txn, key, payload);
  };
  return counting;
}

// One insert in 20,000 is dropped. Where all threads write the same keys, the judge of a timed run
// cannot know all results. An extra session, the spot check, whose calls are all checked together,
// finds these faults (docs/explanation/correctness.md).
TEST_P(FaultyIndexes, AreFoundAtLaptopScale) {
  constexpr uint32_t kDropsEvery = 20'000;
  if (!soaks()) return;
  const script::Script script = script_of(GetParam(), "laptop", 1);
  const script::Outcome outcome = testing::play(script, dropping_index(kDropsEvery), true);
  if (inserts_asked < kDropsEvery) return;  // nothing was dropped
  judge::Findings findings = judged(GetParam(), script, outcome);
  if (!findings.failed()) judge::judge_recorded(script, outcome, true, findings);
  EXPECT_TRUE(findings.failed());
}

INSTANTIATE_TEST_SUITE_P(All, FaultyIndexes, ::testing::ValuesIn(all_instances()),
                         [](const ::testing::TestParamInfo<InstanceCase>& parameter) {
                           return parameter.param.benchmark + "_" + parameter.param.instance;
                         });

}  // namespace
}  // namespace keydrome
