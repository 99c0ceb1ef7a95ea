// Plans the runs of all scenarios (short scripts that each reveal one kind of error). The plan
// says how often each scenario runs, and gives the interleaving, key type, key distance and
// surrounding records of each run.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/scenarios/script/interleavings.h"
#include "benchmarks/scenarios/script/scenario.h"

namespace keydrome::scenarios {

// The choices for one run of a scenario.
struct Variant {
  Order order;
  KeyType type = SHORT;  // type of index A; B and C have the next two types
  // A scenario names its keys by labels 0, 1, 2, ... (vocabulary.h). This is the difference between
  // the keys of consecutive labels.
  int64_t distance = 1;
  uint32_t filler = 0;  // number of other records, below and above the scenario's own records
  bool long_payloads = false;
  // If true, a transaction that receives DEADLOCK is retried until it commits. If false, such a
  // transaction is given up, and only the other transactions are judged.
  bool persistent = false;
};

struct PlannedScenario {
  Scenario scenario;
  std::vector<Variant> variants;
};

struct PlanSize {
  uint64_t runs = 0;           // approximate number of runs of all scenarios together
  uint64_t interleavings = 0;  // maximum per scenario
  uint64_t large_runs = 0;     // runs with 10,000 surrounding records
};

// Returns the plan. Every scenario runs at least once for each of its key types, with its steps in
// the written order. A scenario with one session (client thread) has at most six runs. The
// scenarios with several sessions share the other runs equally, in random interleavings. Equal
// arguments give equal plans.
std::vector<PlannedScenario> plan_runs(std::vector<Scenario> scenarios, const PlanSize& size,
                                       uint64_t seed);

}  // namespace keydrome::scenarios
