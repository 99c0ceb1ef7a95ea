// Tests IdleWork, which does work of the referee, the process that runs a benchmark, while other
// processes work.
#include "harness/referee/machine/idle_work.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <new>

namespace keydrome {
namespace {

TEST(IdleWork, EndsTheWorkBeforeFinishReturns) {
  int policy = -1;
  IdleWork work([&] { policy = sched_getscheduler(0); });
  work.finish();
  EXPECT_EQ(policy, -1) << "it has not been started";
  work.start();
  work.finish();
  EXPECT_TRUE(policy == SCHED_IDLE || policy == SCHED_OTHER) << policy;
}

TEST(IdleWork, DoesTheWorkOnce) {
  int times = 0;
  IdleWork work([&] { ++times; });
  for (int i = 0; i < 3; ++i) {
    work.start();
    work.finish();
  }
  EXPECT_EQ(times, 1);
}

TEST(IdleWork, EndsTheWorkBeforeItsMemoryGoes) {
  bool done = false;
  {
    IdleWork work([&] { done = true; });
    work.start();
  }
  EXPECT_TRUE(done);
}

TEST(IdleWork, ThrowsWhatTheWorkHasThrownOnce) {
  IdleWork work([] { throw std::bad_alloc(); });
  work.start();
  EXPECT_THROW(work.finish(), std::bad_alloc);
  work.finish();
}

TEST(IdleWork, MayBeEmpty) {
  IdleWork work({});
  work.start();
  work.finish();
}

}  // namespace
}  // namespace keydrome
