// Generates and judges the operations of the benchmark "scenarios": short scripts, each of which
// reveals one kind of error (README.md).
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/scenarios/growth/growth.h"
#include "benchmarks/scenarios/suite.h"

namespace keydrome {
namespace scenarios {
namespace {

// Upper bounds, which serve only to estimate how much memory the benchmark needs. kCallsOfExtremes
// is the number of calls of all scenarios of the instance "extremes" together, in their configured
// sizes.
constexpr double kThreadsMax = 128, kCallsOfRun = 2'000, kCallsOfLargeRun = 200'000;
constexpr double kRunsOfPhase = 80;
constexpr double kExtremes = 6, kCallsOfExtremes = 5e6;
constexpr double kCrowds = 17, kCallsOfCrowds = 6e5;

class Scenarios : public workload::Workload {
 public:
  explicit Scenarios(std::string_view instance) : instance_(instance), suite_(instance) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const int64_t percent = parameters["extent_percent"];
    const double extent = percent == 0 ? 1 : static_cast<double>(percent) / 100;
    workload::Demand demand(kThreadsMax);
    const double large_runs = parameters.number("large_runs");
    demand.add_recorded_calls(
        parameters.number("runs") * kCallsOfRun + large_runs * kCallsOfLargeRun,
        std::max(kRunsOfPhase * kCallsOfRun, std::min(1.0, large_runs) * kCallsOfLargeRun));
    if (instance_ == "crowds") {
      const double rounds = parameters.number("runs") / kCrowds + 1;
      demand.add_recorded_calls(rounds * kCallsOfCrowds, kRunsOfPhase * kCallsOfRun);
    }
    if (instance_ == "extremes") {
      // The scenarios take turns, and each is played at least once.
      const double rounds = parameters.number("runs") / kExtremes + 1;
      demand.add_recorded_calls(rounds * extent * kCallsOfExtremes, extent * kCallsOfExtremes);
      demand.add_transactions(growth_transactions_max(percent), kGrowthOps);
    }
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy&) override {
    return suite_.generate(parameters, seed);
  }

  void judge(const script::Script&, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    suite_.judge(outcome, findings);
  }

  void judge_memory(const script::Script&, const script::Outcome& outcome,
                    std::span<const workload::PhaseMeasures> phases,
                    judge::Findings& findings) const override {
    suite_.judge_memory(outcome, phases, findings);
  }

  void measure(const script::Script&, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    suite_.measure_memory(outcome, phases, metrics);
  }

  bool has_misused(uint32_t phase, uint64_t op) const override {
    return suite_.has_misused(phase, op);
  }

 private:
  std::string instance_;
  Suite suite_;
};

}  // namespace
}  // namespace scenarios

std::unique_ptr<workload::Workload> make_scenarios(std::string_view instance) {
  return std::make_unique<scenarios::Scenarios>(instance);
}

}  // namespace keydrome
