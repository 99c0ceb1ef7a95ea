// Tests harness/referee/machine/cpus.h: CPU lists and the number of usable CPUs.
#include "harness/referee/machine/cpus.h"

#include <gtest/gtest.h>

#include <thread>

namespace keydrome {
namespace {

TEST(Cpus, ReadsCpuLists) {
  EXPECT_EQ(parse_cpu_list("0").value(), std::vector<int>({0}));
  EXPECT_EQ(parse_cpu_list("0-2,5").value(), std::vector<int>({0, 1, 2, 5}));
  for (const char* bad : {"", ",", "1-", "3-1", "x", "1,", "1;2", "99999", "-1"}) {
    EXPECT_FALSE(parse_cpu_list(bad).ok()) << bad;
  }
}

TEST(Cpus, CountsThoseOfThisProcess) {
  EXPECT_GE(usable_cpu_count(), 1u);
  EXPECT_LE(usable_cpu_count(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace keydrome
