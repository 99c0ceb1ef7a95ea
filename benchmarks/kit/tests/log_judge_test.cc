// The recorded log against the program: every log that the player writes fits, and hardly a change
// of one does.
#include "benchmarks/kit/log_judge.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

// One thread with everything that makes calls: retries, one attempt only, aborts, auto-commit,
// handles opened within, what was read deleted, repeated bodies, scans to the end.
Script script_of(KeyType type) {
  ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("records", type);
  const auto key = [&](int number) {
    if (type == SHORT) return script.add_int32_key(number);
    if (type == INT) return script.add_int64_key(number);
    return script.add_varchar_key("key " + std::to_string(100 + number));
  };
  const uint32_t text = script.add_text("a text");
  const uint32_t phase = script.add_phase("test", 1, {.recorded = true});
  ThreadBuilder out = script.thread(phase, 0);
  out.create(index);
  out.open(0, index);
  for (int i = 0; i < 12; ++i) out.insert(0, key(i - 6), script.new_payload(text));
  for (int i = 0; i < 12; ++i) {
    out.begin(Kind::kStream, 0, i % 3 == 0 ? kOneAttempt : 0);
    out.get(0, key(i - 6), kKeep);
    out.next(0, 2);
    if (i % 4 == 0) out.open(1, index);
    out.delete_read(0);
    out.insert(0, key(i), script.new_payload(0));
    out.delete_key(0, key(-i));
    if (i % 4 == 0) out.close(1);
    i % 5 == 0 ? out.abort() : out.commit();
  }
  out.begin(Kind::kScript, 0);
  out.next_to_end(0, 100);
  out.commit();
  out.close(0);
  return script.build();
}

std::string judged(const Script& script, const Outcome& outcome) {
  Findings findings("test");
  const bool fits = judge_logs(script, outcome, findings);
  EXPECT_EQ(fits, findings.empty());
  EXPECT_EQ(findings.count("forged_log") > 0, !fits);
  return testing::text_of(findings);
}

TEST(LogJudge, WhatThePlayerRecordsFits) {
  const std::vector<testing::Faults> faults = {
      {},
      {.denies_deletes = true},
      {.changes_payload_every = 3},
      {.fails_every = 5},
      {.odd_code_every = 4},
      {.deadlock_every = 31},
      {.deadlock_every = 47},
      {.deadlock_every = 101},
      {.fails_every = 4, .odd_code_every = 7, .deadlock_every = 37},
  };
  for (const KeyType type : {SHORT, INT, VARCHAR}) {
    const Script script = script_of(type);
    for (std::size_t i = 0; i < faults.size(); ++i) {
      const Outcome outcome = testing::play(script, testing::test_index(faults[i]));
      EXPECT_EQ(judged(script, outcome), "") << "type " << type << " faults " << i;
    }
  }
}

TEST(LogJudge, ALibraryWithoutTransactionsIsNoForger) {
  const Script script = script_of(INT);
  const Outcome outcome = testing::play(script, testing::test_index({.success_only = true}));
  Findings findings("test");
  EXPECT_TRUE(judge_logs(script, outcome, findings));
  EXPECT_EQ(findings.count("illegal_answer"), 1u);
}

struct Forgery {
  const char* name;
  std::function<void(ThreadResult&)> change;
};

// The log as a liar would have it, with the player's counter to match.
void set_events(ThreadResult& thread, std::vector<Event> events) {
  thread.events = std::move(events);
  thread.counters->calls = thread.events.size();
  thread.counters->events = thread.events.size();
}

std::size_t find(const ThreadResult& thread, EventCall call) {
  std::size_t at = 0;
  while ((thread.events[at].call & ~kEventAutoCommit) != static_cast<uint8_t>(call)) ++at;
  return at;
}

TEST(LogJudge, AForgedLogIsTold) {
  const std::vector<Forgery> forgeries = {
      {"empty", [](ThreadResult& t) { set_events(t, {}); }},
      {"truncated", [](ThreadResult& t) { set_events(t, {t.events.begin(), t.events.end() - 1}); }},
      {"longer",
       [](ThreadResult& t) {
         std::vector<Event> events = t.events;
         events.push_back(events.back());
         set_events(t, events);
       }},
      {"lacks a call",
       [](ThreadResult& t) {
         std::vector<Event> events = t.events;
         events.erase(events.begin() + 20);
         set_events(t, events);
       }},
      {"counted otherwise", [](ThreadResult& t) { ++t.counters->calls; }},
      {"two inserts swapped",
       [](ThreadResult& t) {
         const std::size_t first = find(t, EventCall::kInsert);
         std::swap(t.events[first], t.events[first + 1]);
       }},
      {"another key", [](ThreadResult& t) { t.events[find(t, EventCall::kGet)].key ^= 1; }},
      {"another payload",
       [](ThreadResult& t) { t.events[find(t, EventCall::kInsert)].payload ^= 1; }},
      {"another deletion",
       [](ThreadResult& t) { t.events[find(t, EventCall::kDeletePair)].payload ^= 1; }},
      {"another index", [](ThreadResult& t) { ++t.events[find(t, EventCall::kNext)].index; }},
      {"another call",
       [](ThreadResult& t) {
         t.events[find(t, EventCall::kCommit)].call = static_cast<uint8_t>(EventCall::kAbort);
       }},
      {"not in its transaction",
       [](ThreadResult& t) { t.events[find(t, EventCall::kInsert)].call ^= kEventAutoCommit; }},
      {"an answer that asks for more",
       [](ThreadResult& t) { t.events[find(t, EventCall::kCommit)].code = DEADLOCK; }},
      {"another end", [](ThreadResult& t) { t.ends[15] = TransactionEnd::kFailed; }},
  };
  for (const Forgery& forgery : forgeries) {
    const Script script = script_of(VARCHAR);
    Outcome outcome = testing::play(script, testing::test_index({.deadlock_every = 53}));
    ASSERT_EQ(judged(script, outcome), "");
    forgery.change(outcome.phases[0].threads[0]);
    EXPECT_NE(judged(script, outcome), "") << forgery.name;
  }
}

TEST(LogJudge, AFullLogIsFollowedUpToItsEnd) {
  Script script = script_of(INT);
  script.phases[0].log_capacity[0] = 25;
  Outcome outcome = testing::play(script, testing::test_index({}));
  ASSERT_EQ(outcome.phases[0].threads[0].counters->events_full, 1u);
  EXPECT_EQ(judged(script, outcome), "");
  ++outcome.phases[0].threads[0].events[24].index;
  EXPECT_NE(judged(script, outcome), "");
}

}  // namespace
}  // namespace keydrome
