#include "benchmarks/kit/tests/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/log_judge.h"
#include "benchmarks/kit/recorded_judge.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/totals.h"

namespace keydrome::testing {
namespace {

// A prime far above the length of a final scan in these tests, which must get through between two.
constexpr uint32_t kDeadlockEvery = 20'011;

Findings judged(std::string_view name, const std::string& instance, const Script& script,
                const Outcome& outcome) {
  Findings findings{std::string(name)};
  benchmark(name).make(instance)->judge(script, outcome, findings);
  return findings;
}

// A recorded run of the script must be one that can be certified.
void expect_certified(std::string_view name, const std::string& instance, Script script) {
  record_all(script);
  const Outcome outcome = play(script, test_index({}));
  Findings findings{std::string(name)};
  EXPECT_TRUE(judge_logs(script, outcome, findings));
  judge_recorded(script, outcome, false, findings);
  EXPECT_TRUE(findings.empty()) << name << " " << instance << ": " << text_of(findings);
  EXPECT_EQ(findings.not_judged_reason(), "") << name << " " << instance;
}

}  // namespace

const BenchmarkEntry& benchmark(std::string_view name) {
  for (const BenchmarkEntry& candidate : benchmark_registry()) {
    if (candidate.name == name) return candidate;
  }
  fail(KEYDROME_HERE, "the benchmark is not registered");
}

Manifest manifest_of(std::string_view name) {
  return Manifest::parse(benchmark(name).manifest_json).value();
}

Script make_script(std::string_view name, const std::string& instance, uint64_t seed,
                   const ParameterValues& overrides, const CheckPolicy& policy) {
  const Parameters parameters = manifest_of(name).resolve(instance, "smoke", overrides).value();
  return benchmark(name).make(instance)->generate(parameters, seed, policy).value();
}

Outcome expect_right_is_not_accused(std::string_view name, const std::string& instance,
                                    const Script& script) {
  Outcome outcome = play(script, test_index({.deadlock_every = kDeadlockEvery}));
  const Findings findings = judged(name, instance, script, outcome);
  EXPECT_TRUE(findings.empty()) << name << " " << instance << ": " << text_of(findings);
  const Totals sum = totals(script, outcome);
  EXPECT_EQ(sum.transactions_completed, sum.transactions_planned);
  EXPECT_EQ(sum.transactions_failed, 0u);
  expect_certified(name, instance, script);
  return outcome;
}

void expect_faults_are_found(std::string_view name, const std::string& instance,
                             const Script& script) {
  for (const Faults& faults : {Faults{.success_only = true}, Faults{.drops_every = 100},
                               Faults{.changes_payload_every = 100}}) {
    const Outcome outcome = play(script, test_index(faults));
    EXPECT_TRUE(judged(name, instance, script, outcome).failed())
        << name << " " << instance << ", drops_every " << faults.drops_every
        << ", changes_payload_every " << faults.changes_payload_every;
  }
}

const PhaseScript& timed_phase(const Script& script) {
  const auto found = std::find_if(script.phases.begin(), script.phases.end(),
                                  [](const PhaseScript& phase) { return phase.timed; });
  KEYDROME_CHECK(found != script.phases.end());
  return *found;
}

void for_each_transaction(const PhaseScript& phase,
                          const std::function<void(std::span<const Op>)>& visit) {
  for (const std::vector<Op>& ops : phase.threads) {
    for (std::size_t at = 0; at < ops.size(); ++at) {
      if (ops[at].code != OpCode::kBegin) continue;
      const std::size_t length = ops[at].argument + std::size_t{1};
      if (static_cast<Kind>(ops[at].kind) == Kind::kStream) {
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

// E. Wilson and M. Hilferty, 1931: the cube root of chi-square over its degrees of freedom is
// nearly normal.
void expect_uniform(const std::vector<double>& counts) {
  ASSERT_GE(counts.size(), 30u);
  const auto df = static_cast<double>(counts.size() - 1);
  const double z =
      (std::cbrt(chi_square(counts) / df) - (1 - 2 / (9 * df))) / std::sqrt(2 / (9 * df));
  EXPECT_LT(std::abs(z), 3.09) << "chi-square " << chi_square(counts) << " on " << df;
}

}  // namespace keydrome::testing
