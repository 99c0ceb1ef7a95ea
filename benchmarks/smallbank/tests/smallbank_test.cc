// Tests the benchmark "smallbank". A test corrupts the balances in each way that the check of all
// balances knows, and the check must report the right finding. Write skew must be found, and the
// mix of transactions must be the published one.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/smallbank/money.h"
#include "benchmarks/smallbank/tests/snapshot_index.h"

namespace keydrome::smallbank {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::for_each_transaction;
using testing::make_script;
using testing::play;
using testing::test_index;
using testing::text_of;
using testing::timed_phase;

constexpr const char* kName = "smallbank";
constexpr uint32_t kLoad = 1, kRun = 2, kVerify = 3;
const workload::ParameterValues kSmall = {{"accounts", 150}, {"transactions_per_thread", 500}};

class SmallBankInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(SmallBankInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, GetParam(), 1, kSmall);
  const script::Outcome outcome = expect_right_is_not_accused(kName, GetParam(), script);
  const Books books = keep_books(script, outcome, kLoad, kRun);
  EXPECT_GT(books.refusals.size(), 50u);
  EXPECT_EQ(books.committed + books.refusals.size(), 4 * 500u);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(SmallBank, SmallBankInstance, ::testing::Values("hot_100", "hot_10"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Without evidence (copied results) the judge checks the rows and the sum of all balances, and
// allows for possible penalties. A sum outside these bounds is a finding.
TEST(SmallBank, APlainRunIsJudgedByItsSum) {
  const script::Script script = make_script(
      kName, "hot_10", 2, kSmall, {.stripes = false, .canaries = false, .evidence = false});
  const script::Outcome outcome = play(script, test_index({}));
  judge::Findings right;
  testing::benchmark(kName).make("hot_10")->judge(script, outcome, right);
  EXPECT_TRUE(right.empty()) << text_of(right);
  const Books books = keep_books(script, outcome, kLoad, kRun);
  EXPECT_FALSE(books.exact);
  EXPECT_GT(books.penalties_max, 0);
  for (const int64_t sign : {-1, 1}) {
    Balances balances = read_balances(script, outcome, kVerify, books.accounts.size());
    balances.checking[0].sum += sign * (books.penalties_max + 1);
    judge::Findings findings;
    check_money(books, balances, findings);
    EXPECT_EQ(findings.count("money_sum"), 1u) << text_of(findings);
    EXPECT_EQ(findings.count("account_money"), 0u);
  }
}

struct Corruption {
  const char* finding;
  std::function<void(Books&, Balances&)> corrupt;
};

// Corrupts the books (the expected money) or the found balances once for each entry, and expects
// the finding of the entry.
TEST(SmallBank, EveryCheckFindsItsCorruption) {
  const script::Script script =
      make_script(kName, "hot_10", 3, {{"accounts", 2000}, {"transactions_per_thread", 300}});
  const script::Outcome outcome = play(script, test_index({}));
  const Books books = keep_books(script, outcome, kLoad, kRun);
  const Balances balances = read_balances(script, outcome, kVerify, books.accounts.size());
  judge::Findings right;
  check_money(books, balances, right);
  EXPECT_TRUE(right.empty()) << text_of(right);
  ASSERT_TRUE(books.exact);
  ASSERT_TRUE(books.accounts[0].emptied);
  ASSERT_FALSE(books.accounts[1999].emptied);
  const std::vector<Corruption> corruptions = {
      {"row_count", [](Books&, Balances& b) { b.savings[3].rows = 0; }},
      {"row_count", [](Books&, Balances& b) { b.checking[3].rows = 2; }},
      {"row_count", [](Books&, Balances& b) { b.malformed = 1; }},
      {"money_sum", [](Books&, Balances& b) { b.checking[3].sum -= 130; }},
      {"account_money", [](Books&, Balances& b) { ++b.savings[3].sum, --b.savings[4].sum; }},
      {"impossible_balance",
       [](Books& b, Balances&) {
         const Account& c = b.accounts[1999];
         b.balances.push_back({kBalance, 1999, c.savings + c.checking + c.paid_in + 1});
       }},
      {"impossible_balance",
       [](Books& b, Balances&) {
         const Account& c = b.accounts[1999];
         b.balances.push_back({kBalance, 1999, c.savings + c.checking - c.paid_out - 1});
       }},
      {"groundless_abort",
       [](Books& b, Balances&) { b.refusals.push_back({kSendPayment, 1999, 500}); }},
      {"groundless_abort",
       [](Books& b, Balances&) { b.refusals.push_back({kTransactSavings, 1999, 2020}); }},
      {"groundless_abort",
       [](Books& b, Balances&) { b.refusals.push_back({kTransactSavings, 0, -2020}); }},
  };
  for (const Corruption& corruption : corruptions) {
    Books other = books;
    Balances others = balances;
    corruption.corrupt(other, others);
    judge::Findings findings;
    check_money(other, others, findings);
    EXPECT_GT(findings.count(corruption.finding), 0u)
        << corruption.finding << " was not found, but:\n"
        << text_of(findings);
  }
}

// WriteCheck reads savings that TransactSavings withdraws at the same time, and a Balance sees only
// the withdrawal. Every sum is right, but a recorded run, in which all calls are judged together,
// names the anomaly. The test replaces all other transactions with these three, because other
// writers of checking balances would mostly conflict with WriteCheck.
TEST(SmallBank, WriteSkewIsFoundInARecordedRun) {
  script::Script script = make_script(
      kName, "hot_10", 5, {{"accounts", 4}, {"hot_accounts", 2}, {"transactions_per_thread", 400}},
      {.stripes = false, .canaries = false, .evidence = true});
  for (std::vector<format::Op>& ops : script.phases[kRun].threads) {
    for (format::Op& op : ops) {
      if (op.code != format::OpCode::kRun || op.payload == kWriteCheck) continue;
      op.payload = op.payload <= kBalance ? kBalance : kTransactSavings;
    }
  }
  const script::Outcome outcome = play(script, snapshots::snapshot_index(), true);
  judge::Findings findings;
  testing::benchmark(kName).make("hot_10")->judge(script, outcome, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  judge::judge_recorded(script, outcome, true, findings);
  EXPECT_GT(findings.count("read_only_anomaly"), 0u) << text_of(findings);
}

void expect_share(double count, double n, double share) {
  EXPECT_NEAR(count, n * share, 3.3 * std::sqrt(n * share * (1 - share)));
}

TEST(SmallBank, MixAmountsAndHotSetAreThePublishedOnes) {
  const script::Script script =
      make_script(kName, "hot_100", 4, {{"accounts", 1000}, {"transactions_per_thread", 5'000}});
  constexpr std::array<int64_t, kTransactions> kAmounts = {0, 0, 130, 500, 2020, 500};
  std::array<double, kTransactions> counts{};
  std::vector<double> hot(100);
  double hot_ones = 0, taken = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    ASSERT_EQ(ops[1].code, format::OpCode::kRun);
    const uint32_t transaction = ops[1].payload;
    const int64_t* parameters = &script.pools.parameters[ops[1].key];
    ++counts.at(transaction);
    ASSERT_EQ(ops[0].class_, transaction);
    ASSERT_EQ(std::abs(parameters[kAmount]), kAmounts[transaction]);
    ASSERT_NE(parameters[kCustomer], parameters[kOther]);
    ASSERT_EQ(parameters[kCustomer] < 100, parameters[kOther] < 100);
    ASSERT_TRUE(parameters[kCustomer] < 1000 && parameters[kOther] < 1000);
    if (parameters[kAmount] < 0) ++taken;
    if (parameters[kCustomer] >= 100) return;
    ++hot_ones;
    ++hot[static_cast<std::size_t>(parameters[kOther])];
  });
  const std::array shares = {0.15, 0.15, 0.15, 0.25, 0.15, 0.15};
  for (std::size_t i = 0; i < shares.size(); ++i) expect_share(counts[i], 20'000, shares[i]);
  expect_share(hot_ones, 20'000, 0.9);
  expect_share(taken, counts[kTransactSavings], 0.5);
  testing::expect_uniform(hot);
}

TEST(SmallBank, AHotSetOfNearlyAllIsRefused) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("hot_10", "smoke", {{"accounts", 11}}).value();
  const Result<script::Script> script =
      testing::benchmark(kName).make("hot_10")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise accounts"), std::string::npos);
}

TEST(SmallBank, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "hot_10", 6, kSmall)),
            workload::fingerprint(make_script(kName, "hot_10", 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "hot_10", 6, kSmall)),
            workload::fingerprint(make_script(kName, "hot_10", 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::smallbank
