// What a recorded phase leaves behind: every call, in order, with stamps that carry real time.
#include "benchmarks/kit/recording.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/kit/event_clock.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

uint64_t hash(const std::string& text) { return hash_bytes(text); }

struct Expected {
  EventCall call;
  bool alone;
  ErrCode code;
  uint16_t index;
  uint64_t key, payload;
};

class RecordingTest : public ::testing::Test {
 protected:
  // A program of one thread over a string and an int32 index.
  Script script(bool recorded) {
    ScriptBuilder script;
    script.add_class("all");
    const uint32_t strings = script.add_index("strings", VARCHAR);
    const uint32_t numbers = script.add_index("numbers", SHORT);
    const uint32_t key = script.add_varchar_key("key"), minus = script.add_int32_key(-7);
    const uint32_t phase = script.add_phase("test", 1, {.recorded = recorded});
    ThreadBuilder out = script.thread(phase, 0);
    out.create(strings);
    out.create(numbers);
    out.open(0, strings);
    out.open(1, numbers);
    out.insert(1, minus, {.tag = 1, .text = 0});
    out.begin(Kind::kScript, 0);
    out.insert(0, key, {.tag = 2, .text = 0});
    out.get(0, key);
    out.next(0, 1);
    out.get(1, minus);
    out.delete_pair(1, minus, {.tag = 1, .text = 0});
    out.delete_key(1, minus);
    out.commit();
    out.close(0);
    out.close(1);
    return script.build();
  }
};

TEST_F(RecordingTest, EveryCallIsThere) {
  const Outcome outcome = testing::play(script(true), testing::test_index({}));
  const ThreadResult& result = outcome.phases[0].threads[0];
  const auto minus = static_cast<uint64_t>(int64_t{-7});
  const uint64_t one = hash("AAAAAAAB"), two = hash("AAAAAAAC");
  const std::vector<Expected> expected = {
      {EventCall::kCreate, false, SUCCESS, 0, 0, 0},
      {EventCall::kCreate, false, SUCCESS, 1, 0, 0},
      {EventCall::kOpen, false, SUCCESS, 0, 0, 0},
      {EventCall::kOpen, false, SUCCESS, 1, 0, 0},
      {EventCall::kInsert, true, SUCCESS, 1, minus, one},
      {EventCall::kBegin, false, SUCCESS, 0, 0, 0},
      {EventCall::kInsert, false, SUCCESS, 0, hash("key"), two},
      {EventCall::kGet, false, SUCCESS, 0, hash("key"), two},
      {EventCall::kNext, false, DB_END, 0, 0, 0},
      {EventCall::kGet, false, SUCCESS, 1, minus, one},
      {EventCall::kDeletePair, false, SUCCESS, 1, minus, one},
      {EventCall::kDeleteKey, false, KEY_NOTFOUND, 1, minus, 0},
      {EventCall::kCommit, false, SUCCESS, 0, 0, 0},
      {EventCall::kClose, false, SUCCESS, 0, 0, 0},
      {EventCall::kClose, false, SUCCESS, 1, 0, 0},
  };
  ASSERT_EQ(result.events.size(), expected.size());
  EXPECT_EQ(result.counters->events_full, 0u);
  uint64_t before = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    const Event& event = result.events[i];
    const uint8_t alone = expected[i].alone ? kEventAutoCommit : 0;
    EXPECT_EQ(event.call, static_cast<uint8_t>(expected[i].call) | alone);
    EXPECT_EQ(event.code, expected[i].code);
    EXPECT_EQ(event.index, expected[i].index);
    EXPECT_EQ(event.key, expected[i].key);
    EXPECT_EQ(event.payload, expected[i].payload);
    const bool inside = i >= 6 && i <= 12;  // of a transaction, behind its begin
    EXPECT_GE(event.end - event.duration, before);
    EXPECT_EQ(event.end - event.duration == before, inside);
    before = event.end;
  }
}

// What a thread waited for is not taken for a part of the call behind it.
TEST_F(RecordingTest, ACallBehindAPauseBeginsWhereItWasMade) {
  ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("numbers", SHORT), key = script.add_int32_key(1);
  ThreadBuilder out = script.thread(script.add_phase("test", 1, {.recorded = true}), 0);
  out.create(index);
  out.open(0, index);
  out.begin(Kind::kScript, 0);
  out.get(0, key);
  out.signal(0);
  out.get(0, key);
  out.get(0, key);
  out.commit();
  const Outcome outcome = testing::play(script.build(), testing::test_index({}));
  const std::vector<Event>& events = outcome.phases[0].threads[0].events;
  ASSERT_EQ(events.size(), 7u);
  EXPECT_GT(events[4].end - events[4].duration, events[3].end);
  EXPECT_EQ(events[5].end - events[5].duration, events[4].end);
}

TEST_F(RecordingTest, AFullLogSaysSo) {
  Script small = script(true);
  small.phases[0].log_capacity[0] = 4;
  const Outcome outcome = testing::play(small, testing::test_index({}));
  EXPECT_EQ(outcome.phases[0].threads[0].events.size(), 4u);
  EXPECT_EQ(outcome.phases[0].threads[0].counters->events_full, 1u);
}

TEST_F(RecordingTest, NothingIsRecordedUnlessAsked) {
  Script plain = script(false);
  const Outcome outcome = testing::play(plain, testing::test_index({}));
  EXPECT_TRUE(outcome.phases[0].threads[0].events.empty());
  record_all(plain);
  const Outcome recorded = testing::play(plain, testing::test_index({}));
  EXPECT_EQ(recorded.phases[0].threads[0].events.size(), 15u);
}

// A thread's log has room for many attempts of a few calls, and for a few of very many: memory that
// the referee touches before the phase.
TEST(LogCapacity, GrowsWithTheMeanOfAttempts) {
  const auto capacity = [](uint32_t calls) {
    ScriptBuilder script;
    script.add_class("all");
    script.add_index("numbers", INT);
    script.add_int64_key(1);
    ThreadBuilder out = script.thread(script.add_phase("test", 1, {.recorded = true}), 0);
    out.open(0, 0);
    out.begin(Kind::kScript, 0);
    out.next(0, calls);
    out.commit();
    out.close(0);
    return script.build().phases[0].log_capacity[0];
  };
  EXPECT_EQ(capacity(996), 16'000u);
  constexpr uint64_t kMore = 10'000'000, kBytesPerEvent = 32;
  const uint64_t added = capacity(1'000'000 + kMore) - capacity(1'000'000);
  EXPECT_GE(added, 2 * kMore) << "some are tried again";
  EXPECT_LE(added * kBytesPerEvent, uint64_t{2} << 30) << "the referee has more to keep";
}

class EventClockTest : public ::testing::TestWithParam<EventClock::Source> {};

// A stamp taken after another one's value was passed on is never below it.
TEST_P(EventClockTest, StampsFollowWhatThreadsTellEachOther) {
  EventClock clock(GetParam());
  std::atomic<uint64_t> passed{0};
  std::atomic<uint64_t> backwards{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20'000; ++i) {
          const uint64_t seen = passed.load();
          if (clock.after() < seen) ++backwards;  // before() may be taken ahead of the load
          passed.store(clock.after());
        }
      });
    }
  }
  EXPECT_EQ(backwards, 0u);
}

// Fails on a machine whose processors' counters disagree: recorded runs are slow there.
TEST(EventClock, UsesTheCounterWhereItIsConstant) {
  const bool constant = TickClock().uses_counter();
  EXPECT_EQ(EventClock().source(),
            constant ? EventClock::Source::kTimeStampCounter : EventClock::Source::kSharedCounter);
}

INSTANTIATE_TEST_SUITE_P(Sources, EventClockTest,
                         ::testing::Values(EventClock().source(),
                                           EventClock::Source::kSharedCounter),
                         [](const auto& source) {
                           return "Number" + std::to_string(source.index);
                         });

}  // namespace
}  // namespace keydrome
