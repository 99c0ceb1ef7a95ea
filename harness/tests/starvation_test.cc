// Tests starvation.h, which measures for how long other programs kept a session (one repetition of
// a benchmark) from the processors. Most tests use invented counts of the scheduler.
#include "harness/referee/session/starvation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace keydrome {
namespace {

constexpr uint64_t kSecond = 1000 * kNsPerMs;

std::vector<ThreadSchedules> player(ThreadSchedules threads) { return {std::move(threads)}; }

// Returns a step that began at time 0 with no threads.
Starvation begun() {
  Starvation starvation(0);
  starvation.sample(0, player({}), 0);
  return starvation;
}

ThreadSchedule schedule(uint64_t cpu_ns, uint64_t waited_ns, uint64_t turns = 1) {
  return {.ready = true, .cpu_ns = cpu_ns, .waited_ns = waited_ns, .turns = turns};
}

TEST(Starvation, AThreadThatOthersKeepWaitingIsStarved) {
  Starvation starvation = begun();
  starvation.sample(10 * kSecond, player({{1, schedule(kSecond, 9 * kSecond)}}), kSecond);
  EXPECT_EQ(starvation.step_kept_ns(), 9 * kSecond);
}

TEST(Starvation, AThreadThatSleepsOrSpinsIsNot) {
  Starvation starvation = begun();
  ThreadSchedule sleeps = schedule(10, 20);
  sleeps.ready = false;
  starvation.sample(kSecond, player({{1, sleeps}, {2, schedule(kSecond, 0)}}), kSecond);
  starvation.sample(9 * kSecond, player({{1, sleeps}, {2, schedule(9 * kSecond, 0)}}), 9 * kSecond);
  EXPECT_EQ(starvation.step_kept_ns(), 0u);
}

// A hundred threads on one processor wait for 99 % of the time, but only for each other.
TEST(Starvation, ThreadsThatWaitForEachOtherAreNot) {
  Starvation starvation = begun();
  ThreadSchedules threads;
  for (pid_t id = 1; id <= 100; ++id) threads[id] = schedule(kSecond / 10, 99 * kSecond / 10);
  starvation.sample(10 * kSecond, player(threads), 10 * kSecond);
  EXPECT_EQ(starvation.step_kept_ns(), 0u);
  // The CPU time of threads that have exited counts, too.
  starvation.sample(10 * kSecond, player({{1, schedule(kSecond / 10, 99 * kSecond / 10)}}),
                    10 * kSecond);
  EXPECT_EQ(starvation.step_kept_ns(), 0u);
}

// A thread that spins while other programs compute still gets its share of the processor, so a hang
// is its own fault.
TEST(Starvation, AThreadThatSpinsUnderLoadIsNot) {
  Starvation starvation = begun();
  starvation.sample(10 * kSecond, player({{1, schedule(6 * kSecond, 4 * kSecond)}}), 6 * kSecond);
  EXPECT_EQ(starved_text(starvation.step_kept_ns(), 10 * kSecond), "");
}

// In verified mode the driver plays the operations outside the jail (sandbox), and the player in
// the jail executes its calls. They wait for each other's answers. So other programs can delay
// first one of them and then the other.
TEST(Starvation, TheWaitsOfSeveralProcessesAddUp) {
  Starvation starvation = begun();
  const ThreadSchedule half = schedule(0, 4 * kSecond);
  starvation.sample(10 * kSecond, {{{1, half}, {2, half}}, {{3, half}}}, 0);
  EXPECT_EQ(starvation.step_kept_ns(), 8 * kSecond);
  starvation.sample(11 * kSecond, {{{1, half}}, {{3, schedule(0, 11 * kSecond)}}}, 0);
  EXPECT_EQ(starvation.step_kept_ns(), 11 * kSecond) << "no more than the time that has passed";
}

// Four threads take turns. Other programs use most of both processors, so each thread waits in its
// turn, but no thread waits for half of the time.
TEST(Starvation, ThreadsThatTakeTurnsAreCrowdedOut) {
  Starvation starvation(0);
  starvation.sample(0, player({}), 0, {.busy_ns = 500, .processors = 2});
  ThreadSchedules threads;
  for (pid_t id = 1; id <= 4; ++id) threads[id] = schedule(kSecond / 2, 2 * kSecond);
  starvation.sample(10 * kSecond, player(threads), 2 * kSecond,
                    {.busy_ns = 500 + 19 * kSecond, .processors = 2});
  EXPECT_EQ(starved_text(starvation.step_kept_ns(), 10 * kSecond), "");
  const Crowd crowd = starvation.step_crowd();
  EXPECT_EQ(crowd.waited_ns, 2 * kSecond);
  EXPECT_EQ(crowd.others_ns, 17 * kSecond);
  EXPECT_EQ(crowd.capacity_ns, 20 * kSecond);
  EXPECT_NE(crowded_text(crowd, 10 * kSecond).find("used 17.0 s of 20.0 s"), std::string::npos);
  EXPECT_EQ(starvation.session_crowd().others_ns, 17 * kSecond);
}

TEST(Starvation, OnlyACrowdedMachineExcusesAStop) {
  const Crowd crowd{.waited_ns = kSecond, .others_ns = 15 * kSecond, .capacity_ns = 20 * kSecond};
  EXPECT_NE(crowded_text(crowd, 10 * kSecond), "");
  Crowd blocked = crowd;
  blocked.waited_ns -= 1;
  EXPECT_EQ(crowded_text(blocked, 10 * kSecond), "");
  Crowd spinning = crowd;
  spinning.others_ns -= kSecond;
  EXPECT_EQ(crowded_text(spinning, 10 * kSecond), "");
  EXPECT_EQ(crowded_text({}, 0), "");
}

// The processors of this machine are busy at least while this thread computes.
TEST(Starvation, TheUseOfTheProcessorsIsRead) {
  const ProcessorUse before = read_processor_use();
  const uint64_t begin_ns = process_cpu_ns(getpid());
  while (process_cpu_ns(getpid()) < begin_ns + kSecond / 5) {
  }
  const ProcessorUse after = read_processor_use();
  EXPECT_GE(before.processors, 1u);
  EXPECT_EQ(before.processors, after.processors);
  EXPECT_GE(after.busy_ns, before.busy_ns + kSecond / 10);
}

// The kernel counts a wait only when the wait has ended, so the class itself measures a wait that
// continues.
TEST(Starvation, AWaitThatHasNotEndedCounts) {
  Starvation starvation = begun();
  starvation.sample(kSecond, player({{1, schedule(5, 7, 3)}}), 5);
  starvation.sample(8 * kSecond, player({{1, schedule(5, 7, 3)}}), 5);
  EXPECT_EQ(starvation.step_kept_ns(), 7 * kSecond + 7);
  Starvation slept = begun();
  slept.sample(kSecond, player({{1, schedule(5, 7, 3)}}), 5);
  slept.sample(8 * kSecond, player({{1, schedule(5, 7, 4)}}), 5);
  EXPECT_EQ(slept.step_kept_ns(), 7u) << "the thread had a turn in between";
}

// The referee is the process that runs the session. Its first thread plays the session. The other
// threads do work that may wait, so their waits must not count.
TEST(Starvation, OnlyTheFirstThreadOfTheRefereeCounts) {
  for (const pid_t thread : {getpid(), getpid() + 1}) {
    Starvation starvation(0);
    starvation.begin_step({getpid()}, 0);
    const uint64_t before_ns = read_thread_schedules(getpid()).at(getpid()).waited_ns;
    starvation.sample(9 * kSecond, {{{thread, schedule(0, before_ns + 5 * kSecond)}}}, 0);
    EXPECT_EQ(starvation.step_kept_ns() >= 4 * kSecond, thread == getpid());
  }
}

TEST(Starvation, OnlyTheStepCountsForItsLimit) {
  Starvation starvation(0);
  starvation.sample(0, player({{1, schedule(0, 100 * kSecond)}}), 0);
  starvation.sample(4 * kSecond, player({{1, schedule(0, 103 * kSecond, 2)}}), 0);
  EXPECT_EQ(starvation.step_kept_ns(), 3 * kSecond) << "the thread is older than the step";
  starvation.begin_step({}, 4 * kSecond);
  EXPECT_EQ(starvation.step_kept_ns(), 0u);
  EXPECT_EQ(starvation.session_kept_ns(), 3 * kSecond);
  EXPECT_EQ(starvation.step_start_ns(), 4 * kSecond);
  EXPECT_EQ(starvation.session_start_ns(), 0u);
}

TEST(Starvation, HalfOfTheTimeIsTheBound) {
  EXPECT_EQ(starved_text(4 * kSecond, 10 * kSecond), "");
  EXPECT_EQ(starved_text(0, 0), "");
  const std::string text = starved_text(5 * kSecond, 10 * kSecond);
  EXPECT_NE(text.find("for at least 5.0 s of 10.0 s"), std::string::npos) << text;
}

TEST(Starvation, ReadsTheCountsOfThreads) {
  pid_t helper_id = 0;
  std::thread([&] {
    helper_id = gettid();
    const ThreadSchedules schedules = read_thread_schedules(getpid());
    ASSERT_TRUE(schedules.contains(helper_id));
    EXPECT_TRUE(schedules.at(helper_id).ready);
    EXPECT_GT(schedules.at(helper_id).turns, 0u);
  }).join();
  EXPECT_TRUE(read_thread_schedules(INT32_MAX).empty());
}

}  // namespace
}  // namespace keydrome
