// Computes the orders in which the steps of a scenario can be executed. A scenario is a short
// script for one or more sessions (client threads).
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/scenarios/script/scenario.h"

namespace keydrome::scenarios {

// An order: the session of each step. The steps of one session keep their own order.
using Order = std::vector<uint8_t>;

// Returns the order in which the scenario lists its steps.
Order written_order(const Scenario& scenario);

// Returns the number of orders, or `limit` if there are more.
uint64_t count_orders(const Scenario& scenario, uint64_t limit);

// Returns all orders if there are at most `limit`, and otherwise `limit` different random orders.
// The result is shuffled. Equal states of `rng` give equal results.
std::vector<Order> sample_orders(const Scenario& scenario, uint64_t limit, workload::Rng& rng);

}  // namespace keydrome::scenarios
