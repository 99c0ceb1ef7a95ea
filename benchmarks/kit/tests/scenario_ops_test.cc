// Tests the operations (ops) of programs that only the benchmark "scenarios" uses: turns,
// transactions with one attempt, bare calls (made exactly as written), and deletes of records that
// were read. The index of the tests has one lock, which a transaction holds from begin to end.
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/player/turns.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

using history::EventCall;
using testing::play;
using testing::test_index;
using testing::text_of;

constexpr uint32_t kForEver = UINT32_MAX;  // in microseconds; longer than any test may take
constexpr uint32_t kSoon = 2'000;          // in microseconds

TEST(Turns, ThreadsTakeTheirTurns) {
  constexpr uint32_t kThreads = 4, kSteps = 400;
  player::Turns turns;
  std::vector<uint32_t> order;  // needs no lock, because the turns order the accesses
  {
    std::vector<std::jthread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        // The steps of a thread are those with step * 7 / 3 % kThreads == t, so they are not
        // consecutive.
        for (uint32_t step = 0; step < kSteps; ++step) {
          if (step * 7 / 3 % kThreads != t) continue;
          turns.await(step, kForEver);
          order.push_back(step);
          turns.done(step);
        }
      });
    }
  }
  ASSERT_EQ(order.size(), kSteps);
  for (uint32_t step = 0; step < kSteps; ++step) EXPECT_EQ(order[step], step);
}

TEST(Turns, AWaiterPassesOverStepsThatNoThreadTakes) {
  player::Turns turns;
  turns.await(3, kSoon);  // steps 0, 1 and 2 are never executed
  turns.done(1);          // has no effect, because step 1 was skipped
  turns.await(3, kForEver);
  turns.done(3);
  turns.await(4, kForEver);
}

// The tests replace single functions of the library by the following functions, which count calls
// or return DEADLOCK. Only one test at a time uses these variables.
player::IndexApi real;
std::mutex counters_mutex;
uint32_t deletes = 0, gets = 0, begins = 0, commits = 0, aborts = 0;

void count(uint32_t& counter) {
  const std::lock_guard lock(counters_mutex);
  ++counter;
}

ErrCode counting_abort(TxnState* transaction) {
  count(aborts);
  return real.abortTransaction(transaction);
}
ErrCode counting_delete(IdxState* handle, TxnState* transaction, Record* record) {
  count(deletes);
  return real.deleteRecord(handle, transaction, record);
}
ErrCode deadlocked_begin(TxnState**) {
  count(begins);
  return DEADLOCK;
}
ErrCode deadlocked_get(IdxState*, TxnState*, Record*) {
  count(gets);
  return DEADLOCK;
}
ErrCode deadlocked_commit(TxnState*) {
  count(commits);
  return DEADLOCK;
}

class ScenarioOpsTest : public ::testing::Test {
 protected:
  ScenarioOpsTest() {
    real = test_index({});
    deletes = gets = begins = commits = aborts = 0;
    script_.add_class("check");
    words_ = script_.add_index("words", VARCHAR);
    numbers_ = script_.add_index("numbers", INT);
    a_ = script_.add_varchar_key("a");
    b_ = script_.add_varchar_key("b");
    seven_ = script_.add_int64_key(7);
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(words_);
    script_.thread(create, 0).create(numbers_);
    test_ = script_.add_phase("test", 2, {});
  }

  script::ThreadBuilder thread(uint32_t number) { return script_.thread(test_, number); }
  uint64_t last(uint32_t number) { return thread(number).size() - 1; }

  // Returns the result code that op number `op` of thread `number` left as evidence.
  uint32_t code_at(const script::Script& script, const script::Outcome& outcome, uint32_t number,
                   uint64_t op) {
    uint32_t code = UINT32_MAX;
    EXPECT_TRUE(judge::for_each_evidence(
        script.phases[test_].threads[number], outcome.phases[test_].threads[number],
        [&](const format::Step& step, std::span<const script::Evidence> records) {
          if (step.op == op) code = records[0].code;
        }));
    return code;
  }

  static void expect_no_finding(const script::Script& script, const script::Outcome& outcome) {
    judge::Findings findings;
    judge::judge_script(script, outcome, findings);
    EXPECT_TRUE(findings.empty()) << text_of(findings);
  }

  script::ScriptBuilder script_;
  uint32_t words_ = 0, numbers_ = 0, a_ = 0, b_ = 0, seven_ = 0, test_ = 0;
};

TEST_F(ScenarioOpsTest, ABlockedStepIsPassedOverAndRunsLate) {
  script::ThreadBuilder writer = thread(0), reader = thread(1);
  writer.open(0, words_);
  writer.step(0, kForEver);
  writer.begin(format::Kind::kScript, 0);
  writer.insert(0, a_, script_.new_payload(0));
  writer.step_done(0);
  writer.step(2, kSoon);
  writer.commit();
  writer.step_done(2);
  writer.close(0);
  reader.open(0, words_);
  reader.step(1, kForEver);
  reader.begin(format::Kind::kScript, 0);  // waits for the writer's lock
  reader.get(0, a_, format::kEvidence);
  const uint64_t read = last(1);
  reader.step_done(1);
  reader.step(3, kForEver);
  reader.commit();
  reader.step_done(3);
  reader.close(0);
  const script::Script script = script_.build();
  const script::Outcome outcome = play(script, real);
  EXPECT_EQ(code_at(script, outcome, 1, read), static_cast<uint32_t>(SUCCESS));
  expect_no_finding(script, outcome);
}

// One call of thread 0's only transaction returns DEADLOCK. The transaction's steps must still be
// executed, because thread 1 waits for all of them.
class OneAttemptTest : public ScenarioOpsTest {
 protected:
  void check(player::IndexApi api, uint32_t aborts_wanted) {
    api.abortTransaction = counting_abort;
    script::ThreadBuilder once = thread(0), other = thread(1);
    once.open(0, words_);
    once.begin(format::Kind::kScript, 0, format::kOneAttempt);
    once.step(0, kForEver);
    once.get(0, a_, format::kEvidence);
    once.step_done(0);
    once.step(2, kForEver);
    once.insert(0, a_, script_.new_payload(0));
    once.step_done(2);
    once.signal(1);
    once.commit();
    once.close(0);
    other.step(1, kForEver);
    other.step_done(1);
    other.step(3, kForEver);
    other.wait(1, 1);
    other.step_done(3);
    const script::Script script = script_.build();
    const script::Outcome outcome = play(script, api);
    const script::ThreadResult& result = outcome.phases[test_].threads[0];
    EXPECT_EQ(result.ends, std::vector{script::TransactionEnd::kDeadlocked});
    EXPECT_EQ(result.totals.deadlocked, 1u);
    EXPECT_EQ(result.reported->deadlocks, 1u);
    EXPECT_EQ(result.totals.failed, 0u);
    EXPECT_EQ(result.reported->code_violations, 0u);
    EXPECT_EQ(aborts, aborts_wanted);
    expect_no_finding(script, outcome);
  }
};

TEST_F(OneAttemptTest, DeadlockFromBegin) {
  player::IndexApi api = real;
  api.beginTransaction = deadlocked_begin;
  check(api, 0);
  EXPECT_EQ(begins, 1u);
}

TEST_F(OneAttemptTest, DeadlockFromACall) {
  player::IndexApi api = real;
  api.get = deadlocked_get;
  check(api, 1);
  EXPECT_EQ(gets, 1u);
}

TEST_F(OneAttemptTest, DeadlockFromCommit) {
  player::IndexApi api = real;
  api.commitTransaction = deadlocked_commit;
  check(api, 1);
  EXPECT_EQ(commits, 1u);
}

// Only a transaction with kOneAttempt may end as kDeadlocked. If this end is reported for another
// transaction, the judge must not believe the report.
TEST_F(ScenarioOpsTest, AnEndAsDeadlockedNeedsTheFlag) {
  script::ThreadBuilder out = thread(0);
  out.begin(format::Kind::kScript, 0);
  out.commit();
  const script::Script script = script_.build();
  script::Outcome outcome = play(script, real);
  script::ThreadResult& result = outcome.phases[test_].threads[0];
  result.ends[0] = script::TransactionEnd::kDeadlocked;
  judge::Findings findings;
  judge::judge_counters(script, outcome, findings);
  EXPECT_EQ(findings.count("outcome_mismatch"), 1u) << text_of(findings);
}

// A transaction with kAnyCode continues after DEADLOCK. It is aborted when its commit fails.
TEST_F(ScenarioOpsTest, ATransactionThatContinuesMakesAllItsCalls) {
  script::ThreadBuilder out = thread(0);
  out.open(0, words_);
  out.begin(format::Kind::kScript, 0, format::kOneAttempt | format::kAnyCode);
  out.get(0, a_);
  out.get(0, b_);
  out.commit();
  out.begin(format::Kind::kScript, 0);
  out.insert(0, a_, script_.new_payload(0));
  out.commit();
  out.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.get = deadlocked_get;
  api.commitTransaction = [](TxnState* transaction) {
    count(commits);
    return commits == 1 ? DEADLOCK : real.commitTransaction(transaction);
  };
  api.abortTransaction = counting_abort;
  const script::Outcome outcome = play(script, api);
  const script::ThreadResult& result = outcome.phases[test_].threads[0];
  EXPECT_EQ(gets, 2u);
  EXPECT_EQ(commits, 2u);
  EXPECT_EQ(aborts, 1u);
  EXPECT_EQ(result.ends,
            (std::vector{script::TransactionEnd::kDeadlocked, script::TransactionEnd::kCommitted}));
  EXPECT_EQ(result.totals.deadlocked, 1u);
  EXPECT_EQ(result.reported->code_violations, 0u);
  expect_no_finding(script, outcome);
}

// After DEADLOCK, a library may return TXN_DNE from the commit and keep the transaction until the
// client aborts it. So the client aborts even after TXN_DNE.
bool keeps_transaction = false;

TEST_F(ScenarioOpsTest, ACommitThatFindsNoTransactionIsFollowedByAnAbort) {
  keeps_transaction = false;
  script::ThreadBuilder out = thread(0);
  out.open(0, words_);
  out.begin(format::Kind::kScript, 0, format::kOneAttempt | format::kAnyCode);
  out.get(0, a_);
  out.commit();
  out.begin(format::Kind::kScript, 0);
  out.insert(0, a_, script_.new_payload(0));
  out.commit();
  out.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.get = deadlocked_get;
  api.beginTransaction = [](TxnState** transaction) {
    return keeps_transaction ? TXN_EXISTS : real.beginTransaction(transaction);
  };
  api.commitTransaction = [](TxnState* transaction) {
    count(commits);
    keeps_transaction = commits == 1;
    return keeps_transaction ? TXN_DNE : real.commitTransaction(transaction);
  };
  api.abortTransaction = [](TxnState* transaction) {
    keeps_transaction = false;
    return counting_abort(transaction);
  };
  const script::Outcome outcome = play(script, api);
  const script::ThreadResult& result = outcome.phases[test_].threads[0];
  EXPECT_EQ(aborts, 1u);
  EXPECT_EQ(commits, 2u);
  EXPECT_EQ(result.ends,
            (std::vector{script::TransactionEnd::kDeadlocked, script::TransactionEnd::kCommitted}));
  expect_no_finding(script, outcome);
}

// The arguments that the library received from bare calls.
std::vector<const void*> passed_transactions, passed_handles;
std::string passed_bytes;

TEST_F(ScenarioOpsTest, BareCallsPassWhatTheySay) {
  passed_transactions.clear();
  passed_handles.clear();
  player::IndexApi api = real;
  api.commitTransaction = [](TxnState* transaction) {
    passed_transactions.push_back(transaction);
    return passed_transactions.size() == 1 ? real.commitTransaction(transaction) : TXN_DNE;
  };
  api.closeIndex = [](IdxState* handle) {
    passed_handles.push_back(handle);
    return passed_handles.size() == 2 ? real.closeIndex(handle) : DB_DNE;
  };
  api.insertRecord = [](IdxState*, TxnState*, Key* key, const char*) {
    passed_bytes.assign(reinterpret_cast<const char*>(key), sizeof *key);
    return FAILURE;
  };
  script::ThreadBuilder out = thread(0);
  out.bare_call(0, {.call = EventCall::kClose});
  out.bare_call(0, {.call = EventCall::kOpen}, words_);
  out.bare_call(0, {.call = EventCall::kBegin});
  out.bare_call(0, {.call = EventCall::kCommit, .in_transaction = true});
  out.bare_call(0, {.call = EventCall::kCommit, .in_transaction = true});
  out.bare_call(0, {.call = EventCall::kCommit});
  out.bare_call(0, {.call = EventCall::kInsert, .key_type = INT, .garbage = true}, seven_);
  out.bare_call(0, {.call = EventCall::kClose});
  out.bare_call(0, {.call = EventCall::kClose});
  const script::Script script = script_.build();
  const script::Outcome outcome = play(script, api);
  std::vector<uint32_t> codes;
  EXPECT_TRUE(
      judge::for_each_evidence(script.phases[test_].threads[0], outcome.phases[test_].threads[0],
                               [&](const format::Step&, std::span<const script::Evidence> records) {
                                 codes.push_back(records[0].code);
                               }));
  EXPECT_EQ(codes, (std::vector<uint32_t>{DB_DNE, SUCCESS, SUCCESS, SUCCESS, TXN_DNE, TXN_DNE,
                                          FAILURE, SUCCESS, DB_DNE}));
  ASSERT_EQ(passed_transactions.size(), 3u);
  EXPECT_NE(passed_transactions[0], nullptr);
  EXPECT_EQ(passed_transactions[1], passed_transactions[0]);
  EXPECT_EQ(passed_transactions[2], nullptr);
  ASSERT_EQ(passed_handles.size(), 3u);
  EXPECT_EQ(passed_handles[0], nullptr);
  EXPECT_EQ(passed_handles[1], passed_handles[2]);
  Key key;
  std::memcpy(&key, passed_bytes.data(), sizeof key);
  EXPECT_EQ(key.type, INT);
  EXPECT_EQ(key.keyval.intkey, 7);
  EXPECT_EQ(passed_bytes[offsetof(Key, keyval) + sizeof(int64_t)], format::BareCall::kGarbage);
  expect_no_finding(script, outcome);
}

TEST_F(ScenarioOpsTest, DeleteReadDeletesWhatWasReadLast) {
  const script::Payload first = script_.new_payload(script_.add_text(std::string(92, 't')));
  const script::Payload second = script_.new_payload(0);
  script::ThreadBuilder out = thread(0);
  out.open(0, words_);
  out.open(1, numbers_);
  out.auto_commit_as(format::Kind::kScript, 0);
  out.insert(0, a_, first);
  out.insert(0, b_, second);
  out.insert(1, seven_, second);
  out.begin(format::Kind::kScript, 0);
  out.get(0, a_);
  out.next(0, 1);      // reads b
  out.next(1, 2);      // reads 7, then returns DB_END; the last successful read counts
  out.get(1, seven_);  // has no effect on slot 0
  out.delete_read(0);
  out.delete_read(1);
  out.get(0, a_, format::kEvidence);
  const uint64_t kept = last(0);
  out.get(0, b_, format::kEvidence);
  const uint64_t deleted = last(0);
  out.get(1, seven_, format::kEvidence);
  const uint64_t number_deleted = last(0);
  out.commit();
  out.close(1);
  out.close(0);
  script::add_verify_phase(script_, 1, 0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.deleteRecord = counting_delete;
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(deletes, 2u);
  EXPECT_EQ(code_at(script, outcome, 0, kept), static_cast<uint32_t>(SUCCESS));
  EXPECT_EQ(code_at(script, outcome, 0, deleted), static_cast<uint32_t>(KEY_NOTFOUND));
  EXPECT_EQ(code_at(script, outcome, 0, number_deleted), static_cast<uint32_t>(KEY_NOTFOUND));
  expect_no_finding(script, outcome);
}

TEST_F(ScenarioOpsTest, DeleteReadWithoutAReadOfItsTransactionCallsNothing) {
  script::ThreadBuilder out = thread(0);
  out.open(0, words_);
  out.auto_commit_as(format::Kind::kScript, 0);
  out.insert(0, a_, script_.new_payload(0));
  out.begin(format::Kind::kScript, 0);
  out.get(0, a_);
  out.delete_read(0);
  out.abort();
  out.begin(format::Kind::kScript, 0);
  out.get(0, b_);      // finds nothing
  out.delete_read(0);  // the read of the previous transaction does not count
  out.commit();
  out.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = real;
  api.deleteRecord = counting_delete;
  const script::Outcome outcome = play(script, api);
  EXPECT_EQ(deletes, 1u);
  expect_no_finding(script, outcome);
}

}  // namespace
}  // namespace keydrome
