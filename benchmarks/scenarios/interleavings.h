// Interleavings: the orders in which the steps of several sessions can be merged.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/rng.h"
#include "benchmarks/scenarios/scenario.h"

namespace keydrome::scenarios {

// Whose turn it is, step by step; each session's own steps stay in order.
using Order = std::vector<uint8_t>;

Order written_order(const Scenario& scenario);

// How many orders there are, or `limit` when there are more.
uint64_t count_orders(const Scenario& scenario, uint64_t limit);

// All orders when there are at most `limit`, else that many random ones; shuffled, each once. The
// same for the same state of `rng`.
std::vector<Order> sample_orders(const Scenario& scenario, uint64_t limit, Rng& rng);

}  // namespace keydrome::scenarios
