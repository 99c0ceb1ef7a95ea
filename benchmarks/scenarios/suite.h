// Suite: the scenarios of one instance, from their plan to the findings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/parameters.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/scenarios/run_script.h"
#include "benchmarks/scenarios/scenario_judge.h"

namespace keydrome::scenarios {

// Not thread-safe.
class Suite {
 public:
  explicit Suite(std::string_view instance) : instance_(instance) {}

  // One phase for each scenario, so a library that hangs is told in which one.
  Result<Script> generate(const Parameters& parameters, uint64_t seed);

  // After generate(): judges the phases that were played, in their order.
  void judge(const Outcome& outcome, Findings& findings) const;

 private:
  std::string instance_;
  RunJudgeOptions options_;
  std::vector<PlannedScenario> plan_;
  std::vector<ScriptedScenario> scripted_;
};

}  // namespace keydrome::scenarios
