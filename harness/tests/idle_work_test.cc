// Tests IdleWork, which does work of the referee while a phase that is not timed runs.
#include "harness/referee/session/idle_work.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <new>

namespace keydrome {
namespace {

TEST(IdleWork, EndsTheWorkBeforeFinishReturns) {
  int policy = -1;
  IdleWork work([&] { policy = sched_getscheduler(0); });
  work.finish();
  EXPECT_TRUE(policy == SCHED_IDLE || policy == SCHED_OTHER) << policy;
  work.finish();  // has nothing to do
}

TEST(IdleWork, EndsTheWorkBeforeItsMemoryGoes) {
  bool done = false;
  {
    const IdleWork work([&] { done = true; });
  }
  EXPECT_TRUE(done);
}

TEST(IdleWork, ThrowsWhatTheWorkHasThrownOnce) {
  IdleWork work([] { throw std::bad_alloc(); });
  EXPECT_THROW(work.finish(), std::bad_alloc);
  work.finish();
}

}  // namespace
}  // namespace keydrome
