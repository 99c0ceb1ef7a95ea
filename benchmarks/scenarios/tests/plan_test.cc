// Tests the interleavings of scenarios (short scripts of API calls) and the plan of their runs.
#include "benchmarks/scenarios/script/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "benchmarks/scenarios/script/notation.h"

namespace keydrome::scenarios {
namespace {

Scenario scenario_of(const std::vector<std::string>& turns) {
  Scenario scenario;
  scenario.types = {SHORT, INT, VARCHAR};
  std::vector<bool> in_transaction;
  for (const std::string& turn : turns) {
    EXPECT_TRUE(parse_turn(turn, in_transaction, scenario).ok()) << turn;
  }
  return scenario;
}

TEST(Interleavings, AreAllOfThemWhenThereAreFew) {
  const Scenario scenario = scenario_of({"T1: b g(1)", "T2: b c", "T1: c"});
  EXPECT_EQ(count_orders(scenario, 1000), 10u);  // 5! / (3! 2!)
  workload::Rng rng(7, 0, workload::Purpose::kStream);
  const std::vector<Order> orders = sample_orders(scenario, 200, rng);
  EXPECT_EQ(orders.size(), 10u);
  EXPECT_EQ(std::set<Order>(orders.begin(), orders.end()).size(), 10u);
  EXPECT_TRUE(std::ranges::count(orders, written_order(scenario)) == 1);
}

TEST(Interleavings, AreDistinctRandomOnesWhenThereAreMany) {
  const Scenario scenario = scenario_of(
      {"T1: b g(1) g(2) g(3) g(4) c", "T2: b g(1) g(2) g(3) g(4) c", "T3: b g(1) g(2) g(3) c"});
  EXPECT_EQ(count_orders(scenario, 200), 200u);
  workload::Rng rng(7, 0, workload::Purpose::kStream);
  const std::vector<Order> orders = sample_orders(scenario, 50, rng);
  EXPECT_EQ(orders.size(), 50u);
  EXPECT_EQ(std::set<Order>(orders.begin(), orders.end()).size(), 50u);
  for (const Order& order : orders) {
    EXPECT_EQ(std::ranges::count(order, 0), 6);
    EXPECT_EQ(std::ranges::count(order, 1), 6);
    EXPECT_EQ(std::ranges::count(order, 2), 5);
  }
}

TEST(Plan, RunsEveryScenarioWithEveryKeyTypeInTheWrittenOrder) {
  const Scenario scenario = scenario_of({"T1: b g(1)", "T2: b i(1,x) c", "T1: g(1) c"});
  const auto plan = plan_runs({scenario, scenario}, {.runs = 2, .interleavings = 10}, 1);
  ASSERT_EQ(plan.size(), 2u);
  for (const PlannedScenario& planned : plan) {
    std::set<KeyType> types;
    for (const Variant& variant : planned.variants) {
      EXPECT_EQ(variant.order, written_order(scenario));
      types.insert(variant.type);
    }
    EXPECT_EQ(types.size(), 3u);
  }
}

TEST(Plan, UsesItsBudgetAndIsTheSameForTheSameSeed) {
  const Scenario two = scenario_of({"T1: b g(1) n", "T2: b i(1,x) c", "T1: g(1) c"});
  const Scenario one = scenario_of({"T1: b g(1) c"});
  const PlanSize size{.runs = 100, .interleavings = 200, .large_runs = 3};
  const auto plan = plan_runs({two, one, two}, size, 42);
  EXPECT_EQ(plan[0].variants.size(), 47u);  // (100 - 6) / 2
  EXPECT_EQ(plan[1].variants.size(), 6u);
  const auto again = plan_runs({two, one, two}, size, 42);
  const auto other = plan_runs({two, one, two}, size, 43);
  std::size_t large = 0;
  bool differs = false;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    for (std::size_t j = 0; j < plan[i].variants.size(); ++j) {
      EXPECT_EQ(plan[i].variants[j].order, again[i].variants[j].order);
      EXPECT_EQ(plan[i].variants[j].type, again[i].variants[j].type);
      differs = differs || plan[i].variants[j].order != other[i].variants[j].order;
      large += plan[i].variants[j].filler > 1000 ? 1 : 0;
    }
  }
  EXPECT_TRUE(differs);
  EXPECT_GE(large, 1u);
  EXPECT_LE(large, 3u);
}

}  // namespace
}  // namespace keydrome::scenarios
