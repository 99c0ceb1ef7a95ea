#include "base/topology.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "base/affinity.h"

namespace keydrome {
namespace {

TEST(Topology, ReadsCpuLists) {
  EXPECT_EQ(parse_cpu_list("0").value(), std::vector<int>({0}));
  EXPECT_EQ(parse_cpu_list("0-2,5").value(), std::vector<int>({0, 1, 2, 5}));
  for (const char* bad : {"", ",", "1-", "3-1", "x", "1,", "1;2", "99999", "-1"}) {
    EXPECT_FALSE(parse_cpu_list(bad).ok()) << bad;
  }
}

TEST(Topology, FindsTheCpusOfThisProcess) {
  const Result<std::vector<Cpu>> cpus = usable_cpus();
  ASSERT_TRUE(cpus.ok()) << cpus.error().message;
  ASSERT_FALSE(cpus->empty());
}

TEST(Affinity, BindsTheCallingThread) {
  const std::vector<Cpu> cpus = usable_cpus().value();
  std::jthread thread([&] {
    const Result<void> pinned = pin_this_thread(cpus.back().id);
    ASSERT_TRUE(pinned.ok()) << pinned.error().message;
    EXPECT_EQ(sched_getcpu(), cpus.back().id);
  });
}

TEST(Affinity, SaysWhichCpuIsMissing) {
  const Result<void> pinned = pin_this_thread(-1);
  ASSERT_FALSE(pinned.ok());
  EXPECT_NE(pinned.error().message.find("-1"), std::string::npos);
}

}  // namespace
}  // namespace keydrome
