// Suite: plans the runs of all scenarios of one instance of the benchmark "scenarios", writes the
// script (the operations of all threads), and judges the outcome. A scenario is a list of a few
// steps that reveals one kind of error. A bare scenario makes calls that the contract, the
// specification of the API, forbids.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/scenarios/crowds/crowd.h"
#include "benchmarks/scenarios/growth/growth.h"
#include "benchmarks/scenarios/judge/bare_run.h"
#include "benchmarks/scenarios/judge/scenario_judge.h"
#include "benchmarks/scenarios/script/run_script.h"

namespace keydrome::scenarios {

// Writes and judges the scenarios of one instance. Not thread-safe.
class Suite {
 public:
  explicit Suite(std::string_view instance) : instance_(instance) {}

  // Writes one phase for each scenario, and one for each repetition of a crowd (a scenario with
  // loops and many threads). So if a phase hangs, the finding can name the scenario.
  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed);

  // Judges the phases that were played, in their order. Must be called after generate().
  void judge(const script::Outcome& outcome, judge::Findings& findings) const;

  // Adds a warning if the memory of the library grows with transactions that leave as many records
  // as they found (growth/growth.h). Must be called after generate().
  void judge_memory(const script::Outcome& outcome, std::span<const workload::PhaseMeasures> phases,
                    judge::Findings& findings) const;
  // Adds the metric growth_per_transaction: the largest such growth in bytes per transaction, or 0.
  void measure_memory(const script::Outcome& outcome,
                      std::span<const workload::PhaseMeasures> phases,
                      workload::Metrics& metrics) const;

  // Returns true if operation `op` of `phase` is the first call that may be misuse, i.e. may break
  // the rules of the API, or comes after this call. A failure there, even a crash, is only a
  // warning. Must be called after generate().
  bool has_misused(uint32_t phase, uint64_t op) const;

 private:
  void script_crowds(uint64_t runs, uint64_t seed, uint32_t class_number, PoolNumbers& pools,
                     script::ScriptBuilder& script);

  std::string instance_;
  std::vector<PlannedScenario> plan_;
  // scripted_[i] belongs to plan_[i], and is phase number i of the script.
  std::vector<ScriptedScenario> scripted_;
  std::vector<Scenario> bare_;
  // scripted_bare_[i] belongs to bare_[i]. The phases of bare scenarios follow those of plan_.
  std::vector<ScriptedBare> scripted_bare_;
  std::vector<Scenario> crowds_;
  // scripted_crowds_[i] belongs to crowds_[i % crowds_.size()]. Their phases follow.
  std::vector<ScriptedCrowd> scripted_crowds_;
  std::vector<ScriptedGrowth> growth_;  // their phases follow all others
};

}  // namespace keydrome::scenarios
