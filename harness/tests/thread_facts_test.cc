// Tests thread_facts() with a child process that waits in a system call.
#include "harness/referee/hang/thread_facts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace keydrome {
namespace {

// A child process that waits in read() on a pipe. This process keeps the other end of the pipe
// open.
class ThreadFactsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    child_ = fork();
    if (child_ == 0) {
      char byte = 0;
      close(ends[1]);
      _exit(static_cast<int>(read(ends[0], &byte, 1)));
    }
    close(ends[0]);
    end_ = ends[1];
  }
  void TearDown() override {
    close(end_);
    waitpid(child_, nullptr, 0);
  }

  pid_t child_ = -1;
  int end_ = -1;
};

TEST_F(ThreadFactsTest, NamesTheSystemCallThatAThreadWaitsIn) {
  std::vector<ThreadFacts> threads;
  do {
    threads = thread_facts(child_);
    ASSERT_EQ(threads.size(), 1u);
  } while (threads[0].state != 'S' || threads[0].waits_in.empty());  // until the child is in read()
  EXPECT_EQ(threads[0].outside, child_);
  EXPECT_NE(threads[0].inside, 0u);
  EXPECT_EQ(threads[0].waits_in, "read");
  EXPECT_LT(threads[0].cpu_ms, 1000u);
}

TEST_F(ThreadFactsTest, AProcessIsEndingOnlyAfterItHasExited) {
  EXPECT_FALSE(is_ending(child_));
  close(end_);
  end_ = -1;
  siginfo_t unused{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_), &unused, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_ending(child_)) << "not reaped yet";
  ASSERT_EQ(waitpid(child_, nullptr, 0), child_);
  EXPECT_TRUE(is_ending(child_)) << "reaped";
  EXPECT_FALSE(is_ending(0)) << "unknown";
}

// A process that has exited may vanish while its files in /proc are read.
TEST(ThreadFacts, AProcessThatIsReapedMeanwhileIsEnding) {
  for (int round = 0; round < 2000; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t unused{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &unused, WEXITED | WNOWAIT), 0);
    std::thread reaper([&] { waitpid(child, nullptr, 0); });
    EXPECT_TRUE(is_ending(child)) << "round " << round;
    reaper.join();
  }
}

TEST_F(ThreadFactsTest, AProcessWithoutGrandchildrenIsNoJail) { EXPECT_EQ(program_of(child_), 0); }

TEST(ThreadFacts, AMissingProcessHasNoThreads) {
  EXPECT_TRUE(thread_facts(0).empty());
  EXPECT_EQ(program_of(0), 0);
}

}  // namespace
}  // namespace keydrome
