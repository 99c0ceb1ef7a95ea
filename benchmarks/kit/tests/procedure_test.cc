// Tests procedures: transactions whose calls depend on what they read. The tests cover the whole
// way: a builder writes a procedure, the interpreter executes it, and the judge checks its results.
#include "benchmarks/kit/format/procedure.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/log_judge.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

using testing::play;
using testing::test_index;
using testing::text_of;

constexpr format::Field kBalance{0, 4, true};
constexpr uint8_t kFrom = 0, kTo = 1, kAmount = 2, kBalanceOf = 3, kRow = 0, kOtherRow = 1;

// Transfers an amount from one account to another. The result is the remaining balance of the first
// account.
script::ProcedureBuilder transfer() {
  script::ProcedureBuilder p;
  for (const uint8_t to : {kFrom, kTo, kAmount}) p.parameter(to);
  p.get(0, kFrom, kRow);
  p.get(0, kTo, kOtherRow);
  p.load(kBalanceOf, kOtherRow, kBalance);
  p.add(kBalanceOf, kBalanceOf, kAmount);
  p.store(kOtherRow, kBalance, kBalanceOf);
  p.replace(0, kTo, kOtherRow);
  p.load(kBalanceOf, kRow, kBalance);
  p.subtract(kBalanceOf, kBalanceOf, kAmount);
  p.store(kRow, kBalance, kBalanceOf);
  p.replace(0, kFrom, kRow);
  p.result(kBalanceOf);
  p.end();
  return p;
}

// Subtracts an amount from an account and writes the new balance. Then rolls back if the new
// balance is negative.
script::ProcedureBuilder withdrawal() {
  script::ProcedureBuilder p;
  const script::ProcedureBuilder::Label poor = p.label();
  for (const uint8_t to : {kFrom, kAmount}) p.parameter(to);
  p.set(kTo, 0);
  p.get(0, kFrom, kRow);
  p.load(kBalanceOf, kRow, kBalance);
  p.subtract(kBalanceOf, kBalanceOf, kAmount);
  p.store(kRow, kBalance, kBalanceOf);
  p.replace(0, kFrom, kRow);
  p.result(kBalanceOf);
  p.jump_if_less(kBalanceOf, kTo, poor);
  p.end();
  p.place(poor);
  p.roll_back();
  p.end();
  return p;
}

// Adds up the balances of all accounts with keys from the first parameter up to, but not including,
// the second parameter.
script::ProcedureBuilder sum() {
  script::ProcedureBuilder p;
  const script::ProcedureBuilder::Label next = p.label(), done = p.label(), body = p.label();
  for (const uint8_t to : {kFrom, kTo}) p.parameter(to);
  p.scan(0, kFrom, kTo, kBalance);
  p.count(kTo);
  p.set(kAmount, 0);
  p.set(kFrom, 0);
  p.place(next);
  p.jump_if_less(kFrom, kTo, body);
  p.jump(done);
  p.place(body);
  p.element(kBalanceOf, kFrom);
  p.add(kAmount, kAmount, kBalanceOf);
  p.set(kBalanceOf, 1);
  p.add(kFrom, kFrom, kBalanceOf);
  p.jump(next);
  p.place(done);
  p.result(kAmount);
  p.end();
  return p;
}

class ProcedureTest : public ::testing::TestWithParam<KeyType> {
 protected:
  static constexpr int64_t kAccounts = 20;

  ProcedureTest() {
    script_.add_class("test");
    index_ = script_.add_index("accounts", GetParam());
    transfer_ = script_.add_procedure(transfer(), {.parameters = 3, .tags = 2, .calls = 6});
    sum_ = script_.add_procedure(sum(), {.parameters = 2, .tags = 0, .calls = 30});
    withdrawal_ = script_.add_procedure(withdrawal(), {.parameters = 2, .tags = 1, .calls = 3});
    script_.thread(script_.add_phase("create", 1, {}), 0).create(index_);
    script::ThreadBuilder load = script_.thread(script_.add_phase("load", 1, {}), 0);
    load.open(0, index_);
    std::string balance(4, '!');
    format::write_number(balance.data(), kBalance, 100);
    const uint32_t text = script_.add_text(balance);
    for (int64_t account = 0; account <= kAccounts; ++account) {
      keys_.push_back(add_key(account));
      if (account < kAccounts) load.insert(0, keys_.back(), script_.new_payload(text));
    }
    load.close(0);
    run_ = script_.add_phase("run", 4, {.timed = true, .recorded = true});
  }

  uint32_t add_key(int64_t account) {
    switch (GetParam()) {
      case SHORT:
        return script_.add_int32_key(static_cast<int32_t>(account));
      case INT:
        return script_.add_int64_key(account);
      default:
        return script_.add_varchar_key("account" + std::to_string(100 + account));
    }
  }

  // Returns the number of the account's key in a procedure.
  int64_t key(int64_t account) const {
    return GetParam() == VARCHAR ? keys_[static_cast<std::size_t>(account)] : account;
  }

  void run(script::ThreadBuilder& out, uint32_t procedure, const std::vector<int64_t>& parameters) {
    out.begin(format::Kind::kStream, 0);
    out.run(procedure, parameters, format::kEvidence);
    out.commit();
  }

  void open_and_transfer(uint32_t thread, int64_t from, int64_t to) {
    script::ThreadBuilder out = script_.thread(run_, thread);
    out.open(0, index_);
    for (int64_t i = 0; i < 50; ++i) {
      run(out, transfer_, {key((from + i) % kAccounts), key((to + 3 * i) % kAccounts), i});
    }
    run(out, sum_, {key(0), key(kAccounts)});
    out.close(0);
  }

  // Returns the results of all procedures of a thread.
  std::vector<int64_t> results(const script::Script& script, const script::Outcome& outcome,
                               uint32_t thread) {
    std::vector<int64_t> found;
    judge::for_each_evidence(script.phases[run_].threads[thread],
                             outcome.phases[run_].threads[thread],
                             [&](const format::Step&, std::span<const script::Evidence> records) {
                               int64_t result = 0;
                               std::memcpy(&result, records[0].payload.data(), sizeof result);
                               found.push_back(result);
                             });
    return found;
  }

  script::ScriptBuilder script_;
  std::vector<uint32_t> keys_;
  uint32_t index_ = 0, transfer_ = 0, sum_ = 0, withdrawal_ = 0, run_ = 0;
};

// Four threads transfer between all accounts. The accounts of a transfer always have an odd
// distance, so no transfer has the same account twice.
TEST_P(ProcedureTest, TransfersKeepTheSum) {
  for (uint32_t t = 0; t < 4; ++t) open_and_transfer(t, t, 2 * t + 1 + t % 2);
  script::add_verify_phase(script_, 1, 0);
  const script::Script script = script_.build();
  const script::Outcome outcome = play(script, test_index({.deadlock_every = 97}));
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_TRUE(judge::judge_logs(script, outcome, findings));
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  EXPECT_EQ(results(script, outcome, 0).size(), 51u);
}

TEST_P(ProcedureTest, AMissingRecordFailsATransactionThatCommits) {
  script::ThreadBuilder out = script_.thread(run_, 0);
  out.open(0, index_);
  run(out, transfer_, {key(0), key(kAccounts), 5});  // account kAccounts does not exist
  run(out, transfer_, {key(0), key(1), 5});
  out.close(0);
  script::add_verify_phase(script_, 1, 0);
  const script::Script script = script_.build();
  const script::Outcome outcome = play(script, test_index({}));
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_EQ(findings.count("missing_record"), 1u) << text_of(findings);
  EXPECT_EQ(findings.count("transactions_failed"), 1u);
  EXPECT_EQ(findings.count("outcome_mismatch"), 0u);
  EXPECT_EQ(results(script, outcome, 0), std::vector<int64_t>{95});
  EXPECT_TRUE(judge::judge_logs(script, outcome, findings)) << text_of(findings);
}

ErrCode failing_delete(IdxState*, TxnState*, Record*) { return FAILURE; }

TEST_P(ProcedureTest, AFindingNamesTheCallThatFailed) {
  script::ThreadBuilder out = script_.thread(run_, 0);
  out.open(0, index_);
  run(out, transfer_, {key(0), key(1), 5});
  out.close(0);
  const script::Script script = script_.build();
  player::IndexApi api = test_index({});
  api.deleteRecord = failing_delete;
  judge::Findings findings;
  judge::judge_script(script, play(script, api), findings);
  EXPECT_NE(text_of(findings).find("deleteRecord returned FAILURE, which keydrome/index.h does not "
                                   "allow here (allowed: SUCCESS, KEY_NOTFOUND and DEADLOCK)"),
            std::string::npos)
      << text_of(findings);
}

TEST_P(ProcedureTest, AnAbortedProcedureLeavesNothing) {
  for (const bool keeps_aborted : {false, true}) {
    script::ThreadBuilder out = script_.thread(run_, keeps_aborted ? 1 : 0);
    out.open(0, index_);
    out.begin(format::Kind::kStream, 0);
    out.run(transfer_, std::vector<int64_t>{key(0), key(1), 5});
    out.abort();
    out.close(0);
  }
  script::add_verify_phase(script_, 1, 0);
  const script::Script script = script_.build();
  for (const bool keeps_aborted : {false, true}) {
    judge::Findings findings;
    judge::judge_script(script, play(script, test_index({.keeps_aborted = keeps_aborted})),
                        findings);
    EXPECT_EQ(findings.count("impossible_record") > 0, keeps_aborted) << text_of(findings);
  }
}

TEST_P(ProcedureTest, AProcedureMayRollItsTransactionBack) {
  for (uint32_t t = 0; t < 4; ++t) {
    script::ThreadBuilder out = script_.thread(run_, t);
    out.open(0, index_);
    for (const int64_t amount : {60, 60, 40, 1}) run(out, withdrawal_, {key(t), amount});
    run(out, transfer_, {key(10 + t), key(15 + t), 5});
    out.close(0);
  }
  script::add_verify_phase(script_, 1, 0);
  const script::Script script = script_.build();
  script::Outcome outcome = play(script, test_index({.deadlock_every = 31}));
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_TRUE(judge::judge_logs(script, outcome, findings));
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  using enum script::TransactionEnd;
  const script::ThreadResult& first = outcome.phases[run_].threads[0];
  EXPECT_EQ(first.ends, (std::vector{kCommitted, kAborted, kCommitted, kAborted, kCommitted}));
  EXPECT_EQ(first.totals.aborted, 2u);
  EXPECT_EQ(results(script, outcome, 0), (std::vector<int64_t>{40, -20, 0, -1, 95}));

  judge::Findings kept;
  judge::judge_script(script, play(script, test_index({.keeps_aborted = true})), kept);
  EXPECT_GT(kept.count("impossible_record"), 0u) << text_of(kept);

  // A transfer never rolls back.
  outcome.phases[run_].threads[0].ends.back() = kAborted;
  judge::judge_counters(script, outcome, findings);
  EXPECT_EQ(findings.count("outcome_mismatch"), 1u) << text_of(findings);
}

INSTANTIATE_TEST_SUITE_P(Types, ProcedureTest, ::testing::Values(SHORT, INT, VARCHAR));

TEST(Digits, NumbersComeBack) {
  char text[16] = {};
  for (const int64_t number : {int64_t{-415'000}, int64_t{-1}, int64_t{0}, int64_t{39'000'000}}) {
    const format::Field field{3, 4, true};
    ASSERT_TRUE(field.holds(number));
    format::write_number(text, field, number);
    EXPECT_EQ(format::read_number({text, 7}, field), number);
  }
  EXPECT_FALSE(format::Field({0, 2}).holds(94 * 94));
  EXPECT_FALSE(format::Field({0, 2}).holds(-1));
  EXPECT_EQ(format::read_number("!", {0, 2}), std::nullopt);
  EXPECT_EQ(format::read_number("! ", {0, 2}), std::nullopt);
  EXPECT_EQ(format::read_number("BC", {0, 2}), 33 * 94 + 34);
}

}  // namespace
}  // namespace keydrome
