// Implements the tests that all performance benchmarks have in common (workloads.h): plays scripts
// of registered benchmarks on the test index and judges the results.
#include "benchmarks/kit/tests/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/judge/recorded/log_judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome::testing {
namespace {

// Every call whose position is a multiple of this number returns DEADLOCK. The scan that reads all
// records at the end makes far fewer calls, so it can finish between two DEADLOCKs. The number is
// prime, so that a regular program does not get DEADLOCK at the same place again and again.
constexpr uint32_t kDeadlockEvery = 20'011;

judge::Findings judged(std::string_view name, const std::string& instance,
                       const script::Script& script, const script::Outcome& outcome) {
  judge::Findings findings{std::string(name)};
  benchmark(name).make(instance)->judge(script, outcome, findings);
  return findings;
}

// Expects that the judge certifies the results of a run: it finds a serial order of the
// transactions that gives all of them. With kMayBeUndecided, the judge may also give up. Checks the
// words (8 bytes per call) that every run leaves, and the log of all calls if the workload keeps
// one.
void expect_certified(std::string_view name, const std::string& instance,
                      const script::Script& script, Certainty certainty) {
  const script::Outcome outcome = play(script, test_index({}), true);
  judge::Findings findings{std::string(name)};
  EXPECT_TRUE(judge::judge_logs(script, outcome, findings));
  judge::judge_recorded(script, outcome, false, findings);
  EXPECT_TRUE(findings.empty()) << name << " " << instance << ": " << text_of(findings);
  if (certainty == Certainty::kMayBeUndecided) return;
  EXPECT_EQ(findings.not_judged_reason(), "") << name << " " << instance;
}

}  // namespace

const workload::BenchmarkEntry& benchmark(std::string_view name) {
  for (const workload::BenchmarkEntry& candidate : workload::benchmark_registry()) {
    if (candidate.name == name) return candidate;
  }
  fail(KEYDROME_HERE,
       "the test names a benchmark that this build does not contain: check the name, and that "
       "KEYDROME_WORKLOADS (CMakePresets.json) does not leave the benchmark out");
}

workload::Manifest manifest_of(std::string_view name) {
  return workload::Manifest::parse(benchmark(name).manifest_json).value();
}

script::Script make_script(std::string_view name, const std::string& instance, uint64_t seed,
                           const workload::ParameterValues& overrides,
                           const workload::CheckPolicy& policy) {
  const workload::Parameters parameters =
      manifest_of(name).resolve(instance, "smoke", overrides).value();
  return benchmark(name).make(instance)->generate(parameters, seed, policy).value();
}

script::Outcome expect_right_is_not_accused(std::string_view name, const std::string& instance,
                                            const script::Script& script, Certainty certainty) {
  script::Outcome outcome = play(script, test_index({.deadlock_every = kDeadlockEvery}));
  const judge::Findings findings = judged(name, instance, script, outcome);
  EXPECT_TRUE(findings.empty()) << name << " " << instance << ": " << text_of(findings);
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(sum.transactions_completed, sum.transactions_planned);
  EXPECT_EQ(sum.transactions_failed, 0u);
  expect_certified(name, instance, script, certainty);
  return outcome;
}

void expect_faults_are_found(std::string_view name, const std::string& instance,
                             const script::Script& script) {
  for (const Faults& faults : {Faults{.success_only = true}, Faults{.drops_every = 100},
                               Faults{.changes_payload_every = 100}}) {
    const script::Outcome outcome = play(script, test_index(faults));
    EXPECT_TRUE(judged(name, instance, script, outcome).failed())
        << name << " " << instance << ", drops_every " << faults.drops_every
        << ", changes_payload_every " << faults.changes_payload_every;
  }
}

const script::PhaseScript& timed_phase(const script::Script& script) {
  const auto found = std::find_if(script.phases.begin(), script.phases.end(),
                                  [](const script::PhaseScript& phase) { return phase.timed; });
  KEYDROME_CHECK(found != script.phases.end());
  return *found;
}

void for_each_transaction(const script::PhaseScript& phase,
                          const std::function<void(std::span<const format::Op>)>& visit) {
  for (const std::vector<format::Op>& ops : phase.threads) {
    for (std::size_t at = 0; at < ops.size(); ++at) {
      if (ops[at].code != format::OpCode::kBegin) continue;
      const std::size_t length = ops[at].argument + std::size_t{1};
      if (static_cast<format::Kind>(ops[at].kind) == format::Kind::kStream) {
        visit(std::span(ops).subspan(at, length));
      }
      at += length - 1;
    }
  }
}

double chi_square(const std::vector<double>& counts) {
  double sum = 0, result = 0;
  for (const double count : counts) sum += count;
  const double wanted = sum / static_cast<double>(counts.size());
  for (const double count : counts) result += (count - wanted) * (count - wanted) / wanted;
  return result;
}

// The cube root of chi-square, divided by its degrees of freedom, is nearly normal (E. Wilson and
// M. Hilferty, 1931).
void expect_uniform(const std::vector<double>& counts) {
  ASSERT_GE(counts.size(), 30u);
  const auto df = static_cast<double>(counts.size() - 1);
  const double z =
      (std::cbrt(chi_square(counts) / df) - (1 - 2 / (9 * df))) / std::sqrt(2 / (9 * df));
  EXPECT_LT(std::abs(z), 3.09) << "chi-square " << chi_square(counts) << " on " << df;
}

}  // namespace keydrome::testing
