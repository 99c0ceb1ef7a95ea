// Tests whether a phase that reaches a time limit counts as slow or as hung. A position is the
// number of a thread's current operation. The tests themselves write the positions into the
// outcome, the memory for the results of the threads.
#include "harness/referee/hang/pace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "benchmarks/kit/script/outcome_layout.h"
#include "harness/tests/small_script.h"

namespace keydrome {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kStartMs = 1'000;

class PaceTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kThreads = 2, kInserts = 1'998;

  // Stores how many of its 2,000 operations a thread has completed.
  void reach(std::size_t thread, uint64_t operation) {
    std::memcpy(image_.data() + layout_.header.thread_offset +
                    thread * sizeof(format::ThreadOutcome) +
                    offsetof(format::ThreadOutcome, position),
                &operation, sizeof operation);
  }
  void sample(uint64_t after_ms) { watch_.sample((kStartMs + after_ms) * kMs); }
  static PhaseTimes times(uint64_t after_ms) {
    return {
        .start_ns = kStartMs * kMs, .now_ns = (kStartMs + after_ms) * kMs, .stuck_ns = 7'500 * kMs};
  }
  bool advancing(uint64_t after_ms) const {
    return is_advancing(script_, phase_, watch_, times(after_ms));
  }
  std::string text(uint64_t after_ms) const { return pace_text(phase_, watch_, times(after_ms)); }

  script::Script script_ = testing::counting_script(kThreads, 1, kInserts);
  const script::PhaseScript& phase_ = script_.phases[1];
  script::OutcomeLayout layout_ = script::outcome_layout(phase_, script_.pools);
  std::vector<std::byte> image_ = std::vector<std::byte>(layout_.size_bytes);
  PhaseWatch watch_{layout_, image_};
};

TEST_F(PaceTest, AThreadThatMovedBetweenTheLastSamplesIsSlow) {
  reach(1, 2'000);
  sample(14'500);
  reach(0, 100);
  sample(15'000);
  EXPECT_TRUE(advancing(15'000));
  EXPECT_EQ(text(15'000),
            "; in 15.0 s, thread 0 made 100 of 2,000 operations; it was still advancing, and at "
            "this rate the phase takes about 300 s");
  reach(1, 1'500);
  sample(15'000);
  EXPECT_EQ(text(15'000),
            "; in 15.0 s, thread 0 made 100 of 2,000 operations and thread 1 made 1,500 of 2,000; "
            "they were still advancing, and at this rate the phase takes about 300 s");
}

TEST_F(PaceTest, AThreadThatNeverMovedHangs) {
  reach(0, 100);
  reach(1, 2'000);
  sample(500);
  sample(700);
  EXPECT_FALSE(advancing(700));
}

TEST_F(PaceTest, AThreadThatStoppedHangsAlsoAfterMuchProgress) {
  reach(1, 2'000);
  for (uint64_t ms = 500; ms <= 10'000; ms += 500) {
    reach(0, ms / 10);
    sample(ms);
  }
  EXPECT_TRUE(advancing(10'500));
  for (uint64_t ms = 10'500; ms <= 15'000; ms += 500) sample(ms);
  EXPECT_FALSE(advancing(15'000));
}

TEST_F(PaceTest, ALibraryWithCallsOfSecondsIsSlow) {
  reach(1, 2'000);
  for (uint64_t ms = 500; ms <= 15'000; ms += 500) {
    reach(0, ms / 3'000);
    sample(ms);
  }
  EXPECT_TRUE(advancing(17'500));
}

TEST_F(PaceTest, AStuckCallHangsAlsoIfOthersAdvance) {
  reach(0, 3);
  for (uint64_t ms = 500; ms <= 7'500; ms += 500) {
    reach(1, ms / 10);
    sample(ms);
  }
  EXPECT_TRUE(advancing(7'500));
  reach(1, 1'000);
  sample(8'000);
  EXPECT_TRUE(is_stuck(script_, phase_, watch_, times(8'000)));
  EXPECT_FALSE(advancing(8'000));
}

TEST_F(PaceTest, AFinishedThreadIsNeitherStuckNorAdvancing) {
  for (uint64_t ms = 500; ms <= 5'000; ms += 500) {
    reach(1, ms / 5 * 2);
    sample(ms);
  }
  EXPECT_FALSE(advancing(6'500));  // thread 0 has not begun, and thread 1 has finished
  EXPECT_FALSE(is_stuck(script_, phase_, watch_, times(6'500)));
}

// The session reached its limit after the last operation of a phase, but before its end.
TEST_F(PaceTest, APhaseWhoseThreadsHaveJustFinishedIsSlow) {
  sample(500);
  reach(0, 2'000);
  reach(1, 2'000);
  sample(14'500);
  EXPECT_TRUE(advancing(15'000));
  EXPECT_EQ(
      text(15'000),
      "; all threads had made their calls, and the phase, which had run for 15.0 s, was about "
      "to end");
  EXPECT_FALSE(advancing(16'000)) << "a thread that does not end hangs";
  EXPECT_FALSE(is_stuck(script_, phase_, watch_, times(60'000)));
}

TEST_F(PaceTest, APhaseHasJustBegunForHalfASecond) {
  EXPECT_TRUE(has_just_begun(times(500)));
  EXPECT_FALSE(has_just_begun(times(501)));
  EXPECT_EQ(just_begun_text(times(210)),
            "; this phase has run for only 0.2 s, so the earlier phases have used up the time");
}

}  // namespace
}  // namespace keydrome
