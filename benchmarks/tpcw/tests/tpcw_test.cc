// Tests the benchmark "tpcw". Each check of a consistency condition must detect the corruption that
// a test makes for it. The transactions of a web page must do what the name of the page says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/tpcw/conditions.h"
#include "benchmarks/tpcw/mixes.h"
#include "benchmarks/tpcw/procedures.h"
#include "benchmarks/tpcw/shop.h"

namespace keydrome::tpcw {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::Faults;
using testing::for_each_transaction;
using testing::make_script;
using testing::play;
using testing::test_index;
using testing::text_of;
using testing::timed_phase;

constexpr const char* kName = "tpcw";
constexpr uint32_t kLoad = 1, kLoaded = 2, kRun = 3, kVerify = 4;
const workload::ParameterValues kSmall = {
    {"items", 60}, {"customers", 60}, {"transactions_per_thread", 150}};

judge::Findings judged(const script::Script& script, const script::Outcome& outcome) {
  judge::Findings findings;
  testing::benchmark(kName).make("ordering")->judge(script, outcome, findings);
  return findings;
}

class TpcwInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(TpcwInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, GetParam(), 1, kSmall);
  expect_right_is_not_accused(kName, GetParam(), script);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(Tpcw, TpcwInstance, ::testing::Values("browsing", "shopping", "ordering"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// The index keeps the writes of transactions that end with DEADLOCK. So some records exist twice,
// and some transactions exist only in part.
TEST(Tpcw, TracesOfAbortedTransactionsAreFound) {
  const script::Script script = make_script(kName, "ordering", 2, kSmall);
  const judge::Findings findings =
      judged(script, play(script, test_index({.keeps_aborted = true, .deadlock_every = 1009})));
  EXPECT_GT(findings.count("malformed_row"), 0u) << text_of(findings);
}

TEST(Tpcw, APlainRunIsJudgedByTheSameConditions) {
  script::Script script = make_script(kName, "ordering", 4, kSmall,
                                      {.stripes = false, .canaries = false, .evidence = false});
  const judge::Findings right = judged(script, play(script, test_index({})));
  EXPECT_TRUE(right.empty()) << text_of(right);
  const judge::Findings wrong =
      judged(script, play(script, test_index({.changes_payload_every = 50})));
  EXPECT_TRUE(wrong.failed());
}

struct Corruption {
  const char* finding;
  std::function<void(Shop&)> corrupt;
};

// Returns corruptions of the shop, at least one for each finding. The first of `orders` is the
// newest order.
std::vector<Corruption> corruptions() {
  return {
      {"malformed_row", [](Shop& s) { s.malformed = 1, s.first_malformed = kItems; }},
      {"row_count", [](Shop& s) { s.items.erase(7); }},
      {"row_count", [](Shop& s) { s.customers.erase(7); }},
      {"row_count", [](Shop& s) { s.addresses.insert(1'000'000); }},
      {"row_count", [](Shop& s) { s.orders.erase(s.orders.begin()); }},
      {"row_count", [](Shop& s) { s.lines.erase(s.lines.begin()); }},
      {"order_lines", [](Shop& s) { s.lines.erase(s.lines.begin()); }},
      {"order_lines", [](Shop& s) { ++s.orders.begin()->second.lines; }},
      {"order_lines", [](Shop& s) { ++s.orders.begin()->second.number; }},
      {"order_lines", [](Shop& s) { ++s.orders.begin()->second.customer; }},
      {"order_lines", [](Shop& s) { ++s.lines.begin()->second.item; }},
      {"order_lines", [](Shop& s) { ++s.lines.begin()->second.quantity; }},
      {"line_amount", [](Shop& s) { ++s.lines.begin()->second.amount; }},
      {"line_amount", [](Shop& s) { s.lines.rbegin()->second.quantity = 0; }},
      {"order_total", [](Shop& s) { ++s.orders.begin()->second.total; }},
      {"order_total", [](Shop& s) { s.lines.begin()->second.amount += 1000; }},
      {"stock", [](Shop& s) { ++s.items.begin()->second.stock; }},
      {"item_price", [](Shop& s) { s.items.begin()->second.price = 99; }},
      {"logins", [](Shop& s) { --s.customers.begin()->second.logins; }},
      {"cart", [](Shop& s) { s.carts.erase(s.carts.begin()); }},
      {"cart", [](Shop& s) { ++s.carts.begin()->second; }},
      {"index_agreement", [](Shop& s) { ++s.items.begin()->second.date; }},
      {"index_agreement", [](Shop& s) { s.by_subject.erase(s.by_subject.begin()); }},
      {"index_agreement", [](Shop& s) { ++s.by_customer.begin()->second; }},
      {"index_agreement", [](Shop& s) { s.names.erase(s.names.begin()); }},
  };
}

TEST(Tpcw, EveryConditionFindsItsCorruption) {
  const script::Script script = make_script(kName, "ordering", 6, kSmall);
  const script::Outcome outcome = play(script, test_index({}));
  Books books = open_books(script, kLoad);
  keep_books(script, outcome, kRun, books);
  const Shop shop = read_scan(script, outcome, kVerify);
  ASSERT_FALSE(shop.carts.empty());  // corruptions need a cart
  judge::Findings right;
  check_shop(books, shop, "after the run", right);
  EXPECT_TRUE(right.empty()) << text_of(right);
  for (const Corruption& corruption : corruptions()) {
    Shop corrupt = shop;
    corruption.corrupt(corrupt);
    judge::Findings findings;
    check_shop(books, corrupt, "after the run", findings);
    EXPECT_GT(findings.count(corruption.finding), 0u)
        << corruption.finding << " was not found, but:\n"
        << text_of(findings);
  }
}

// Checks that the run has changed the shop: it has sold items.
TEST(Tpcw, TheRunDoesWhatItSays) {
  const script::Script script =
      make_script(kName, "ordering", 6, {{"transactions_per_thread", 400}});
  const script::Outcome outcome = play(script, test_index({}));
  const Shop before = read_scan(script, outcome, kLoaded),
             after = read_scan(script, outcome, kVerify);
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(before.orders.size(), 180u);
  EXPECT_TRUE(before.carts.empty());
  EXPECT_EQ(after.orders.size(), before.orders.size() + sum.committed[kBuyConfirmClass]);
  EXPECT_GT(sum.committed[kBuyConfirmClass], 100u);
  EXPECT_GT(after.customers.size(), before.customers.size() + 10);
  int64_t logins = 0;
  for (const auto& [number, customer] : after.customers) logins += customer.logins;
  EXPECT_GT(logins, 100);
  Books books = open_books(script, kLoad);
  keep_books(script, outcome, kRun, books);
  EXPECT_FALSE(books.new_prices.empty());
  std::map<int64_t, int64_t> lines;  // number of orders by number of lines
  for (const auto& [key, order] : after.orders) ++lines[order.lines];
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kLinesMax));
}

// Loads orders with the lines of other orders. A display of such an order must not commit. The test
// replaces lookups of customers with displays of their newest orders.
TEST(Tpcw, AnOrderThatIsNotWholeIsSeenByItsReader) {
  script::Script script = make_script(kName, "ordering", 7, kSmall);
  for (std::vector<format::Op>& ops : script.phases[kRun].threads) {
    for (format::Op& op : ops) {
      if (op.code == format::OpCode::kRun && op.payload == kLookUp) op.payload = kOrderDisplay;
    }
  }
  const judge::Findings right = judged(script, play(script, test_index({})));
  EXPECT_TRUE(right.empty()) << text_of(right);
  std::vector<format::Op*> lines;
  for (std::vector<format::Op>& ops : script.phases[kLoad].threads) {
    uint32_t table = kTables;
    for (format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) table = op.argument;
      if (op.code == format::OpCode::kInsert && table == kOrderLines && op.payload != 0 &&
          static_cast<format::Kind>(op.kind) == format::Kind::kStream) {
        lines.push_back(&op);
      }
    }
  }
  ASSERT_GT(lines.size(), 9u);
  for (std::size_t i = 1; i < lines.size(); ++i) std::swap(lines[0]->payload, lines[i]->payload);
  const judge::Findings findings = judged(script, play(script, test_index({})));
  EXPECT_GT(findings.count("missing_record"), 0u) << text_of(findings);
  EXPECT_GT(findings.count("order_total"), 0u) << text_of(findings);
}

TEST(Tpcw, BestSellersReadsTheLinesOfTheNewestOrders) {
  const auto calls = [](int64_t newest_orders) {
    const script::Script script =
        make_script(kName, "browsing", 8,
                    {{"threads", 1}, {"customers", 400}, {"newest_orders", newest_orders}},
                    {.stripes = false, .canaries = false, .evidence = false});
    const judge::Totals sum = judge::totals(script, play(script, test_index({})));
    EXPECT_GT(sum.committed[kClassOf[kBestSellersPage]], 10u);
    return static_cast<double>(sum.calls) /
           static_cast<double>(sum.committed[kClassOf[kBestSellersPage]]);
  };
  // An order has three lines on average. The lines of 300 orders need more than one scan.
  EXPECT_NEAR(calls(300) - calls(100), 200 * 3, 60);
}

void expect_share(double count, double n, double share) {
  EXPECT_NEAR(count, n * share, 3.3 * std::sqrt(n * share * (1 - share))) << share;
}

TEST_P(TpcwInstance, TheMixIsThePublishedOne) {
  const script::Script script =
      make_script(kName, GetParam(), 9, {{"transactions_per_thread", 5'000}});
  // By transaction class and procedure, the program of a page.
  std::map<std::pair<uint32_t, uint32_t>, double> counts;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    ASSERT_EQ(ops[1].code, format::OpCode::kRun);
    ++counts[{ops[0].class_, ops[1].payload}];
  });
  const auto* const mix = std::find_if(kMixes.begin(), kMixes.end(),
                                       [](const Mix& m) { return m.instance == GetParam(); });
  static constexpr std::array<Procedure, kInteractions> kPlayed = {
      kHome,        kNewProducts,  kBestSellers,   kProductDetail, kPromotion,
      kSearchTitle, kCart,         kLookUp,        kBuyRequest,    kBuyConfirm,
      kLookUp,      kOrderDisplay, kProductDetail, kAdminConfirm};
  const uint32_t registration = kClassOf[kCustomerRegistrationPage];
  const double registered = counts[{registration, kRegister}];
  expect_share(registered, counts[{registration, kLookUp}] + registered, 0.2);
  counts[{registration, kLookUp}] += registered;
  for (uint32_t page = 0; page < kInteractions; ++page) {
    expect_share(counts[{kClassOf[page], kPlayed[page]}], 20'000, mix->shares[page] / 1e4);
  }
}

TEST(Tpcw, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "ordering", 10, kSmall)),
            workload::fingerprint(make_script(kName, "ordering", 10, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "ordering", 10, kSmall)),
            workload::fingerprint(make_script(kName, "ordering", 11, kSmall)));
}

// Keys have the order of their tuples and are positive at the largest sizes.
TEST(Tpcw, KeysAreInTheOrderOfTheirTuples) {
  EXPECT_GT(subject_key(0, kLastDate, 0), -1);
  EXPECT_LT(subject_key(3, kToday + 1, 1'000'000), subject_key(3, kToday, 1));
  EXPECT_LT(subject_key(3, 1, 1'000'000), subject_key(4, kLastDate, 0));
  EXPECT_LT(order_key(8), order_key(7));
  EXPECT_LT(line_key(8, kLinesMax), line_key(7, 1));
  EXPECT_LT(customer_order_key(5, 1), customer_order_key(6, kNewest));
  EXPECT_LT(cart_key(249, 1'000'000), cart_key(250, 0));
}

}  // namespace
}  // namespace keydrome::tpcw
