// Tests machine.h: the stolen time between two readings, and the facts that every machine reveals.
#include "harness/referee/machine/machine.h"

#include <gtest/gtest.h>

namespace keydrome {
namespace {

TEST(StolenTime, IsAShareOfTheTimeBetweenTheReadings) {
  Json facts;
  add_stolen_time(CpuTimes{.all = 1000, .stolen = 100}, CpuTimes{.all = 1200, .stolen = 150},
                  facts);
  ASSERT_NE(facts.find("steal_percent"), nullptr);
  EXPECT_EQ(facts.find("steal_percent")->dump(), Json(25.0).dump());
}

TEST(StolenTime, IsAbsentIfAReadingIsUnknownOrNoTickHasPassed) {
  const CpuTimes times{.all = 1000, .stolen = 100};
  Json facts = Json::Object{};
  add_stolen_time(std::nullopt, times, facts);
  add_stolen_time(times, std::nullopt, facts);
  add_stolen_time(times, times, facts);
  EXPECT_EQ(facts.find("steal_percent"), nullptr);
}

TEST(StolenTime, ReadsTheKernelsTimes) {
  const auto times = cpu_times();
  ASSERT_TRUE(times.has_value());
  EXPECT_GT(times->all, times->stolen);
}

TEST(MachineFacts, NameTheCompiler) {
  const Json facts = machine_facts();
  ASSERT_NE(facts.find("compiler"), nullptr);
  EXPECT_NE(facts.find("compiler")->dump().find('.'), std::string::npos);
}

}  // namespace
}  // namespace keydrome
