// Tests the benchmark "tpcc". Each check of a consistency condition must detect the corruption that
// a test makes for it. The keys, the random function NURand and the mix of transactions must follow
// TPC-C.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/judge/recorded/log_judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/tpcc/conditions.h"
#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/procedures.h"
#include "benchmarks/tpcc/random.h"
#include "benchmarks/tpcc/rows.h"
#include "benchmarks/tpcc/state.h"

namespace keydrome::tpcc {
namespace {

using testing::Faults;
using testing::play;
using testing::test_index;
using testing::text_of;

const workload::BenchmarkEntry& entry() {
  for (const workload::BenchmarkEntry& candidate : workload::benchmark_registry()) {
    if (candidate.name == "tpcc") return candidate;
  }
  fail(KEYDROME_HERE, "tpcc is not registered");
}

const workload::ParameterValues kTiny = {
    {"items", 40}, {"customers_per_district", 12}, {"warehouses", 2}};

workload::Parameters parameters_of(const std::string& instance,
                                   workload::ParameterValues overrides = {}) {
  for (const auto& [name, value] : kTiny) overrides.try_emplace(name, value);
  const workload::Manifest manifest = workload::Manifest::parse(entry().manifest_json).value();
  return manifest.resolve(instance, "smoke", overrides).value();
}

// A workload with its script and the outcome of playing it on an index.
struct Session {
  std::unique_ptr<workload::Workload> workload;
  workload::Parameters parameters;
  script::Script script;
  script::Outcome outcome;

  judge::Findings findings() const {
    judge::Findings findings;
    workload->judge(script, outcome, findings);
    return findings;
  }
};

Session session(const std::string& instance, uint64_t seed, const Faults& faults,
                const workload::ParameterValues& overrides = {}, bool recorded = false) {
  Session session{.workload = entry().make(instance),
                  .parameters = parameters_of(instance, overrides),
                  .script = {},
                  .outcome = {}};
  session.script = session.workload->generate(session.parameters, seed, {}).value();
  session.outcome = play(session.script, test_index(faults), recorded);
  return session;
}

class TpccInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(TpccInstance, ACorrectIndexPasses) {
  // The index returns DEADLOCK for every 9001st call. The scan of a table is one transaction, which
  // must fit between two DEADLOCKs.
  const Session done = session(GetParam(), 1, {.deadlock_every = 9001});
  const judge::Findings findings = done.findings();
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  const judge::Totals sum = judge::totals(done.script, done.outcome);
  EXPECT_EQ(sum.transactions_failed, 0u);
  EXPECT_GT(sum.deadlocks, 0u);
  EXPECT_GT(sum.committed[0], 100u);
}

TEST_P(TpccInstance, AFaultyIndexIsFound) {
  for (const Faults& faults :
       {Faults{.success_only = true}, Faults{.drops_every = 1000},
        Faults{.changes_payload_every = 100}, Faults{.keeps_aborted = true}}) {
    EXPECT_TRUE(session(GetParam(), 2, faults).findings().failed())
        << "drops_every " << faults.drops_every << ", changes_payload_every "
        << faults.changes_payload_every;
  }
}

INSTANTIATE_TEST_SUITE_P(Tpcc, TpccInstance,
                         ::testing::Values("mix", "mix_any_warehouse", "new_order_payment",
                                           "remote_sweep"));

// A corruption of the rows, which violates `condition` and possibly further conditions.
struct Corruption {
  const char* condition;
  std::function<void(tpcc::State&)> corrupt;
};

std::vector<Corruption> corruptions() {
  using tpcc::State;
  return {
      {"condition_1", [](State& s) { s.districts[3].ytd += 1; }},
      {"condition_2", [](State& s) { s.districts[3].next_order += 1; }},
      {"condition_3", [](State& s) { s.new_orders.erase(s.new_orders.begin() + 1); }},
      {"condition_4", [](State& s) { s.lines.erase(s.lines.begin() + 7); }},
      {"condition_5", [](State& s) { s.orders[2].carrier = 0; }},
      {"condition_6", [](State& s) { --s.orders[2].lines, ++s.orders[3].lines; }},
      {"condition_7", [](State& s) { s.lines[0].delivery = 0; }},
      {"condition_8", [](State& s) { s.warehouses[0].ytd += 5, s.districts[0].ytd += 5; }},
      {"condition_9", [](State& s) { --s.districts[0].ytd, ++s.districts[1].ytd; }},
      {"condition_10", [](State& s) { --s.customers[4].balance, ++s.customers[4].ytd_payment; }},
      {"condition_11", [](State& s) { s.new_orders.erase(s.new_orders.begin()); }},
      {"condition_12", [](State& s) { ++s.customers[4].ytd_payment; }},
      {"index_agreement", [](State& s) { s.names.pop_back(); }},
      {"index_agreement", [](State& s) { ++s.by_customer[5].o; }},
      {"order_numbers", [](State& s) { s.orders.erase(s.orders.begin() + 1); }},
      {"order_count",
       [](State& s) {  // adds a complete order
         tpcc::DistrictRow& last = s.districts.back();
         s.orders.push_back({last.district, last.next_order, 1, 0, 0});
         s.by_customer.push_back({last.district, 1, last.next_order, last.next_order});
         s.new_orders.push_back({last.district, 0, last.next_order, last.next_order});
         ++last.next_order;
       }},
      {"stock_sum", [](State& s) { ++s.stock[1].ytd; }},
      {"stock_sum", [](State& s) { ++s.stock[1].remotes; }},
      {"payment_count", [](State& s) { ++s.customers[0].payments; }},
      {"row_count", [](State& s) { --s.records[tpcc::slot(tpcc::Table::kItem)]; }},
      {"malformed_row", [](State& s) { s.malformed = 1; }},
  };
}

// Uses the rows after the load, which are known because no transaction has run.
TEST(Tpcc, EveryConditionFindsItsCorruption) {
  const Session loaded = session("mix", 3, {}, {{"transactions_per_thread", 1}});
  const tpcc::Scale scale(loaded.parameters);
  const tpcc::State state = tpcc::read_state(loaded.script, loaded.outcome.phases[2], 2);
  tpcc::Done done;
  done.deliveries.emplace();
  judge::Findings right;
  check_conditions(state, scale, done, "loaded", right);
  EXPECT_TRUE(right.empty()) << text_of(right);
  for (const Corruption& corruption : corruptions()) {
    tpcc::State corrupt = state;
    corruption.corrupt(corrupt);
    judge::Findings findings;
    check_conditions(corrupt, scale, done, "loaded", findings);
    EXPECT_GT(findings.count(corruption.condition), 0u)
        << corruption.condition << " was not found, but:\n"
        << text_of(findings);
  }
}

// Counts customers whose field C_DATA begins with a note that a payment has written. The first 16
// characters of such a note end with padding ("!!"), which loaded data do not have there.
int64_t bad_credit_payments(const script::Script& script, const script::PhaseOutcome& outcome) {
  constexpr auto kCustomer = static_cast<uint32_t>(tpcc::Table::kCustomer);
  int64_t found = 0;
  for (std::size_t t = 0; t < outcome.threads.size(); ++t) {
    const std::vector<format::Op>& ops = script.phases[4].threads[t];
    judge::for_each_evidence(ops, outcome.threads[t], [&](const format::Step& step, auto records) {
      if (ops[step.op - 2].argument != kCustomer) return;
      for (const script::Evidence& record : records) {
        int64_t key = 0;
        if (record.code == SUCCESS) std::memcpy(&key, record.key.data(), sizeof key);
        const bool is_data = key > 0 && key % 8 == tpcc::kFirstDataPart;
        if (is_data && record.payload.substr(format::kTagBytes + 14, 2) == "!!") ++found;
      }
    });
  }
  return found;
}

// Checks that the run adds orders, payments and deliveries. Other tests check their consistency.
TEST(Tpcc, TheRunDoesWhatItSays) {
  const Session done = session("mix", 4, {}, {{"transactions_per_thread", 400}});
  const tpcc::State before = tpcc::read_state(done.script, done.outcome.phases[2], 2);
  const tpcc::State after = tpcc::read_state(done.script, done.outcome.phases[4], 4);
  const judge::Totals sum = judge::totals(done.script, done.outcome);
  EXPECT_EQ(after.orders.size(), before.orders.size() + sum.committed[0]);
  EXPECT_EQ(after.history.size(), before.history.size() + sum.committed[1]);
  int64_t deliveries = 0, lines = 0;
  for (const tpcc::CustomerRow& row : after.customers) deliveries += row.deliveries;
  for (const tpcc::LineRow& row : after.lines) lines += row.delivery != 0 ? 0 : 1;
  EXPECT_GT(deliveries, 0);
  EXPECT_GT(lines, 0);
  EXPECT_GT(bad_credit_payments(done.script, done.outcome.phases[4]), 0);
  EXPECT_GT(sum.committed[2] + sum.committed[4], 50u);
}

TEST(Tpcc, TheMixIsThePublishedOne) {
  const auto workload = entry().make("mix");
  const script::Script script =
      workload->generate(parameters_of("mix", {{"transactions_per_thread", 5000}}), 5, {}).value();
  std::vector<double> counts(tpcc::kTransactions);
  double rolled_back = 0, lines = 0, remote_lines = 0, payments = 0, remote_payments = 0,
         by_name = 0;
  for (const std::vector<format::Op>& ops : script.phases[3].threads) {
    for (std::size_t at = 0; at < ops.size(); ++at) {
      if (ops[at].code != format::OpCode::kRun) continue;
      ++counts[ops[at].payload];
      const int64_t* parameters = &script.pools.parameters[ops[at].key];
      if (ops[at].payload == 0) {
        rolled_back += parameters[tpcc::kNewUnused] != 0 ? 1 : 0;
        lines += static_cast<double>(parameters[tpcc::kNewLines]);
        for (int64_t line = 0; line < parameters[tpcc::kNewLines]; ++line) {
          const auto first = tpcc::kNewParameters + line * tpcc::kLineParameters;
          remote_lines += static_cast<double>(parameters[first + tpcc::kLineRemote]);
        }
      } else if (ops[at].payload == 1) {
        ++payments;
        by_name += parameters[tpcc::kPayCustomer] == 0 ? 1 : 0;
        remote_payments +=
            parameters[tpcc::kPayOfWarehouse] != parameters[tpcc::kPayToWarehouse] ? 1 : 0;
      }
    }
  }
  const auto near = [](double count, double n, double p, const char* what) {
    EXPECT_NEAR(count, n * p, 3.3 * std::sqrt(n * p * (1 - p))) << what;
  };
  const double shares[] = {0.45, 0.43, 0.04, 0.04, 0.04};
  for (std::size_t i = 0; i < counts.size(); ++i) near(counts[i], 20'000, shares[i], "share");
  near(rolled_back, counts[0], 0.01, "rolled back");
  near(remote_lines, lines, 0.01, "remote lines");
  near(remote_payments, payments, 0.15, "remote payments");
  near(by_name, payments, 0.60, "by name");
  EXPECT_NEAR(lines / counts[0], 10, 0.15);
}

TEST(Tpcc, TheRemoteShareIsThatOfTheParameter) {
  for (const int64_t percent : {0, 25, 75}) {
    const auto workload = entry().make("remote_sweep");
    const workload::Parameters parameters = parameters_of(
        "remote_sweep", {{"transactions_per_thread", 2000}, {"remote_percent", percent}});
    const script::Script script = workload->generate(parameters, 6, {}).value();
    double transactions = 0, remote = 0;
    for (const std::vector<format::Op>& ops : script.phases[3].threads) {
      for (const format::Op& op : ops) {
        if (op.code != format::OpCode::kRun) continue;
        ++transactions;
        const int64_t* p = &script.pools.parameters[op.key];
        if (op.payload == 1) {
          remote += p[tpcc::kPayOfWarehouse] != p[tpcc::kPayToWarehouse] ? 1 : 0;
          continue;
        }
        int64_t lines = 0;
        for (int64_t line = 0; line < p[tpcc::kNewLines]; ++line) {
          lines += p[tpcc::kNewParameters + line * tpcc::kLineParameters + tpcc::kLineRemote];
        }
        EXPECT_LE(lines, 1);
        remote += static_cast<double>(lines);
      }
    }
    EXPECT_NEAR(remote / transactions, static_cast<double>(percent) / 100, 0.02);
  }
}

// Checks that the log contains only calls that the procedures, the programs of the transactions,
// may make. Then certifies the recorded history: proves that some serial order of the transactions
// gives its results.
TEST(Tpcc, ARecordedRunIsCertified) {
  const Session done =
      session("mix", 7, {.deadlock_every = 9001},
              {{"transactions_per_thread", 100}, {"warehouses", 1}, {"items", 20}}, true);
  judge::Findings findings;
  EXPECT_TRUE(judge::judge_logs(done.script, done.outcome, findings)) << text_of(findings);
  judge::judge_recorded(done.script, done.outcome, true, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  EXPECT_EQ(findings.not_judged_reason(), "");
  uint64_t aborted = 0;  // the log must contain rollbacks
  for (const std::vector<format::Op>& ops : done.script.phases[3].threads) {
    for (std::size_t at = 0; at + 1 < ops.size(); ++at) {
      const bool rolls_back = ops[at + 1].code == format::OpCode::kAbort;
      if (ops[at].code == format::OpCode::kRun && rolls_back) ++aborted;
    }
  }
  EXPECT_GT(aborted, 0u);
}

TEST(Tpcc, EqualSeedsGiveEqualScripts) {
  const auto script = [](uint64_t seed) {
    return entry().make("mix")->generate(parameters_of("mix"), seed, {}).value();
  };
  const script::Script a = script(8), b = script(8), c = script(9);
  EXPECT_EQ(a.pools.parameters, b.pools.parameters);
  EXPECT_EQ(a.pools.payloads, b.pools.payloads);
  EXPECT_NE(a.pools.parameters, c.pools.parameters);
}

// Compares keys with numbers that another program computed from the clauses of the standard.
TEST(Tpcc, KeysAreInTheOrderOfTheirTuples) {
  using namespace tpcc;
  EXPECT_EQ(district_key(2, 1), 33);
  EXPECT_EQ(district_key(32767, 10), 524282);
  EXPECT_EQ(customer_key(district_key(1, 1), 1, 6), 557070);
  EXPECT_EQ(customer_key(district_key(48, 10), 3000, 6), 25517510);
  EXPECT_EQ(order_key(district_key(1, 1), 3001), 73014447033);
  EXPECT_EQ(order_key(district_key(48, 10), 4294967295), 3345779523583);
  EXPECT_EQ(order_line_key(order_key(district_key(48, 10), 3001), 15), 53463752948639);
  EXPECT_EQ(order_by_customer_key(district_key(1, 1), 1, 3001), 299075752686662);
  EXPECT_EQ(order_by_customer_key(district_key(1, 1), 2, 3001), 299080047653958);
  EXPECT_EQ(stock_key(48, 100000, 3), 25565827);
  EXPECT_EQ(history_key(district_key(1, 1), 1, 0), 299071457722368);
  EXPECT_EQ(name_key(1, 1, "BARBARBAR", "abcdefg", 2),
            "0000101BARBARBAR!!!!!!!abcdefg!!!!!!!!!0002");
}

TEST(Tpcc, NurandIsTpccs) {
  using namespace tpcc;
  EXPECT_EQ(nurand_value(255, 999, 0, 0, 999), 23);
  EXPECT_EQ(nurand_value(127, 499, 0, 0, 999), 511);
  EXPECT_EQ(nurand_value(170, 982, 0, 0, 999), 22);
  EXPECT_EQ(nurand_value(0, 0, 123, 0, 999), 123);
  EXPECT_EQ(last_name(371), "PRICALLYOUGHT");
  EXPECT_EQ(last_name(0), "BARBARBAR");
  for (uint64_t seed = 0; seed < 200; ++seed) {
    workload::Rng constants(seed, 0, workload::Purpose::kShape);
    const NurandConstants c = random_constants(constants);
    const int64_t difference = std::abs(c.name - c.name_load);
    EXPECT_TRUE(difference >= 65 && difference <= 119 && difference != 96 && difference != 112);
  }
}

// Compares NURand with its exact distribution, computed from all pairs of random numbers.
TEST(Tpcc, NurandHasItsDistribution) {
  using namespace tpcc;
  constexpr int64_t kC = 123;
  std::vector<double> distribution(1000), counts(1000);
  for (int64_t small = 0; small <= kNurandName; ++small) {
    for (int64_t wide = 0; wide < 1000; ++wide) {
      ++distribution[static_cast<std::size_t>(nurand_value(small, wide, kC, 0, 999))];
    }
  }
  EXPECT_EQ(*std::max_element(distribution.begin(), distribution.end()),
            6561);  // 2.56 % of 256,000
  workload::Rng rng(10, 0, workload::Purpose::kStream);
  for (int i = 0; i < 256'000; ++i) {
    ++counts[static_cast<std::size_t>(nurand(rng, kNurandName, kC, 0, 999))];
  }
  double chi_square = 0, cells = 0;
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    if (distribution[i] < 20) continue;
    chi_square += (counts[i] - distribution[i]) * (counts[i] - distribution[i]) / distribution[i];
    ++cells;
  }
  // The bounds exclude one correct result in a thousand on either side, by the normal
  // approximation.
  EXPECT_NEAR(chi_square, cells, 3.3 * std::sqrt(2 * cells));
}

}  // namespace
}  // namespace keydrome::tpcc
