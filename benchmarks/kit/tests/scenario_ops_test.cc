// The ops that scenarios are made of: steps in turn, transactions that are tried once, deletes of
// what was read. Against an index under one lock that a transaction holds from begin to end.
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/kit/baton.h"
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

constexpr uint32_t kForEver = UINT32_MAX;  // us: more than any test may take
constexpr uint32_t kSoon = 2'000;

TEST(Baton, ThreadsTakeTheirTurns) {
  constexpr uint32_t kThreads = 4, kSteps = 400;
  Baton baton;
  std::vector<uint32_t> order;  // no lock: the baton is one
  {
    std::vector<std::jthread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        // Thread t owns the steps with step * 7 % kThreads == t: not one after the other.
        for (uint32_t step = 0; step < kSteps; ++step) {
          if (step * 7 / 3 % kThreads != t) continue;
          baton.await(step, kForEver);
          order.push_back(step);
          baton.done(step);
        }
      });
    }
  }
  ASSERT_EQ(order.size(), kSteps);
  for (uint32_t step = 0; step < kSteps; ++step) EXPECT_EQ(order[step], step);
}

TEST(Baton, AWaiterPassesOverStepsThatNobodyTakes) {
  Baton baton;
  baton.await(3, kSoon);  // steps 0, 1 and 2 never come
  baton.done(1);          // too late to matter
  baton.await(3, kForEver);
  baton.done(3);
  baton.await(4, kForEver);
}

// The calls of an API with single functions replaced; one test at a time.
IndexApi real;
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

  ThreadBuilder thread(uint32_t number) { return script_.thread(test_, number); }
  uint64_t last(uint32_t number) { return thread(number).size() - 1; }

  // The code that op `op` of thread `number` left as evidence.
  uint32_t code_at(const Script& script, const Outcome& outcome, uint32_t number, uint64_t op) {
    uint32_t code = UINT32_MAX;
    EXPECT_TRUE(for_each_evidence(script.phases[test_].threads[number],
                                  outcome.phases[test_].threads[number],
                                  [&](const Step& step, std::span<const Evidence> records) {
                                    if (step.op == op) code = records[0].code;
                                  }));
    return code;
  }

  static void expect_no_finding(const Script& script, const Outcome& outcome) {
    Findings findings;
    judge_script(script, outcome, findings);
    EXPECT_TRUE(findings.empty()) << text_of(findings);
  }

  ScriptBuilder script_;
  uint32_t words_ = 0, numbers_ = 0, a_ = 0, b_ = 0, seven_ = 0, test_ = 0;
};

TEST_F(ScenarioOpsTest, ABlockedStepIsPassedOverAndRunsLate) {
  ThreadBuilder writer = thread(0), reader = thread(1);
  writer.open(0, words_);
  writer.step(0, kForEver);
  writer.begin(Kind::kScript, 0);
  writer.insert(0, a_, script_.new_payload(0));
  writer.step_done(0);
  writer.step(2, kSoon);
  writer.commit();
  writer.step_done(2);
  writer.close(0);
  reader.open(0, words_);
  reader.step(1, kForEver);
  reader.begin(Kind::kScript, 0);  // waits for the writer's lock
  reader.get(0, a_, kEvidence);
  const uint64_t read = last(1);
  reader.step_done(1);
  reader.step(3, kForEver);
  reader.commit();
  reader.step_done(3);
  reader.close(0);
  const Script script = script_.build();
  const Outcome outcome = play(script, real);
  EXPECT_EQ(code_at(script, outcome, 1, read), static_cast<uint32_t>(SUCCESS));
  expect_no_finding(script, outcome);
}

// Thread 0's only transaction is answered DEADLOCK somewhere; thread 1 waits for all its steps.
class OneAttemptTest : public ScenarioOpsTest {
 protected:
  void check(IndexApi api, uint32_t aborts_wanted) {
    api.abortTransaction = counting_abort;
    ThreadBuilder once = thread(0), other = thread(1);
    once.open(0, words_);
    once.begin(Kind::kScript, 0, kOneAttempt);
    once.step(0, kForEver);
    once.get(0, a_, kEvidence);
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
    const Script script = script_.build();
    const Outcome outcome = play(script, api);
    const ThreadResult& result = outcome.phases[test_].threads[0];
    EXPECT_EQ(result.ends, std::vector{TransactionEnd::kDeadlocked});
    EXPECT_EQ(result.counters->deadlocked, 1u);
    EXPECT_EQ(result.counters->deadlocks, 1u);
    EXPECT_EQ(result.counters->failed, 0u);
    EXPECT_EQ(result.counters->code_violations, 0u);
    EXPECT_EQ(aborts, aborts_wanted);
    expect_no_finding(script, outcome);
  }
};

TEST_F(OneAttemptTest, DeadlockFromBegin) {
  IndexApi api = real;
  api.beginTransaction = deadlocked_begin;
  check(api, 0);
  EXPECT_EQ(begins, 1u);
}

TEST_F(OneAttemptTest, DeadlockFromACall) {
  IndexApi api = real;
  api.get = deadlocked_get;
  check(api, 1);
  EXPECT_EQ(gets, 1u);
}

TEST_F(OneAttemptTest, DeadlockFromCommit) {
  IndexApi api = real;
  api.commitTransaction = deadlocked_commit;
  check(api, 1);
  EXPECT_EQ(commits, 1u);
}

// Only a transaction that was to be tried once may end that way: the player's word is not enough.
TEST_F(ScenarioOpsTest, AnEndAsDeadlockedNeedsTheFlag) {
  ThreadBuilder out = thread(0);
  out.begin(Kind::kScript, 0);
  out.commit();
  const Script script = script_.build();
  Outcome outcome = play(script, real);
  ThreadResult& result = outcome.phases[test_].threads[0];
  result.ends[0] = TransactionEnd::kDeadlocked;
  Findings findings;
  judge_counters(script, outcome, findings);
  EXPECT_EQ(findings.count("outcome_mismatch"), 1u) << text_of(findings);
}

// A transaction with kAnyCode makes all its calls after DEADLOCK too, and is aborted at its end.
TEST_F(ScenarioOpsTest, ATransactionThatGoesOnMakesAllItsCalls) {
  ThreadBuilder out = thread(0);
  out.open(0, words_);
  out.begin(Kind::kScript, 0, kOneAttempt | kAnyCode);
  out.get(0, a_);
  out.get(0, b_);
  out.commit();
  out.begin(Kind::kScript, 0);
  out.insert(0, a_, script_.new_payload(0));
  out.commit();
  out.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.get = deadlocked_get;
  api.commitTransaction = [](TxnState* transaction) {
    count(commits);
    return commits == 1 ? DEADLOCK : real.commitTransaction(transaction);
  };
  api.abortTransaction = counting_abort;
  const Outcome outcome = play(script, api);
  const ThreadResult& result = outcome.phases[test_].threads[0];
  EXPECT_EQ(gets, 2u);
  EXPECT_EQ(commits, 2u);
  EXPECT_EQ(aborts, 1u);
  EXPECT_EQ(result.ends, (std::vector{TransactionEnd::kDeadlocked, TransactionEnd::kCommitted}));
  EXPECT_EQ(result.counters->deadlocked, 1u);
  EXPECT_EQ(result.counters->code_violations, 0u);
  expect_no_finding(script, outcome);
}

// What the library gets from bare calls.
std::vector<const void*> passed_transactions, passed_handles;
std::string passed_bytes;

TEST_F(ScenarioOpsTest, BareCallsPassWhatTheySay) {
  passed_transactions.clear();
  passed_handles.clear();
  IndexApi api = real;
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
  ThreadBuilder out = thread(0);
  out.bare_call(0, {.call = EventCall::kClose});
  out.bare_call(0, {.call = EventCall::kOpen}, words_);
  out.bare_call(0, {.call = EventCall::kBegin});
  out.bare_call(0, {.call = EventCall::kCommit, .in_transaction = true});
  out.bare_call(0, {.call = EventCall::kCommit, .in_transaction = true});
  out.bare_call(0, {.call = EventCall::kCommit});
  out.bare_call(0, {.call = EventCall::kInsert, .key_type = INT, .garbage = true}, seven_);
  out.bare_call(0, {.call = EventCall::kClose});
  out.bare_call(0, {.call = EventCall::kClose});
  const Script script = script_.build();
  const Outcome outcome = play(script, api);
  std::vector<uint32_t> codes;
  EXPECT_TRUE(for_each_evidence(
      script.phases[test_].threads[0], outcome.phases[test_].threads[0],
      [&](const Step&, std::span<const Evidence> records) { codes.push_back(records[0].code); }));
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
  EXPECT_EQ(passed_bytes[offsetof(Key, keyval) + sizeof(int64_t)], BareCall::kGarbage);
  expect_no_finding(script, outcome);
}

TEST_F(ScenarioOpsTest, DeleteReadDeletesWhatWasReadLast) {
  const Payload first = script_.new_payload(script_.add_text(std::string(92, 't')));
  const Payload second = script_.new_payload(0);
  ThreadBuilder out = thread(0);
  out.open(0, words_);
  out.open(1, numbers_);
  out.auto_commit_as(Kind::kScript, 0);
  out.insert(0, a_, first);
  out.insert(0, b_, second);
  out.insert(1, seven_, second);
  out.begin(Kind::kScript, 0);
  out.get(0, a_);
  out.next(0, 1);      // reads b
  out.next(1, 2);      // reads 7, then DB_END: the last successful read counts
  out.get(1, seven_);  // and a read of another slot changes nothing
  out.delete_read(0);
  out.delete_read(1);
  out.get(0, a_, kEvidence);
  const uint64_t kept = last(0);
  out.get(0, b_, kEvidence);
  const uint64_t deleted = last(0);
  out.get(1, seven_, kEvidence);
  const uint64_t number_deleted = last(0);
  out.commit();
  out.close(1);
  out.close(0);
  add_verify_phase(script_, 1, 0);
  const Script script = script_.build();
  IndexApi api = real;
  api.deleteRecord = counting_delete;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(deletes, 2u);
  EXPECT_EQ(code_at(script, outcome, 0, kept), static_cast<uint32_t>(SUCCESS));
  EXPECT_EQ(code_at(script, outcome, 0, deleted), static_cast<uint32_t>(KEY_NOTFOUND));
  EXPECT_EQ(code_at(script, outcome, 0, number_deleted), static_cast<uint32_t>(KEY_NOTFOUND));
  expect_no_finding(script, outcome);
}

TEST_F(ScenarioOpsTest, DeleteReadWithoutAReadOfItsTransactionCallsNothing) {
  ThreadBuilder out = thread(0);
  out.open(0, words_);
  out.auto_commit_as(Kind::kScript, 0);
  out.insert(0, a_, script_.new_payload(0));
  out.begin(Kind::kScript, 0);
  out.get(0, a_);
  out.delete_read(0);
  out.abort();
  out.begin(Kind::kScript, 0);
  out.get(0, b_);      // finds nothing
  out.delete_read(0);  // and what the transaction before read is forgotten
  out.commit();
  out.close(0);
  const Script script = script_.build();
  IndexApi api = real;
  api.deleteRecord = counting_delete;
  const Outcome outcome = play(script, api);
  EXPECT_EQ(deletes, 1u);
  expect_no_finding(script, outcome);
}

}  // namespace
}  // namespace keydrome
