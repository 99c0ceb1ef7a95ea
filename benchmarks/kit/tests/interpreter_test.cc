// Tests the interpreter, which executes the operations of a thread, with a correct index in this
// process. Some tests replace single functions of the index with functions that return a certain
// result.
#include "benchmarks/kit/player/interpreter.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

using testing::play;
using testing::test_index;
using testing::text_of;

// `real` contains the functions of the correct index. The functions below replace some and count
// calls. Only one test at a time uses these variables.
player::IndexApi real;
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

  // Returns the findings of the judge as text.
  static std::string findings_of(const script::Script& script, const script::Outcome& outcome) {
    judge::Findings findings;
    judge::judge_script(script, outcome, findings);
    return text_of(findings);
  }

  script::ThreadBuilder out() { return script_.thread(test_, 0); }
  const script::ThreadResult& result(const script::Outcome& outcome) const {
    return outcome.phases[test_].threads[0];
  }

  script::ScriptBuilder script_;
  uint32_t index_ = 0, a_ = 0, b_ = 0, create_ = 0, test_ = 0;
};

// Returns DEADLOCK for the key "b" in the first four attempts.
ErrCode get_fifth_time(IdxState* handle, TxnState* transaction, Record* record) {
  if (std::string(record->key.keyval.charkey) == "b" && ++answers < 5) return DEADLOCK;
  return real.get(handle, transaction, record);
}

TEST_F(SessionTest, ARetriedTransactionLeavesOneTrace) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(format::Kind::kStripe, 0);
  thread.open(1, index_);
  thread.insert(1, a_, script_.new_payload(0), format::kEvidence);
  thread.get(0, a_, format::kEvidence);
  thread.get(0, b_, format::kEvidence);
  thread.close(1);
  thread.commit();
  thread.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.get = get_fifth_time;
  api.openIndex = counting_open;
  api.closeIndex = counting_close;
  api.abortTransaction = counting_abort;
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).reported->deadlocks, 4u);
  EXPECT_EQ(result(outcome).totals.committed[0], 1u);
  EXPECT_EQ(aborted, 4u);
  EXPECT_EQ(opened, 1u + 5);  // every attempt opens its own handle
  EXPECT_EQ(closed, 1u + 5);  // and closes it
  std::size_t records = 0;
  EXPECT_TRUE(judge::for_each_evidence(
      script.phases[test_].threads[0], result(outcome),
      [&](const format::Step&, std::span<const script::Evidence>) { ++records; }));
  EXPECT_EQ(records, 3u);
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

// In the first attempt, the first getNext returns a key that is too small, and the second returns
// DEADLOCK.
ErrCode backwards_then_deadlock(IdxState* handle, TxnState* transaction, Record* record) {
  ++answers;
  if (answers == 2) return DEADLOCK;
  const ErrCode code = real.getNext(handle, transaction, record);
  if (answers == 1) record->key.keyval.charkey[0] = 'A';
  return code;
}

// An attempt that cannot commit may read inconsistent data, so its order violations must not count.
TEST_F(SessionTest, OrderViolationsGoWithTheAttempt) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(format::Kind::kStream, 0);
  thread.insert(0, b_, script_.new_payload(0));
  thread.begin(format::Kind::kStream, 0);
  thread.get(0, a_);
  thread.next(0, 2);
  thread.commit();
  thread.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.getNext = backwards_then_deadlock;
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(answers, 4u);
  EXPECT_EQ(result(outcome).reported->deadlocks, 1u);
  EXPECT_EQ(findings_of(script, outcome), "");
}

// Returns DEADLOCK for the second get inside transactions.
ErrCode second_get_deadlocks(IdxState* handle, TxnState* transaction, Record* record) {
  if (transaction != nullptr && ++answers == 2) return DEADLOCK;
  return real.get(handle, transaction, record);
}

// An auto-commit getNext reads the first record of the index. The judge must not compare this
// record with the key that a transaction read before.
TEST_F(SessionTest, AnAutoCommitScanAfterATransactionMayStartBeforeItsGet) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.insert(0, a_, script_.new_payload(0));
  thread.insert(0, b_, script_.new_payload(0));
  thread.begin(format::Kind::kStream, 0);
  thread.get(0, b_);
  thread.commit();
  thread.next(0, 1);
  thread.close(0);
  const script::Script script = script_.build();
  EXPECT_EQ(findings_of(script, play(script, real)), "");
}

// Auto-commit calls inside a transaction are tested with and without a retry of the transaction. If
// the counters did not fit the ends of the transactions, the outcome would be refused.
TEST_F(SessionTest, AutoCommitCallsInsideATransactionCountOnce) {
  for (const uint8_t flags : {uint8_t{0}, format::kOneAttempt}) {
    SCOPED_TRACE(flags);
    script::ScriptBuilder script;
    script.add_class("check");
    const uint32_t index = script.add_index("index", VARCHAR);
    const uint32_t key = script.add_varchar_key("a");
    script.thread(script.add_phase("create", 1, {}), 0).create(index);
    script::ThreadBuilder thread = script.thread(script.add_phase("test", 1, {}), 0);
    thread.auto_commit_as(format::Kind::kScript, 0);
    thread.open(0, index);
    thread.begin(format::Kind::kScript, 0, flags);
    thread.get(0, key);
    thread.insert(0, key, script.new_payload(0), format::kAutoCommit);
    thread.get(0, key);
    thread.delete_key(0, key, format::kAutoCommit);
    thread.commit();
    thread.close(0);
    const script::Script built = script.build();
    answers = 0;
    real = test_index({});
    player::IndexApi api = real;
    api.get = second_get_deadlocks;
    const script::Outcome outcome = play(built, api);
    const script::ThreadResult& result = outcome.phases[1].threads[0];
    using enum script::TransactionEnd;
    EXPECT_EQ(result.ends, flags == 0 ? (std::vector{kCommitted, kCommitted, kCommitted})
                                      : (std::vector{kDeadlocked, kCommitted, kNotRun}));
    judge::Findings findings;
    judge::judge_script(built, outcome, findings);
    EXPECT_TRUE(findings.empty()) << text_of(findings);
  }
}

ErrCode always_deadlock(TxnState**) { return DEADLOCK; }

TEST_F(SessionTest, ATransactionThatNeverBeginsIsGivenUp) {
  script::ThreadBuilder thread = out();
  thread.begin(format::Kind::kStream, 0);
  thread.commit();
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.beginTransaction = always_deadlock;
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).totals.failed, 1u);
  const format::ThreadOutcome& reported = *result(outcome).reported;
  EXPECT_GE(reported.deadlocks, format::kAttemptsMax);
  EXPECT_EQ(reported.first_violation.detail, reported.deadlocks);
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_EQ(findings.count("no_progress"), 1u) << text_of(findings);
  EXPECT_NE(text_of(findings).find("attempts returned DEADLOCK, the last one in beginTransaction"),
            std::string::npos)
      << text_of(findings);
}

ErrCode failing_get(IdxState*, TxnState*, Record*) { return FAILURE; }

// The second thread waits for a signal that the first thread sends inside a transaction. The
// transaction fails, but the signal must be sent, because otherwise the second thread would wait
// for ever.
TEST_F(SessionTest, AFailedTransactionStillSignals) {
  const uint32_t phase = script_.add_phase("signals", 2, {});
  script::ThreadBuilder failing = script_.thread(phase, 0), waiting = script_.thread(phase, 1);
  failing.open(0, index_);
  failing.begin(format::Kind::kScript, 0);
  failing.get(0, a_);
  failing.signal(3);
  failing.commit();
  failing.begin(format::Kind::kScript, 0);
  failing.commit();
  failing.close(0);
  waiting.wait(3, 1);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.get = failing_get;
  const script::Outcome outcome = play(script, api);
  const script::ThreadResult& thread = outcome.phases[phase].threads[0];
  EXPECT_EQ(thread.ends,
            (std::vector{script::TransactionEnd::kFailed, script::TransactionEnd::kCommitted}));
  EXPECT_EQ(thread.reported->code_violations, 1u);
  EXPECT_EQ(thread.reported->first_violation.code, static_cast<uint32_t>(FAILURE));
  EXPECT_EQ(thread.reported->first_violation.op, 2u);
}

ErrCode failing_open(const char*, IdxState**) { return FAILURE; }

TEST_F(SessionTest, AnIndexThatDoesNotOpenIsNeverCalled) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(format::Kind::kStream, 0);
  thread.get(0, a_);
  thread.commit();
  thread.auto_commit_as(format::Kind::kStream, 0);
  thread.get(0, a_);
  thread.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.openIndex = failing_open;
  api.get = nullptr;
  api.closeIndex = nullptr;
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).ends,
            (std::vector{script::TransactionEnd::kFailed, script::TransactionEnd::kFailed}));
}

ErrCode endless_next(IdxState*, TxnState*, Record* record) {
  record->payload[0] = 'x';
  return SUCCESS;
}

TEST_F(SessionTest, AScanToTheEndEnds) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(format::Kind::kStream, 0);
  thread.next_to_end(0, 10);
  thread.commit();
  thread.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.getNext = endless_next;
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).reported->first_violation.code, format::kCodeEndless);
}

// Fills key and payload completely, without a NUL at the end.
ErrCode unterminated_next(IdxState*, TxnState*, Record* record) {
  std::memset(record->key.keyval.charkey, 'k', sizeof record->key.keyval.charkey);
  std::memset(record->payload, 'p', sizeof record->payload);
  return SUCCESS;
}

TEST_F(SessionTest, StringsWithoutAnEndAreCut) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.begin(format::Kind::kStream, 0);
  thread.next(0, 1, format::kEvidenceAll);
  thread.commit();
  thread.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.getNext = unterminated_next;
  const script::Outcome outcome = play(script, api);
  // The record is longer than any record of the script, so it does not fit into the trace, the
  // thread's memory for whole results.
  EXPECT_EQ(result(outcome).reported->trace_dropped, 1u);
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.failed());
}

TEST_F(SessionTest, EveryCallGetsAClearedRecord) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(format::Kind::kStream, 0);
  thread.insert(0, a_, script_.new_payload(script_.add_text(std::string(92, 't'))));
  thread.begin(format::Kind::kStream, 0);
  for (int i = 0; i < 3; ++i) {
    thread.get(0, a_);
    thread.next(0, 2);
    thread.get(0, b_);
    thread.delete_key(0, b_);
  }
  thread.commit();
  thread.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
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
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(format::Kind::kStream, 0);
  for (int i = 0; i < 1000; ++i) thread.get(0, a_);
  for (int i = 0; i < 500; ++i) {
    thread.begin(format::Kind::kStream, 0);
    thread.get(0, a_);
    thread.commit();
  }
  thread.close(0);
  const script::Script script = script_.build();
  const script::Outcome outcome = play(script, real);
  const script::ThreadTotals& counters = result(outcome).totals;
  uint64_t in_windows = 0, in_histogram = 0;
  for (const uint64_t count : counters.windows) in_windows += count;
  for (const uint32_t count : counters.latency[0]) in_histogram += count;
  EXPECT_EQ(counters.committed[0], 1500u);
  EXPECT_EQ(in_windows, 1500u);
  EXPECT_EQ(in_histogram, 500u + (1000 + format::kTimedEvery - 1) / format::kTimedEvery);
  EXPECT_EQ(judge::totals(script, outcome).gets, 1500u);
  EXPECT_EQ(counters.calls, 2u + 1000 + 1500);
}

ErrCode get_every_third_time(IdxState* handle, TxnState* transaction, Record* record) {
  return ++answers % 3 == 0 ? DEADLOCK : real.get(handle, transaction, record);
}

// Every third get returns DEADLOCK, and the interpreter repeats it. The reader of the outcome must
// count each auto-commit call once, and the failed attempts only as deadlocks.
TEST_F(SessionTest, AutoCommitRunsCountWhatHappened) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(format::Kind::kStream, 0);
  constexpr uint32_t kRounds = 100;
  for (uint32_t i = 0; i < kRounds; ++i) {
    const script::Payload payload = script_.new_payload(0);
    thread.insert(0, a_, payload);
    thread.get(0, a_);
    thread.get(0, b_);
    thread.get(0, a_, format::kEvidence);
    thread.delete_pair(0, a_, payload);
    thread.get(0, a_);
    thread.delete_key(0, b_);
  }
  thread.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.get = get_every_third_time;
  const script::Outcome outcome = play(script, api);
  const script::ThreadTotals& counters = result(outcome).totals;
  EXPECT_EQ(result(outcome).ends, std::vector(7 * kRounds, script::TransactionEnd::kCommitted));
  EXPECT_EQ(counters.committed[0], 7u * kRounds);
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(sum.gets, 4u * kRounds);
  EXPECT_EQ(sum.get_hits, 2u * kRounds);
  EXPECT_EQ(result(outcome).reported->deadlocks, answers / 3);
  EXPECT_EQ(counters.calls, 2u + 7 * kRounds);  // without the calls that were repeated
  uint64_t in_windows = 0;
  for (const uint64_t count : counters.windows) in_windows += count;
  EXPECT_EQ(in_windows, 7u * kRounds);
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

ErrCode delete_fails_second_time(IdxState*, TxnState*, Record*) {
  return ++answers == 2 ? FAILURE : KEY_NOTFOUND;
}

TEST_F(SessionTest, OneFailedCallOfARunIsTheOneThatFailed) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.auto_commit_as(format::Kind::kStream, 0);
  thread.get(0, a_);
  thread.delete_key(0, a_);
  thread.delete_key(0, b_);
  thread.get(0, b_);
  thread.close(0);
  player::IndexApi api = real;
  api.deleteRecord = delete_fails_second_time;
  const script::Script script = script_.build();
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(result(outcome).ends,
            (std::vector{script::TransactionEnd::kCommitted, script::TransactionEnd::kCommitted,
                         script::TransactionEnd::kFailed, script::TransactionEnd::kCommitted}));
  EXPECT_EQ(result(outcome).reported->first_violation.op, 3u);
  EXPECT_EQ(judge::totals(script, outcome).gets, 2u);
  EXPECT_EQ(result(outcome).totals.calls, 6u);
}

TEST_F(SessionTest, RepeatedBodiesRunAsOftenAsProgrammed) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  const uint64_t body = thread.size();
  thread.begin(format::Kind::kScript, 0);
  thread.get(0, a_, format::kEvidence);
  thread.commit();
  thread.repeat(body, 4);
  thread.begin(format::Kind::kScript, 0);
  const uint64_t inner = thread.size();
  thread.get(0, a_, format::kEvidence);
  thread.repeat(inner, 2);
  thread.commit();
  thread.close(0);
  const script::Script script = script_.build();
  const script::Outcome outcome = play(script, real);
  std::vector<uint32_t> rounds;
  EXPECT_TRUE(
      judge::for_each_evidence(script.phases[test_].threads[0], result(outcome),
                               [&](const format::Step& step, std::span<const script::Evidence>) {
                                 rounds.push_back(step.round);
                               }));
  EXPECT_EQ(rounds, (std::vector<uint32_t>{0, 1, 2, 3, 4, 0, 1, 2}));
  EXPECT_EQ(result(outcome).ends.size(), 6u);
}

}  // namespace
}  // namespace keydrome
