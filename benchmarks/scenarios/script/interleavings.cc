// Implements the choice of the orders in which the steps of several client threads are executed.
// Enumerates all orders, or chooses random orders until it has enough different ones.
#include "benchmarks/scenarios/script/interleavings.h"

#include <algorithm>
#include <set>
#include <utility>

namespace keydrome::scenarios {
namespace {

std::vector<uint64_t> steps_by_session(const Scenario& scenario) {
  std::vector<uint64_t> steps(scenario.sessions, 0);
  for (const Step& step : scenario.steps) ++steps[step.session];
  return steps;
}

void shuffle(std::vector<Order>& orders, workload::Rng& rng) {
  for (std::size_t i = orders.size(); i > 1; --i) std::swap(orders[i - 1], orders[rng.below(i)]);
}

// Returns a random order. All orders are equally likely, because the next step is chosen uniformly
// from all remaining steps.
Order random_order(std::vector<uint64_t> left, uint64_t steps, workload::Rng& rng) {
  Order order;
  for (; steps > 0; --steps) {
    uint64_t number = rng.below(steps);
    uint8_t session = 0;
    while (number >= left[session]) number -= left[session++];
    --left[session];
    order.push_back(session);
  }
  return order;
}

}  // namespace

Order written_order(const Scenario& scenario) {
  Order order;
  for (const Step& step : scenario.steps) order.push_back(static_cast<uint8_t>(step.session));
  return order;
}

uint64_t count_orders(const Scenario& scenario, uint64_t limit) {
  // Computes the multinomial coefficient as a product of binomial coefficients.
  __extension__ using Wide = unsigned __int128;
  Wide count = 1;
  uint64_t placed = 0;
  for (const uint64_t steps : steps_by_session(scenario)) {
    for (uint64_t i = 1; i <= steps; ++i) {
      count = count * ++placed / i;
      // The product only grows, so the computation can stop here. Smaller products cannot overflow.
      if (count > Wide{limit} << 32) return limit;
    }
  }
  return static_cast<uint64_t>(std::min<Wide>(count, limit));
}

std::vector<Order> sample_orders(const Scenario& scenario, uint64_t limit, workload::Rng& rng) {
  std::vector<Order> orders;
  Order order = written_order(scenario);
  if (count_orders(scenario, limit + 1) <= limit) {
    std::ranges::sort(order);
    do {
      orders.push_back(order);
    } while (std::ranges::next_permutation(order).found);
  } else {
    std::set<Order> sampled;
    while (sampled.size() < limit) {
      sampled.insert(random_order(steps_by_session(scenario), scenario.steps.size(), rng));
    }
    orders.assign(sampled.begin(), sampled.end());
  }
  shuffle(orders, rng);
  return orders;
}

}  // namespace keydrome::scenarios
