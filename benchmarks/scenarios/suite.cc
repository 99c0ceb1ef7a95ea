#include "benchmarks/scenarios/suite.h"

#include <algorithm>
#include <utility>

#include "benchmarks/scenarios/catalogue.h"

namespace keydrome {

// data/*.json, compiled in by CMake.
std::span<const std::string_view> scenarios_data();

namespace scenarios {

namespace {
constexpr uint64_t kEventsMin = 1 << 16;
}  // namespace

Result<Script> Suite::generate(const Parameters& parameters, uint64_t seed) {
  Result<std::vector<Scenario>> catalogue = load_catalogue(scenarios_data());
  if (!catalogue) return catalogue.error();
  std::erase_if(*catalogue, [&](const Scenario& s) { return s.instance != instance_; });
  const PlanSize size{.runs = static_cast<uint64_t>(parameters["runs"]),
                      .interleavings = static_cast<uint64_t>(parameters["interleavings"]),
                      .large_runs = static_cast<uint64_t>(parameters["large_runs"])};
  plan_ = plan_runs(std::move(*catalogue), size, seed);
  options_.strict = parameters["strict"] != 0;
  const auto patience_us = static_cast<uint32_t>(parameters["patience_us"]);
  ScriptBuilder script;
  PoolNumbers pools(script);
  const uint32_t class_number = script.add_class("scenario");
  scripted_.clear();
  for (const PlannedScenario& planned : plan_) {
    scripted_.push_back(script_scenario(planned, patience_us, class_number, pools, script));
  }
  Script built = script.build();
  // A library that answers DEADLOCK at once is asked again for as long as a step may take.
  for (PhaseScript& phase : built.phases) {
    for (uint64_t& events : phase.log_capacity) events = std::max(events, kEventsMin);
  }
  return built;
}

void Suite::judge(const Outcome& outcome, Findings& findings) const {
  FindingBook book;
  for (std::size_t i = 0; i < std::min(plan_.size(), outcome.phases.size()); ++i) {
    judge_scenario(plan_[i], scripted_[i], outcome.phases[i], options_, book);
  }
  book.show(findings);
}

}  // namespace scenarios
}  // namespace keydrome
