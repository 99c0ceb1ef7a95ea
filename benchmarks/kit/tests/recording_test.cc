// Tests the log of a recorded phase, in which every call of a thread is logged. The log must
// contain the calls in order, with timestamps that prove their real-time order.
#include "benchmarks/kit/player/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/player/event_clock.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "checker/history/calls.h"

namespace keydrome {

using history::Event;
using history::EventCall;
using history::kEventAutoCommit;

namespace {

uint64_t hash(const std::string& text) { return hash_bytes(text); }

// An event that the log must contain. `alone` is true for auto-commit calls.
struct Expected {
  EventCall call;
  bool alone;
  ErrCode code;
  uint16_t index;
  uint64_t key, payload;
};

class RecordingTest : public ::testing::Test {
 protected:
  // A program of one thread on an index with string keys and an index with int32 keys.
  script::Script script(bool recorded) {
    script::ScriptBuilder script;
    script.add_class("all");
    const uint32_t strings = script.add_index("strings", VARCHAR);
    const uint32_t numbers = script.add_index("numbers", SHORT);
    const uint32_t key = script.add_varchar_key("key"), minus = script.add_int32_key(-7);
    const uint32_t phase = script.add_phase("test", 1, {.recorded = recorded});
    script::ThreadBuilder out = script.thread(phase, 0);
    out.create(strings);
    out.create(numbers);
    out.open(0, strings);
    out.open(1, numbers);
    out.insert(1, minus, {.tag = 1, .text = 0});
    out.begin(format::Kind::kScript, 0);
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
  const script::Outcome outcome = testing::play(script(true), testing::test_index({}));
  const script::ThreadResult& result = outcome.phases[0].threads[0];
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
  EXPECT_EQ(result.reported->events_full, 0u);
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
    const bool inside = i >= 6 && i <= 12;  // after the begin of the transaction
    EXPECT_GE(event.end - event.duration, before);
    EXPECT_EQ(event.end - event.duration == before, inside);
    before = event.end;
  }
}

// A handle has the smallest number that no other open handle of its index has. The events of a log
// must have the same numbers as the events that are made from words, 8 bytes per call.
TEST_F(RecordingTest, AnEventHasTheNumberOfItsHandle) {
  for (const bool recorded : {true, false}) {
    script::ScriptBuilder script;
    script.add_class("all");
    const uint32_t first = script.add_index("first", SHORT);
    const uint32_t second = script.add_index("second", SHORT);
    const uint32_t key = script.add_int32_key(1);
    script::ThreadBuilder out =
        script.thread(script.add_phase("test", 1, {.recorded = recorded}), 0);
    out.create(first);
    out.create(second);
    const auto get = [&](uint8_t slot) { out.get(slot, key); };
    std::vector<uint32_t> expected;
    for (const uint8_t slot : std::to_array<uint8_t>({4, 2, 7})) {
      out.open(slot, first);
      get(slot);
      expected.push_back(static_cast<uint32_t>(expected.size()));
    }
    out.open(3, second);
    get(3);
    expected.push_back(0);
    out.close(2);
    out.open(5, first);  // takes the free number
    get(5);
    expected.push_back(1);
    get(7);
    expected.push_back(2);
    for (uint8_t slot = 8; slot < 14; ++slot) {
      out.open(slot, first);
      get(slot);
      expected.push_back(std::min<uint32_t>(slot - 5u, history::kEventManyHandles));
    }
    const script::Outcome outcome =
        testing::play(script.build(), testing::test_index({}), /*keep_calls=*/!recorded);
    std::vector<uint32_t> found;
    for (const Event& event : outcome.phases[0].threads[0].events) {
      if (call_of(event) == EventCall::kGet) found.push_back(handle_of(event));
    }
    EXPECT_EQ(found, expected) << recorded;
  }
}

// The begin time of a call is normally the end time of the previous call. After a pause, the call
// must have its own begin time, so that the pause is not part of the call.
TEST_F(RecordingTest, ACallAfterAPauseBeginsWhereItWasMade) {
  script::ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("numbers", SHORT), key = script.add_int32_key(1);
  script::ThreadBuilder out = script.thread(script.add_phase("test", 1, {.recorded = true}), 0);
  out.create(index);
  out.open(0, index);
  out.begin(format::Kind::kScript, 0);
  out.get(0, key);
  out.signal(0);
  out.get(0, key);
  out.get(0, key);
  out.commit();
  const script::Outcome outcome = testing::play(script.build(), testing::test_index({}));
  const std::vector<Event>& events = outcome.phases[0].threads[0].events;
  ASSERT_EQ(events.size(), 7u);
  EXPECT_GT(events[4].end - events[4].duration, events[3].end);
  EXPECT_EQ(events[5].end - events[5].duration, events[4].end);
}

TEST_F(RecordingTest, AFullLogSaysSo) {
  script::Script small = script(true);
  small.phases[0].log_capacity[0] = 4;
  const script::Outcome outcome = testing::play(small, testing::test_index({}));
  EXPECT_EQ(outcome.phases[0].threads[0].events.size(), 4u);
  EXPECT_EQ(outcome.phases[0].threads[0].reported->events_full, 1u);
}

TEST_F(RecordingTest, NothingIsRecordedUnlessAsked) {
  script::Script plain = script(false);
  const script::Outcome outcome = testing::play(plain, testing::test_index({}));
  EXPECT_TRUE(outcome.phases[0].threads[0].events.empty());
  script::record_all(plain);
  const script::Outcome recorded = testing::play(plain, testing::test_index({}));
  EXPECT_EQ(recorded.phases[0].threads[0].events.size(), 15u);
}

// If a thread makes few calls, its log has room for many attempts of each call. If a thread makes
// many calls, its log has room for fewer attempts of each call. The room is limited, because the
// process that creates a log touches all its memory.
TEST(LogCapacity, GrowsWithTheMeanOfAttempts) {
  const auto capacity = [](uint32_t calls) {
    script::ScriptBuilder script;
    script.add_class("all");
    script.add_index("numbers", INT);
    script.add_int64_key(1);
    script::ThreadBuilder out = script.thread(script.add_phase("test", 1, {.recorded = true}), 0);
    out.open(0, 0);
    out.begin(format::Kind::kScript, 0);
    out.next(0, calls);
    out.commit();
    out.close(0);
    return script.build().phases[0].log_capacity[0];
  };
  EXPECT_EQ(capacity(996), 16'000u);
  constexpr uint64_t kMore = 10'000'000, kBytesPerEvent = 32;
  const uint64_t added = capacity(1'000'000 + kMore) - capacity(1'000'000);
  EXPECT_GE(added, 2 * kMore) << "a log needs room for calls that are made again after DEADLOCK";
  EXPECT_LE(added * kBytesPerEvent, uint64_t{2} << 30)
      << "the log takes more memory than 2 GiB for 10,000,000 calls";
}

class EventClockTest : public ::testing::TestWithParam<player::EventClock::Source> {};

// A timestamp that a thread takes after it has read another thread's timestamp must not be less
// than that timestamp.
TEST_P(EventClockTest, TimestampsFollowWhatThreadsPassToEachOther) {
  player::EventClock clock(GetParam());
  std::atomic<uint64_t> passed{0};
  std::atomic<uint64_t> backwards{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20'000; ++i) {
          const uint64_t seen = passed.load();
          if (clock.after() < seen) ++backwards;  // before() might read the clock before the load
          passed.store(clock.after());
        }
      });
    }
  }
  EXPECT_EQ(backwards, 0u);
}

// This test fails on a machine whose processors' time-stamp counters disagree. Recorded runs are
// slow on such a machine.
TEST(EventClock, UsesTheCounterWhereItIsConstant) {
  const bool constant = TickClock().uses_counter();
  EXPECT_EQ(player::EventClock().source(), constant ? player::EventClock::Source::kTimeStampCounter
                                                    : player::EventClock::Source::kSharedCounter);
}

INSTANTIATE_TEST_SUITE_P(Sources, EventClockTest,
                         ::testing::Values(player::EventClock().source(),
                                           player::EventClock::Source::kSharedCounter),
                         [](const auto& source) {
                           return "Number" + std::to_string(source.index);
                         });

}  // namespace
}  // namespace keydrome
