// Tests the judge of logs (judge/recorded/log_judge.h): it must accept every log that the player,
// the process that calls the library, writes. It must reject logs that were changed afterwards.
#include "benchmarks/kit/judge/recorded/log_judge.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {

using history::Event;
using history::EventCall;
using history::kEventAutoCommit;

namespace {

// Returns a script of one thread with every kind of call: aborts, transactions with one attempt,
// auto-commit calls, handles opened in a transaction, deletes of records that were read, and a scan
// to the end.
script::Script script_of(KeyType type) {
  script::ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("records", type);
  const auto key = [&](int number) {
    if (type == SHORT) return script.add_int32_key(number);
    if (type == INT) return script.add_int64_key(number);
    return script.add_varchar_key("key " + std::to_string(100 + number));
  };
  const uint32_t text = script.add_text("a text");
  const uint32_t phase = script.add_phase("test", 1, {.recorded = true});
  script::ThreadBuilder out = script.thread(phase, 0);
  out.create(index);
  out.open(0, index);
  for (int i = 0; i < 12; ++i) out.insert(0, key(i - 6), script.new_payload(text));
  for (int i = 0; i < 12; ++i) {
    out.begin(format::Kind::kStream, 0, i % 3 == 0 ? format::kOneAttempt : 0);
    out.get(0, key(i - 6), format::kKeep);
    out.next(0, 2);
    if (i % 4 == 0) out.open(1, index);
    out.delete_read(0);
    out.insert(0, key(i), script.new_payload(0));
    out.delete_key(0, key(-i));
    if (i % 4 == 0) out.close(1);
    i % 5 == 0 ? out.abort() : out.commit();
  }
  out.begin(format::Kind::kScript, 0);
  out.next_to_end(0, 100);
  out.commit();
  out.close(0);
  return script.build();
}

// Judges the logs. Returns the findings as text, or an empty text if the logs fit.
std::string judged(const script::Script& script, const script::Outcome& outcome) {
  judge::Findings findings("test");
  const bool fits = judge::judge_logs(script, outcome, findings);
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
    const script::Script script = script_of(type);
    for (std::size_t i = 0; i < faults.size(); ++i) {
      const script::Outcome outcome = testing::play(script, testing::test_index(faults[i]));
      EXPECT_EQ(judged(script, outcome), "") << "type " << type << " faults " << i;
    }
  }
}

// Returns a script whose first transaction continues after DEADLOCK.
script::Script script_that_continues() {
  script::ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("records", INT);
  const uint32_t key = script.add_int64_key(1);
  const uint32_t text = script.add_text("a text");
  const uint32_t phase = script.add_phase("test", 1, {.recorded = true});
  script::ThreadBuilder out = script.thread(phase, 0);
  out.create(index);
  out.open(0, index);
  out.begin(format::Kind::kScript, 0, format::kOneAttempt | format::kAnyCode);
  out.get(0, key);
  out.commit();
  out.begin(format::Kind::kScript, 0);
  out.insert(0, key, script.new_payload(text));
  out.commit();
  out.close(0);
  return script.build();
}

uint32_t aborts_made = 0;

// After DEADLOCK, the commit may return TXN_DNE. The player then calls abortTransaction. The log
// and the words (8 bytes per call) must both contain this call.
TEST(LogJudge, AnAbortAfterACommitWithoutTransactionIsRecorded) {
  static player::IndexApi real;
  static bool is_first;
  real = testing::test_index({});
  is_first = true;
  aborts_made = 0;
  player::IndexApi api = real;
  api.get = [](IdxState*, TxnState*, Record*) { return DEADLOCK; };
  api.commitTransaction = [](TxnState* transaction) {
    return std::exchange(is_first, false) ? TXN_DNE : real.commitTransaction(transaction);
  };
  api.abortTransaction = [](TxnState* transaction) {
    ++aborts_made;
    return real.abortTransaction(transaction);
  };
  const script::Script script = script_that_continues();
  const script::Outcome outcome = testing::play(script, api);
  EXPECT_EQ(judged(script, outcome), "");
  const script::ThreadResult& thread = outcome.phases[0].threads[0];
  EXPECT_EQ(aborts_made, 1u);
  EXPECT_EQ(thread.totals.calls, thread.events.size());
}

// Returns a script whose first transaction closes its handle, opens the index again, and commits.
script::Script script_that_reopens(uint8_t flags) {
  script::ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("records", INT);
  const uint32_t key = script.add_int64_key(1);
  const uint32_t phase = script.add_phase("test", 1, {.recorded = true});
  script::ThreadBuilder out = script.thread(phase, 0);
  out.create(index);
  out.open(0, index);
  out.begin(format::Kind::kScript, 0, flags);
  out.get(0, key);
  out.close(0);
  out.open(0, index);
  out.next(0, 1);
  out.commit();
  out.begin(format::Kind::kScript, 0);
  out.get(0, key);
  out.commit();
  out.close(0);
  return script.build();
}

// A library may give a new handle the address of a closed one, as malloc() often does. The address
// does not show whether the attempt has reopened the handle.
TEST(LogJudge, AReusedAddressOfAHandleIsNoForgery) {
  static player::IndexApi real;
  static IdxState* closed;
  static bool is_first;
  for (const uint8_t flags : {format::kOneAttempt, uint8_t{0}}) {
    real = testing::test_index({});
    closed = nullptr;
    is_first = true;
    player::IndexApi api = real;
    api.openIndex = [](const char* name, IdxState** handle) {
      if (closed == nullptr) return real.openIndex(name, handle);
      *handle = std::exchange(closed, nullptr);
      return SUCCESS;
    };
    api.closeIndex = [](IdxState* handle) {
      closed = handle;
      return SUCCESS;
    };
    api.commitTransaction = [](TxnState* transaction) {
      return std::exchange(is_first, false) ? DEADLOCK : real.commitTransaction(transaction);
    };
    const script::Script script = script_that_reopens(flags);
    const script::Outcome outcome = testing::play(script, api);
    EXPECT_FALSE(is_first);
    EXPECT_EQ(judged(script, outcome), "") << "flags " << int{flags};
    real.closeIndex(closed);
  }
}

TEST(LogJudge, ALibraryWithoutTransactionsIsNoForger) {
  const script::Script script = script_of(INT);
  const script::Outcome outcome =
      testing::play(script, testing::test_index({.success_only = true}));
  judge::Findings findings("test");
  EXPECT_TRUE(judge::judge_logs(script, outcome, findings));
  EXPECT_EQ(findings.count("illegal_answer"), 1u);
}

// A change of a log that the judge must detect.
struct Forgery {
  const char* name;
  std::function<void(script::ThreadResult&)> change;
};

// Replaces the log, and sets the reported number of events to the length of the new log.
void set_events(script::ThreadResult& thread, std::vector<Event> events) {
  thread.events = std::move(events);
  thread.reported->events = thread.events.size();
}

// Returns the position of the first event of this call.
std::size_t find(const script::ThreadResult& thread, EventCall call) {
  std::size_t at = 0;
  while ((thread.events[at].call & ~kEventAutoCommit) != static_cast<uint8_t>(call)) ++at;
  return at;
}

TEST(LogJudge, AForgedLogIsReported) {
  const std::vector<Forgery> forgeries = {
      {"empty", [](script::ThreadResult& t) { set_events(t, {}); }},
      {"truncated",
       [](script::ThreadResult& t) { set_events(t, {t.events.begin(), t.events.end() - 1}); }},
      {"longer",
       [](script::ThreadResult& t) {
         std::vector<Event> events = t.events;
         events.push_back(events.back());
         set_events(t, events);
       }},
      {"one call missing",
       [](script::ThreadResult& t) {
         std::vector<Event> events = t.events;
         events.erase(events.begin() + 20);
         set_events(t, events);
       }},
      {"two inserts swapped",
       [](script::ThreadResult& t) {
         const std::size_t first = find(t, EventCall::kInsert);
         std::swap(t.events[first], t.events[first + 1]);
       }},
      {"another key", [](script::ThreadResult& t) { t.events[find(t, EventCall::kGet)].key ^= 1; }},
      {"another payload",
       [](script::ThreadResult& t) { t.events[find(t, EventCall::kInsert)].payload ^= 1; }},
      {"another payload deleted",
       [](script::ThreadResult& t) { t.events[find(t, EventCall::kDeletePair)].payload ^= 1; }},
      {"another index",
       [](script::ThreadResult& t) { ++t.events[find(t, EventCall::kNext)].index; }},
      {"another handle",
       [](script::ThreadResult& t) {
         t.events[find(t, EventCall::kNext)].call ^= 1u << history::kEventHandleShift;
       }},
      {"a handle of a commit",
       [](script::ThreadResult& t) {
         t.events[find(t, EventCall::kCommit)].call |= 1u << history::kEventHandleShift;
       }},
      {"another call",
       [](script::ThreadResult& t) {
         t.events[find(t, EventCall::kCommit)].call = static_cast<uint8_t>(EventCall::kAbort);
       }},
      {"an insert outside its transaction",
       [](script::ThreadResult& t) {
         t.events[find(t, EventCall::kInsert)].call ^= kEventAutoCommit;
       }},
      {"a commit that returned DEADLOCK and needs a retry",
       [](script::ThreadResult& t) { t.events[find(t, EventCall::kCommit)].code = DEADLOCK; }},
      {"another end of a transaction",
       [](script::ThreadResult& t) { t.ends[15] = script::TransactionEnd::kFailed; }},
  };
  for (const Forgery& forgery : forgeries) {
    const script::Script script = script_of(VARCHAR);
    script::Outcome outcome = testing::play(script, testing::test_index({.deadlock_every = 53}));
    ASSERT_EQ(judged(script, outcome), "");
    forgery.change(outcome.phases[0].threads[0]);
    EXPECT_NE(judged(script, outcome), "") << forgery.name;
  }
}

TEST(LogJudge, AFullLogIsFollowedUpToItsEnd) {
  script::Script script = script_of(INT);
  script.phases[0].log_capacity[0] = 25;
  script::Outcome outcome = testing::play(script, testing::test_index({}));
  ASSERT_EQ(outcome.phases[0].threads[0].reported->events_full, 1u);
  EXPECT_EQ(judged(script, outcome), "");
  ++outcome.phases[0].threads[0].events[24].index;
  EXPECT_NE(judged(script, outcome), "");
}

}  // namespace
}  // namespace keydrome
