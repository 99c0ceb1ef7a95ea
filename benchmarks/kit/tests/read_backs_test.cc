// Tests the read-backs of all benchmarks: extra transactions in which a thread reads keys that it
// has written (workload/read_backs.h).
#include "benchmarks/kit/workload/read_backs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/kit/tests/read_census.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/phase_keys.h"

namespace keydrome {
namespace {

using testing::Census;
using testing::PhaseCensus;

constexpr uint64_t kFew = 8;
constexpr uint64_t kExtraReads = 1'000;  // a thread may add this many reads with known results

// Expects that each thread of a phase makes at least as many reads of each kind as
// workload/read_backs.h requires. The last few reads of a thread may be missing, because the thread
// can end before it makes them.
void expect_rules(const std::string& where, const script::PhaseScript& phase,
                  const PhaseCensus& counter) {
  std::vector<Census> threads;
  uint64_t calls = 0, closing_scans = 0;
  for (uint32_t t = 0; t < phase.threads.size(); ++t) {
    threads.push_back(counter.count(t));
    calls += threads.back().calls;
    closing_scans += threads.back().closing_scans;
  }
  for (uint32_t t = 0; t < threads.size(); ++t) {
    const Census& c = threads[t];
    const std::string text = where + ", thread " + std::to_string(t);
    EXPECT_GE(c.known, workload::known_reads_needed(c.reads - c.closing)) << text;
    EXPECT_GE(c.recent + c.older + kFew, c.reads / 100) << text;
    EXPECT_GE(c.older + kFew, c.reads / 200) << text;
    // In a phase with procedures, few writes have a key that the census knows. So fewer reads of
    // recently written keys are possible.
    EXPECT_GE(c.recent + kFew, c.reads / (counter.computes ? 1000 : 250)) << text;
    if (counter.inserts) {
      EXPECT_GE(c.scans + kFew, c.calls / 1250) << text;
    }
    EXPECT_GE(c.closing + kFew, workload::closing_reads_needed(calls, c.calls) * 9 / 10) << text;
    EXPECT_LE(c.between_calls, c.calls * 3 / 100 + kExtraReads * 2) << text;
  }
  EXPECT_GE(closing_scans, std::min<uint64_t>(16, threads.size())) << where;
}

void expect_rules(const std::string& scale, bool all) {
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const workload::Manifest manifest = workload::Manifest::parse(entry.manifest_json).value();
    if (manifest.kind != "performance") continue;
    for (const auto& [instance, unused] : manifest.instances) {
      if (!all && instance != manifest.instances.begin()->first) continue;
      const workload::Parameters parameters = manifest.resolve(instance, scale, {}).value();
      const script::Script script = entry.make(instance)->generate(parameters, 3, {}).value();
      const judge::KeyRanks ranks(script.pools);
      const std::vector<bool> computed = workload::computed_indexes(
          script.pools, script.phases, static_cast<uint32_t>(script.indexes.size()));
      for (const script::PhaseScript& phase : script.phases) {
        if (!phase.timed) continue;
        const PhaseCensus counter(script, ranks, phase, computed);
        if (!counter.writes) continue;
        expect_rules(std::string(entry.name) + " " + instance + " " + phase.name, phase, counter);
      }
    }
  }
}

TEST(ReadBacks, EveryInstanceAtSmokeScaleHasTheReadsThatTheRulesAskFor) {
  expect_rules("smoke", true);
}

// All instances at laptop scale take more than a minute, so only `./dev soak` checks all of them.
TEST(ReadBacks, BenchmarksAtLaptopScaleHaveTheReadsThatTheRulesAskFor) {
  expect_rules("laptop", std::getenv("KEYDROME_SOAK") != nullptr);
}

}  // namespace
}  // namespace keydrome
