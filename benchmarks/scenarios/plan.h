// The plan: which scenarios are run how often, and each time with which interleaving, key type, key
// distance and other records around.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/scenarios/interleavings.h"
#include "benchmarks/scenarios/scenario.h"

namespace keydrome::scenarios {

// One run of a scenario.
struct Variant {
  Order order;
  KeyType type = SHORT;  // of index A; B and C have the next types
  int64_t distance = 1;  // between the keys of labels k and k + 1
  uint32_t filler = 0;   // records below and above the scenario's own, together
  bool long_payloads = false;
  // A transaction that is answered DEADLOCK is tried again until it commits. Otherwise it is left
  // at that, and the scenario is judged on the others.
  bool persistent = false;
};

struct PlannedScenario {
  Scenario scenario;
  std::vector<Variant> variants;
};

struct PlanSize {
  uint64_t runs = 0;           // of all scenarios together, about
  uint64_t interleavings = 0;  // of one scenario at most
  uint64_t large_runs = 0;     // with 10,000 records around
};

// Every scenario is run at least once for each of its key types, in the written order; what is left
// of the budget goes to other interleavings, in equal parts. Equal arguments give equal plans.
std::vector<PlannedScenario> plan_runs(std::vector<Scenario> scenarios, const PlanSize& size,
                                       uint64_t seed);

}  // namespace keydrome::scenarios
