// Implements Suite, which writes and judges all scenarios of an instance. The script begins with
// the scenarios that have steps. The bare scenarios (forbidden calls) follow, then the crowds
// (many threads).
#include "benchmarks/scenarios/suite.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/count_text.h"
#include "benchmarks/scenarios/catalogue.h"
#include "checker/history/calls.h"

namespace keydrome {

// Returns the texts of data/*.json, which CMake compiles in.
std::span<const std::string_view> scenarios_data();

namespace scenarios {

namespace {
constexpr uint64_t kEventsMin = 1 << 18;  // minimum size of a thread's log, in calls
// Phases with more threads than this keep the smaller logs that the builder reserved.
constexpr uint32_t kCrowdThreads = 8;
constexpr std::array<KeyType, 3> kTypes{SHORT, INT, VARCHAR};

// Crowds with up to this many records have the same size at every scale.
constexpr uint32_t kScaledFrom = 10'000;

// Crowds that leave no more records than they found, so memory should not grow in them. A growth is
// reported if it is at least kGrowthMin bytes, which is more than allocators keep in reserve, and
// at least kGrowthPerTransactionMin bytes per transaction.
constexpr std::array<std::string_view, 2> kSteadyCrowds{"empty_transactions", "conflicts"};
constexpr uint64_t kGrowthMin = uint64_t{4} << 20;
constexpr double kGrowthPerTransactionMin = 128;

// Returns a crowd with this percentage of its records; 0 means all of them.
Scenario scaled(Scenario scenario, int64_t percent) {
  uint32_t& records = scenario.crowd->records;
  if (percent > 0 && records > kScaledFrom) {
    records = static_cast<uint32_t>(std::max<int64_t>(1, records * percent / 100));
  }
  return scenario;
}
}  // namespace

Result<script::Script> Suite::generate(const workload::Parameters& parameters, uint64_t seed) {
  Result<std::vector<Scenario>> catalogue = load_catalogue(scenarios_data());
  if (!catalogue) return catalogue.error();
  std::erase_if(*catalogue,
                [&](const Scenario& s) { return s.instance != instance_ || !s.instead.empty(); });
  const PlanSize size{.runs = parameters.u64("runs"),
                      .interleavings = parameters.u64("interleavings"),
                      .large_runs = parameters.u64("large_runs")};
  crowds_.clear();
  bare_.clear();
  for (const Scenario& scenario : *catalogue) {
    if (scenario.crowd) crowds_.push_back(scaled(scenario, parameters["extent_percent"]));
    if (scenario.bare) bare_.push_back(scenario);
  }
  std::erase_if(*catalogue, [](const Scenario& s) { return s.crowd || s.bare; });
  plan_ = plan_runs(std::move(*catalogue), size, seed);
  const uint32_t step_wait_us = parameters.u32("step_wait_us");
  script::ScriptBuilder script;
  PoolNumbers pools(script);
  SharedIndexes shared;
  const uint32_t class_number = script.add_class("scenario");
  scripted_.clear();
  for (const PlannedScenario& planned : plan_) {
    scripted_.push_back(
        script_scenario(planned, step_wait_us, class_number, shared, pools, script));
  }
  scripted_bare_.clear();
  for (const Scenario& scenario : bare_) {
    scripted_bare_.push_back(script_bare(scenario, pools, script));
  }
  script_crowds(size.runs, seed, class_number, pools, script);
  script::Script built = script.build();
  // A call that returns DEADLOCK immediately is retried many times within the time of a step, so a
  // log needs room for many calls.
  for (script::PhaseScript& phase : built.phases) {
    if (phase.threads.size() > kCrowdThreads) continue;
    for (uint64_t& events : phase.log_capacity) events = std::max(events, kEventsMin);
  }
  return built;
}

void Suite::script_crowds(uint64_t runs, uint64_t seed, uint32_t class_number, PoolNumbers& pools,
                          script::ScriptBuilder& script) {
  scripted_crowds_.clear();
  if (crowds_.empty()) return;
  workload::Rng rng(seed, 0, workload::Purpose::kShape);
  const uint64_t first_type = rng.below(kTypes.size());
  const uint64_t times = std::max<uint64_t>(runs / crowds_.size(), 1);
  for (uint64_t i = 0; i < times * crowds_.size(); ++i) {
    // The key types rotate, so that repetitions of a crowd have different types.
    const std::size_t number = static_cast<std::size_t>(i % crowds_.size());
    const KeyType type = kTypes[(first_type + number + i / crowds_.size()) % kTypes.size()];
    const std::string suffix = "-" + std::to_string(i / crowds_.size());
    scripted_crowds_.push_back(
        script_crowd(crowds_[number], suffix, type, class_number, pools, script));
  }
}

std::vector<Suite::Growth> Suite::growths(const script::Outcome& outcome,
                                          std::span<const workload::PhaseMeasures> phases) const {
  std::vector<Growth> found;
  for (std::size_t i = 0; i < scripted_crowds_.size(); ++i) {
    const Scenario& scenario = crowds_[i % crowds_.size()];
    const uint32_t phase = scripted_crowds_[i].phase;
    // The crowds of other instances are too short: an allocator's reserve would look like growth.
    const bool measured =
        instance_ == "extremes" && std::ranges::count(kSteadyCrowds, scenario.crowd->kind) > 0;
    if (!measured || phase == 0 || phase >= std::min(phases.size(), outcome.phases.size()))
      continue;
    const auto before = phases[phase - 1].memory_bytes, after = phases[phase].memory_bytes;
    if (!before || !after) continue;
    Growth growth{.scenario = &scenario, .bytes = *after - std::min(*before, *after), .begins = 0};
    for (const script::ThreadResult& thread : outcome.phases[phase].threads) {
      growth.begins += static_cast<uint64_t>(
          std::ranges::count_if(thread.events, [](const history::Event& event) {
            return call_of(event) == history::EventCall::kBegin;
          }));
    }
    if (growth.begins > 0) found.push_back(growth);
  }
  return found;
}

void Suite::judge_memory(const script::Outcome& outcome,
                         std::span<const workload::PhaseMeasures> phases,
                         judge::Findings& findings) const {
  for (const Growth& growth : growths(outcome, phases)) {
    if (growth.bytes < kGrowthMin || growth.per_transaction() < kGrowthPerTransactionMin) continue;
    findings.advisory(
        "memory_growth",
        growth.scenario->id + ", " + growth.scenario->title + ": memory grew by " +
            std::to_string(growth.bytes >> 10) + " KiB in " +
            count_text(growth.begins, "transaction") +
            ", although there are no more records than before: " +
            std::to_string(static_cast<uint64_t>(growth.per_transaction())) +
            " bytes per transaction, where less than " +
            std::to_string(static_cast<uint64_t>(kGrowthPerTransactionMin)) +
            " are allowed. When a transaction ends, free the memory that it needed\n" +
            growth.scenario->about);
  }
}

void Suite::measure_memory(const script::Outcome& outcome,
                           std::span<const workload::PhaseMeasures> phases,
                           workload::Metrics& metrics) const {
  for (const Growth& growth : growths(outcome, phases)) {
    double& most = metrics["growth_per_transaction"];
    most = std::max(most, growth.per_transaction());
  }
}

bool Suite::has_misused(uint32_t phase, uint64_t op) const {
  if (scripted_bare_.empty()) return false;  // only the instance misuse has bare scenarios
  const ScriptedBare& first = scripted_bare_.front();
  return phase > first.phase || (phase == first.phase && op >= first.first_misuse);
}

void Suite::judge(const script::Outcome& outcome, judge::Findings& findings) const {
  FindingBook book;
  for (std::size_t i = 0; i < std::min(plan_.size(), outcome.phases.size()); ++i) {
    judge_scenario(plan_[i], scripted_[i], outcome.phases[i], book);
  }
  for (std::size_t i = 0; i < scripted_bare_.size(); ++i) {
    const uint32_t phase = scripted_bare_[i].phase;
    if (phase >= outcome.phases.size()) break;
    judge_bare(bare_[i], scripted_bare_[i], outcome.phases[phase], book);
  }
  for (std::size_t i = 0; i < scripted_crowds_.size(); ++i) {
    const uint32_t phase = scripted_crowds_[i].phase;
    if (phase >= outcome.phases.size()) break;
    judge_crowd(crowds_[i % crowds_.size()], scripted_crowds_[i], outcome.phases[phase], book);
  }
  book.show(findings);
}

}  // namespace scenarios
}  // namespace keydrome
