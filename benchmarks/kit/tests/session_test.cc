// The player's interpreter against a real index in the process, and against one that answers as a
// test wants.
#include "benchmarks/kit/session.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

using testing::play;
using testing::test_index;
using testing::text_of;

// The calls of an API with single functions replaced; one test at a time.
IndexApi real;
uint64_t opened = 0, closed = 0, begun = 0, aborted = 0, answers = 0;

ErrCode counting_open(const char* name, IdxState** handle) {
  ++opened;
  return real.openIndex(name, handle);
}
ErrCode counting_close(IdxState* handle) {
  ++closed;
  return real.closeIndex(handle);
}
ErrCode counting_abort(TxnState* transaction) {
  ++aborted;
  return real.abortTransaction(transaction);
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    real = test_index({});
    opened = closed = begun = aborted = answers = 0;
    script_.add_class("check");
    index_ = script_.add_index("index", VARCHAR);
    a_ = script_.add_varchar_key("a");
    b_ = script_.add_varchar_key("b");
    create_ = script_.add_phase("create", 1, {});
    script_.thread(create_, 0).create(index_);
    test_ = script_.add_phase("test", 1, {.timed = true});
  }

  ThreadBuilder out() { return script_.thread(test_, 0); }
  const ThreadResult& result(const Outcome& outcome) const {
    return outcome.phases[test_].threads[0];
  }

  ScriptBuilder script_;
  uint32_t index_ = 0, a_ = 0, b_ = 0, create_ = 0, test_ = 0;
};

// Counts the attempts of a transaction that is answered DEADLOCK in its last get until the fifth
// attempt.
ErrCode get_fifth_time(IdxState* handle, TxnState* transaction, Record* record) {
  if (std::string(record->key.keyval.charkey) == "b" && ++answers < 5) return DEADLOCK;
  return real.get(handle, transaction, record);
}

TEST_F(SessionTest, ARetriedTransactionLeavesOneTrace) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(Kind::kStripe, 0);
  thread.open(1, index_);
  thread.insert(1, a_, script_.new_payload(0), kEvidence | kDigest);
  thread.get(0, a_, kEvidence | kDigest);
  thread.get(0, b_, kEvidence | kDigest);
  thread.close(1);
  thread.commit();
  thread.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.get = get_fifth_time;
  api.openIndex = counting_open;
  api.closeIndex = counting_close;
  api.abortTransaction = counting_abort;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).counters->deadlocks, 4u);
  EXPECT_EQ(result(outcome).counters->committed[0], 1u);
  EXPECT_EQ(aborted, 4u);
  EXPECT_EQ(opened, 1u + 5);  // every attempt opens its own handle
  EXPECT_EQ(closed, 1u + 5);  // and none is left open
  std::size_t records = 0;
  EXPECT_TRUE(for_each_evidence(script.phases[test_].threads[0], result(outcome),
                                [&](const Step&, std::span<const Evidence>) { ++records; }));
  EXPECT_EQ(records, 3u);
  Findings findings;
  judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

// Goes backwards once and then says DEADLOCK, in the first attempt only.
ErrCode backwards_then_deadlock(IdxState* handle, TxnState* transaction, Record* record) {
  ++answers;
  if (answers == 2) return DEADLOCK;
  const ErrCode code = real.getNext(handle, transaction, record);
  if (answers == 1) record->key.keyval.charkey[0] = 'A';
  return code;
}

// The reads of a doomed attempt may be inconsistent.
TEST_F(SessionTest, OrderViolationsGoWithTheAttempt) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(Kind::kStream, 0);
  thread.insert(0, b_, script_.new_payload(0));
  thread.begin(Kind::kStream, 0);
  thread.get(0, a_);
  thread.next(0, 2);
  thread.commit();
  thread.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.getNext = backwards_then_deadlock;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(answers, 4u);
  EXPECT_EQ(result(outcome).counters->deadlocks, 1u);
  EXPECT_EQ(result(outcome).counters->order_violations, 0u);
}

// Fails what is asked for without a transaction, and deadlocks the second get of one.
ErrCode second_get_deadlocks(IdxState* handle, TxnState* transaction, Record* record) {
  if (transaction != nullptr && ++answers == 2) return DEADLOCK;
  return real.get(handle, transaction, record);
}

// Auto-commit calls beside a transaction, once in one that runs again and once in one that does
// not: the counters fit the ends, or the outcome could not be read.
TEST_F(SessionTest, AnAutoCommitScanBehindATransactionMayStartBeforeItsGet) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.insert(0, a_, script_.new_payload(0));
  thread.insert(0, b_, script_.new_payload(0));
  thread.begin(Kind::kStream, 0);
  thread.get(0, b_);
  thread.commit();
  thread.next(0, 1);
  thread.close(0);
  const Outcome outcome = play(script_.build(), real);
  EXPECT_EQ(result(outcome).counters->order_violations, 0u);
}

TEST_F(SessionTest, AutoCommitCallsInsideATransactionCountOnce) {
  for (const uint8_t flags : {uint8_t{0}, kOneAttempt}) {
    SCOPED_TRACE(flags);
    ScriptBuilder script;
    script.add_class("check");
    const uint32_t index = script.add_index("index", VARCHAR);
    const uint32_t key = script.add_varchar_key("a");
    script.thread(script.add_phase("create", 1, {}), 0).create(index);
    ThreadBuilder thread = script.thread(script.add_phase("test", 1, {}), 0);
    thread.auto_commit_as(Kind::kScript, 0);
    thread.open(0, index);
    thread.begin(Kind::kScript, 0, flags);
    thread.get(0, key);
    thread.insert(0, key, script.new_payload(0), kAutoCommit);
    thread.get(0, key);
    thread.delete_key(0, key, kAutoCommit);
    thread.commit();
    thread.close(0);
    const Script built = script.build();
    answers = 0;
    real = test_index({});
    IndexApi api = real;
    api.get = second_get_deadlocks;
    const Outcome outcome = play(built, api);
    const ThreadResult& result = outcome.phases[1].threads[0];
    using enum TransactionEnd;
    EXPECT_EQ(result.ends, flags == 0 ? (std::vector{kCommitted, kCommitted, kCommitted})
                                      : (std::vector{kDeadlocked, kCommitted, kNotRun}));
    Findings findings;
    judge_script(built, outcome, findings);
    EXPECT_TRUE(findings.empty()) << text_of(findings);
  }
}

ErrCode always_deadlock(TxnState**) { return DEADLOCK; }

TEST_F(SessionTest, ATransactionThatNeverBeginsIsGivenUp) {
  ThreadBuilder thread = out();
  thread.begin(Kind::kStream, 0);
  thread.commit();
  const Script script = script_.build();
  IndexApi api = real;
  api.beginTransaction = always_deadlock;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).counters->failed, 1u);
  EXPECT_GE(result(outcome).counters->deadlocks, kAttemptsMax);
  Findings findings;
  judge_script(script, outcome, findings);
  EXPECT_EQ(findings.count("no_progress"), 1u) << text_of(findings);
}

ErrCode failing_get(IdxState*, TxnState*, Record*) { return FAILURE; }

// A thread that waits for a signal inside another thread's failed transaction must not wait for
// ever.
TEST_F(SessionTest, AFailedTransactionStillSignals) {
  const uint32_t phase = script_.add_phase("signals", 2, {});
  ThreadBuilder failing = script_.thread(phase, 0), waiting = script_.thread(phase, 1);
  failing.open(0, index_);
  failing.begin(Kind::kScript, 0);
  failing.get(0, a_);
  failing.signal(3);
  failing.commit();
  failing.begin(Kind::kScript, 0);
  failing.commit();
  failing.close(0);
  waiting.wait(3, 1);
  const Script script = script_.build();
  IndexApi api = real;
  api.get = failing_get;
  const Outcome outcome = play(script, api);
  const ThreadResult& thread = outcome.phases[phase].threads[0];
  EXPECT_EQ(thread.ends, (std::vector{TransactionEnd::kFailed, TransactionEnd::kCommitted}));
  EXPECT_EQ(thread.counters->code_violations, 1u);
  EXPECT_EQ(thread.counters->first_violation.code, static_cast<uint32_t>(FAILURE));
  EXPECT_EQ(thread.counters->first_violation.op, 2u);
}

ErrCode failing_open(const char*, IdxState**) { return FAILURE; }

TEST_F(SessionTest, AnIndexThatDoesNotOpenIsNeverCalled) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(Kind::kStream, 0);
  thread.get(0, a_);
  thread.commit();
  thread.auto_commit_as(Kind::kStream, 0);
  thread.get(0, a_);
  thread.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.openIndex = failing_open;
  api.get = nullptr;
  api.closeIndex = nullptr;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).ends, (std::vector{TransactionEnd::kFailed, TransactionEnd::kFailed}));
}

ErrCode endless_next(IdxState*, TxnState*, Record* record) {
  record->payload[0] = 'x';
  return SUCCESS;
}

TEST_F(SessionTest, AScanToTheEndEnds) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(Kind::kStream, 0);
  thread.next_to_end(0, 10);
  thread.commit();
  thread.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.getNext = endless_next;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).counters->first_violation.code, kCodeEndless);
}

// A library that writes no NUL, into key and payload alike.
ErrCode unterminated_next(IdxState*, TxnState*, Record* record) {
  std::memset(record->key.keyval.charkey, 'k', sizeof record->key.keyval.charkey);
  std::memset(record->payload, 'p', sizeof record->payload);
  return SUCCESS;
}

TEST_F(SessionTest, StringsWithoutAnEndAreCut) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(Kind::kStream, 0);
  thread.next(0, 1, kEvidenceAll);
  thread.commit();
  thread.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.getNext = unterminated_next;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).counters->trace_dropped, 1u);  // longer than any record of the script
  Findings findings;
  judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.failed());
}

TEST_F(SessionTest, EveryCallGetsAClearedRecord) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(Kind::kStream, 0);
  thread.insert(0, a_, script_.new_payload(script_.add_text(std::string(92, 't'))));
  thread.begin(Kind::kStream, 0);
  for (int i = 0; i < 3; ++i) {
    thread.get(0, a_);
    thread.next(0, 2);
    thread.get(0, b_);
    thread.delete_key(0, b_);
  }
  thread.commit();
  thread.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  static bool clean = true;
  clean = true;
  const auto check = [](const Record& record) {
    const std::size_t used = std::strlen(record.key.keyval.charkey);
    for (std::size_t i = used; i < sizeof record.key.keyval.charkey; ++i) {
      clean = clean && record.key.keyval.charkey[i] == 0;
    }
    for (const char letter : record.payload) clean = clean && letter == 0;
  };
  static const auto checked = check;
  api.get = [](IdxState* handle, TxnState* transaction, Record* record) {
    checked(*record);
    return real.get(handle, transaction, record);
  };
  api.getNext = [](IdxState* handle, TxnState* transaction, Record* record) {
    checked(*record);
    return real.getNext(handle, transaction, record);
  };
  api.deleteRecord = [](IdxState* handle, TxnState* transaction, Record* record) {
    checked(*record);
    return real.deleteRecord(handle, transaction, record);
  };
  play(script, api);
  EXPECT_TRUE(clean);
}

TEST_F(SessionTest, WindowsAndHistogramCountEveryCommit) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(Kind::kStream, 0);
  for (int i = 0; i < 1000; ++i) thread.get(0, a_);
  for (int i = 0; i < 500; ++i) {
    thread.begin(Kind::kStream, 0);
    thread.get(0, a_);
    thread.commit();
  }
  thread.close(0);
  const Outcome outcome = play(script_.build(), real);
  const ThreadOutcome& counters = *result(outcome).counters;
  uint64_t in_windows = 0, in_histogram = 0;
  for (const uint32_t count : counters.windows) in_windows += count;
  for (const uint32_t count : counters.histogram[0]) in_histogram += count;
  EXPECT_EQ(counters.committed[0], 1500u);
  EXPECT_EQ(in_windows, 1500u);
  EXPECT_EQ(in_histogram, 500u + (1000 + Recorder::kSampleEvery - 1) / Recorder::kSampleEvery);
  EXPECT_EQ(counters.gets, 1500u);
  EXPECT_EQ(counters.calls, 2u + 1000 + 1500);
}

ErrCode get_every_third_time(IdxState* handle, TxnState* transaction, Record* record) {
  return ++answers % 3 == 0 ? DEADLOCK : real.get(handle, transaction, record);
}

// Auto-commit calls run without a look back, until one of them has to be asked again.
TEST_F(SessionTest, AutoCommitRunsCountWhatHappened) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(Kind::kStream, 0);
  constexpr uint32_t kRounds = 100;
  for (uint32_t i = 0; i < kRounds; ++i) {
    const Payload payload = script_.new_payload(0);
    thread.insert(0, a_, payload);
    thread.get(0, a_);
    thread.get(0, b_);
    thread.get(0, a_, kEvidence);
    thread.delete_pair(0, a_, payload);
    thread.get(0, a_);
    thread.delete_key(0, b_);
  }
  thread.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.get = get_every_third_time;
  const Outcome outcome = play(script, api);
  const ThreadOutcome& counters = *result(outcome).counters;
  EXPECT_EQ(result(outcome).ends, std::vector(7 * kRounds, TransactionEnd::kCommitted));
  EXPECT_EQ(counters.committed[0], 7u * kRounds);
  EXPECT_EQ(counters.gets, 4u * kRounds);
  EXPECT_EQ(counters.get_hits, 2u * kRounds);
  EXPECT_EQ(counters.deadlocks, answers / 3);
  EXPECT_EQ(counters.calls, 2u + 7 * kRounds + answers / 3);
  uint64_t in_windows = 0;
  for (const uint32_t count : counters.windows) in_windows += count;
  EXPECT_EQ(in_windows, 7u * kRounds);
  Findings findings;
  judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

ErrCode delete_fails_second_time(IdxState*, TxnState*, Record*) {
  return ++answers == 2 ? FAILURE : KEY_NOTFOUND;
}

TEST_F(SessionTest, OneFailedCallOfARunIsTheOneThatFailed) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(Kind::kStream, 0);
  thread.get(0, a_);
  thread.delete_key(0, a_);
  thread.delete_key(0, b_);
  thread.get(0, b_);
  thread.close(0);
  IndexApi api = real;
  api.deleteRecord = delete_fails_second_time;
  const Outcome outcome = play(script_.build(), api);
  const ThreadOutcome& counters = *result(outcome).counters;
  EXPECT_EQ(result(outcome).ends,
            (std::vector{TransactionEnd::kCommitted, TransactionEnd::kCommitted,
                         TransactionEnd::kFailed, TransactionEnd::kCommitted}));
  EXPECT_EQ(counters.first_violation.op, 3u);
  EXPECT_EQ(counters.gets, 2u);
  EXPECT_EQ(counters.calls, 6u);
}

TEST_F(SessionTest, RepeatedBodiesRunAsOftenAsProgrammed) {
  ThreadBuilder thread = out();
  thread.open(0, index_);
  const uint64_t body = thread.size();
  thread.begin(Kind::kScript, 0);
  thread.get(0, a_, kEvidence);
  thread.commit();
  thread.repeat(body, 4);
  thread.begin(Kind::kScript, 0);
  const uint64_t inner = thread.size();
  thread.get(0, a_, kEvidence);
  thread.repeat(inner, 2);
  thread.commit();
  thread.close(0);
  const Script script = script_.build();
  const Outcome outcome = play(script, real);
  std::vector<uint32_t> rounds;
  EXPECT_TRUE(for_each_evidence(
      script.phases[test_].threads[0], result(outcome),
      [&](const Step& step, std::span<const Evidence>) { rounds.push_back(step.round); }));
  EXPECT_EQ(rounds, (std::vector<uint32_t>{0, 1, 2, 3, 4, 0, 1, 2}));
  EXPECT_EQ(result(outcome).ends.size(), 6u);
}

}  // namespace
}  // namespace keydrome
