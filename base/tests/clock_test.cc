// Tests base/clock.h: the tick clock agrees with the monotonic clock, and conversions do not
// overflow.
#include "base/clock.h"

#include <gtest/gtest.h>

namespace keydrome {
namespace {

TEST(Clock, TicksAgreeWithTheMonotonicClock) {
  const TickClock clock;
  const uint64_t start_ns = now_ns();
  const uint64_t start = clock.ticks();
  while (now_ns() - start_ns < 20'000'000) {
  }
  const uint64_t before_ns = now_ns() - start_ns;
  const uint64_t by_ticks = clock.to_ns(clock.ticks() - start);
  const uint64_t after_ns = now_ns() - start_ns;
  EXPECT_GE(by_ticks, before_ns - before_ns / 20);
  EXPECT_LE(by_ticks, after_ns + after_ns / 20);
}

TEST(Clock, ConvertsLongDifferencesWithoutOverflow) {
  const TickClock clock;
  const uint64_t minute = clock.to_ns(3'000'000'000ull * 60);
  EXPECT_GT(minute, 1'000'000'000ull);
  EXPECT_LT(minute, 1'000'000'000'000ull);
}

}  // namespace
}  // namespace keydrome
