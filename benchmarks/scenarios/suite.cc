// Implements Suite, which writes and judges all scenarios of an instance. The script begins with
// the scenarios that have steps. The bare scenarios (forbidden calls) follow, then the crowds
// (many threads), then the transactions whose memory is measured.
#include "benchmarks/scenarios/suite.h"

#include <algorithm>
#include <array>
#include <utility>

#include "benchmarks/scenarios/catalogue.h"

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
  growth_.clear();
  // The memory is measured last, so that the scenarios are a part of the warm-up.
  if (instance_ == "extremes") {
    growth_ = script_growth(parameters["extent_percent"], class_number, pools, script);
  }
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

void Suite::judge_memory(const script::Outcome& outcome,
                         std::span<const workload::PhaseMeasures> phases,
                         judge::Findings& findings) const {
  const std::string text = growth_text(measure_growth(growth_, outcome, phases));
  if (!text.empty()) findings.advisory("memory_growth", text);
}

void Suite::measure_memory(const script::Outcome& outcome,
                           std::span<const workload::PhaseMeasures> phases,
                           workload::Metrics& metrics) const {
  for (const Growth& growth : measure_growth(growth_, outcome, phases)) {
    double& most = metrics["growth_per_transaction"];
    if (growth.is_leak()) most = std::max(most, growth.per_transaction());
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
