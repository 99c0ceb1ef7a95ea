// Implements the plan of a run of the benchmark "scenarios": chooses the variants of each scenario
// (key type, order of steps and so on) at random. Each scenario has random numbers of its own, so a
// new scenario does not change the variants of the others.
#include "benchmarks/scenarios/script/plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace keydrome::scenarios {
namespace {

constexpr uint32_t kSmallFiller = 10, kLargeFiller = 10'000;
constexpr int64_t kLargeDistance = 1'000;
// The largest number of runs of a scenario with one session (client thread). Such a scenario has
// few variants, so more runs would test nothing new.
constexpr uint64_t kSingleSessionRuns = 6;
// On average, one of this many runs is persistent, which means that it retries transactions after
// DEADLOCK.
constexpr uint64_t kPersistentEvery = 4;

Variant random_variant(const Scenario& scenario, Order order, std::size_t number,
                       workload::Rng& rng) {
  Variant variant;
  variant.order = std::move(order);
  variant.type = scenario.types[number % scenario.types.size()];
  if (!scenario.literal_keys.empty()) return variant;
  variant.distance = rng.below(2) == 0 ? 1 : kLargeDistance;
  variant.long_payloads = rng.below(2) == 0;
  variant.persistent = rng.below(kPersistentEvery) == 0;
  if (scenario.filler && rng.below(2) == 0) variant.filler = kSmallFiller;
  return variant;
}

void plan_scenario(PlannedScenario& planned, uint64_t runs, uint64_t interleavings,
                   workload::Rng& rng) {
  const Scenario& scenario = planned.scenario;
  const std::size_t first_type = rng.below(scenario.types.size());
  for (std::size_t i = 0; i < scenario.types.size(); ++i) {
    planned.variants.push_back(
        random_variant(scenario, written_order(scenario), first_type + i, rng));
  }
  // The first run has no surrounding records, because its finding is then the easiest to read.
  Variant& first = planned.variants.front();
  first = {.order = first.order, .type = first.type};
  const std::vector<Order> orders = sample_orders(scenario, interleavings, rng);
  const uint64_t wanted = scenario.sessions == 1 ? std::min(runs, kSingleSessionRuns) : runs;
  for (std::size_t i = 0; planned.variants.size() < wanted; ++i) {
    const std::size_t number = rng.below(scenario.types.size());
    planned.variants.push_back(random_variant(scenario, orders[i % orders.size()], number, rng));
  }
}

}  // namespace

std::vector<PlannedScenario> plan_runs(std::vector<Scenario> scenarios, const PlanSize& size,
                                       uint64_t seed) {
  std::vector<PlannedScenario> plan;
  const auto single = static_cast<uint64_t>(
      std::ranges::count(scenarios, 1u, [](const Scenario& s) { return s.sessions; }));
  const uint64_t several = std::max<uint64_t>(scenarios.size() - single, 1);
  const uint64_t budget = size.runs - std::min(size.runs, single * kSingleSessionRuns);
  uint32_t number = 0;
  for (Scenario& scenario : scenarios) {
    // Each scenario has its own random stream, so that a new scenario does not change other runs.
    workload::Rng rng(seed, number++, workload::Purpose::kStream);
    plan.push_back({.scenario = std::move(scenario), .variants = {}});
    plan_scenario(plan.back(), budget / several, size.interleavings, rng);
  }
  workload::Rng rng(seed, 0, workload::Purpose::kShape);
  std::vector<PlannedScenario*> with_filler;
  for (PlannedScenario& planned : plan) {
    if (planned.scenario.filler) with_filler.push_back(&planned);
  }
  for (uint64_t i = 0; i < size.large_runs && !with_filler.empty(); ++i) {
    PlannedScenario& planned = *with_filler[rng.below(with_filler.size())];
    planned.variants[rng.below(planned.variants.size())].filler = kLargeFiller;
  }
  return plan;
}

}  // namespace keydrome::scenarios
