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
#include "benchmarks/scenarios/bare_run.h"
#include "benchmarks/scenarios/crowd.h"
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
  void script_crowds(uint64_t runs, uint64_t seed, uint32_t class_number, PoolNumbers& pools,
                     ScriptBuilder& script);

  std::string instance_;
  std::vector<PlannedScenario> plan_;
  std::vector<ScriptedScenario> scripted_;  // for each of them, in the first phases
  std::vector<Scenario> bare_;
  std::vector<ScriptedBare> scripted_bare_;  // for each of them, in the phases behind
  std::vector<Scenario> crowds_;
  std::vector<ScriptedCrowd> scripted_crowds_;  // for each of them, in the last phases
};

}  // namespace keydrome::scenarios
