// Tests the benchmark "tatp": table sizes, the mix of transactions and their rates of success, the
// distribution of subscribers, rows that several threads change, and each finding of the row check.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/tatp/books.h"
#include "benchmarks/tatp/rows.h"
#include "benchmarks/tatp/tests/stale_index.h"

namespace keydrome::tatp {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::for_each_transaction;
using testing::make_script;
using testing::play;
using testing::test_index;
using testing::text_of;
using testing::timed_phase;

constexpr const char* kName = "tatp";
constexpr uint32_t kLoad = 1, kRun = 2, kVerify = 3;
const workload::ParameterValues kSmall = {{"subscribers", 150}, {"transactions_per_thread", 600}};

void expect_share(double count, double n, double share) {
  EXPECT_NEAR(count, n * share, 3.3 * std::sqrt(n * share * (1 - share)));
}

class TatpInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(TatpInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, GetParam(), 1, kSmall);
  const script::Outcome outcome = expect_right_is_not_accused(kName, GetParam(), script);
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(sum.transactions_completed, 4 * 600u);
  EXPECT_LT(sum.get_hits, sum.gets);  // some gets must miss
  const Books books = keep_books(script, outcome, kLoad, kRun);
  EXPECT_TRUE(books.exact);
  EXPECT_EQ(books.succeeded + books.failed, 4 * 600u);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(Tatp, TatpInstance, ::testing::Values("nonuniform", "uniform"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Returns the keys of the loaded rows, by table.
std::array<std::set<int64_t>, 5> loaded(const script::Script& script) {
  std::array<std::set<int64_t>, 5> rows;
  for (const std::vector<format::Op>& ops : script.phases[1].threads) {
    uint32_t table = 0;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) table = op.argument;
      if (op.code != format::OpCode::kInsert ||
          static_cast<format::Kind>(op.kind) != format::Kind::kStream)
        continue;
      const int64_t key = table == 0   ? script.pools.int32_keys[op.key]
                          : table == 1 ? std::stoll(std::string(script.pools.varchar_keys[op.key]))
                                       : script.pools.int64_keys[op.key];
      EXPECT_TRUE(rows[table].insert(key).second);
    }
  }
  return rows;
}

// A subscriber has 2.5 access rows and 2.5 facilities on average, and a facility has 1.5
// forwardings. The probabilities are those of the specification.
TEST(Tatp, TablesHaveTheirSizes) {
  const std::array<std::set<int64_t>, 5> rows = loaded(
      make_script(kName, "uniform", 2, {{"subscribers", 4'000}, {"transactions_per_thread", 1}}));
  EXPECT_EQ(rows[0].size(), 4'000u);
  EXPECT_EQ(rows[1], rows[0]);
  std::map<int64_t, int> access;
  for (const int64_t key : rows[2]) ++access[key >> 3];
  std::array<double, 5> counts{};
  for (const auto& [subscriber, count] : access) ++counts.at(static_cast<std::size_t>(count));
  for (std::size_t count = 1; count <= 4; ++count) expect_share(counts[count], 4'000, 0.25);
  EXPECT_NEAR(static_cast<double>(rows[3].size()), 10'000, 250);
  EXPECT_NEAR(static_cast<double>(rows[4].size()), 1.5 * static_cast<double>(rows[3].size()), 350);
  for (const int64_t key : rows[4]) {
    ASSERT_TRUE(rows[3].contains(key >> 8 << 3 | (key >> 5 & 7)));
    ASSERT_TRUE((key & 31) == 0 || (key & 31) == 8 || (key & 31) == 16);
  }
}

// The mix of transactions is that of the specification. The rates of success follow from its
// distributions: 62.5 % for a random type, 31.25 % for a random forwarding, 14.8 % for a
// destination.
TEST(Tatp, TheMixAndItsRatesOfSuccessAreThePublishedOnes) {
  const script::Script script = make_script(
      kName, "uniform", 3, {{"subscribers", 2'000}, {"transactions_per_thread", 10'000}});
  const std::array<std::set<int64_t>, 5> rows = loaded(script);
  std::array<double, kTransactions> counts{};
  double access = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    const uint32_t transaction = ops[0].class_;
    ++counts.at(transaction);
    if (transaction == kGetAccessData)
      access += rows[2].contains(script.pools.int64_keys[ops[1].key]) ? 1 : 0;
    if (transaction < kProcedures) {
      ASSERT_EQ(ops[1].payload, transaction);
    }
  });
  const std::array shares = {0.10, 0.02, 0.14, 0.02, 0.02, 0.35, 0.35};
  for (std::size_t i = 0; i < shares.size(); ++i) expect_share(counts[i], 40'000, shares[i]);
  const script::Outcome outcome = play(script, test_index({}));
  const Books books = keep_books(script, outcome, kLoad, kRun);
  std::array<double, kProcedures> succeeded{};
  for (const Observation& seen : books.observations) {
    succeeded.at(seen.transaction) += seen.result != 0 ? 1 : 0;
  }
  // The bounds are wider than the binomial interval, because the loaded rows are random as well.
  EXPECT_NEAR(access / counts[kGetAccessData], 0.625, 0.03);
  EXPECT_NEAR(succeeded[kGetNewDestination] / counts[kGetNewDestination], 0.148, 0.02);
  EXPECT_NEAR(succeeded[kUpdateSubscriberData] / counts[kUpdateSubscriberData], 0.625, 0.07);
  EXPECT_NEAR(succeeded[kInsertCallForwarding] / counts[kInsertCallForwarding], 0.3125, 0.07);
  EXPECT_NEAR(succeeded[kDeleteCallForwarding] / counts[kDeleteCallForwarding], 0.3125, 0.07);
}

// Compares the non-uniform choice among 60 subscribers with its exact distribution.
TEST(Tatp, SubscribersFollowTheNonuniformDistribution) {
  constexpr uint64_t kSubscribers = 60, kA = 65'535;
  std::vector<double> distribution(kSubscribers), counts(kSubscribers);
  for (uint64_t a = 0; a <= kA; ++a) {
    for (uint64_t s = 1; s <= kSubscribers; ++s) distribution[(a | s) % kSubscribers] += 1;
  }
  const script::Script script = make_script(
      kName, "nonuniform", 4, {{"subscribers", kSubscribers}, {"transactions_per_thread", 15'000}});
  double draws = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    if (ops[0].class_ != kGetSubscriberData) return;
    ++counts.at(ops[1].key);
    ++draws;
  });
  double chi_square = 0;
  for (std::size_t s = 0; s < kSubscribers; ++s) {
    const double wanted = distribution[s] / static_cast<double>((kA + 1) * kSubscribers) * draws;
    chi_square += (counts[s] - wanted) * (counts[s] - wanted) / wanted;
  }
  // With 59 degrees of freedom, a correct program exceeds 98.3 once in 1,000 tests.
  EXPECT_LT(chi_square, 98.3);
  EXPECT_GT(chi_square, 30.0);
}

// At least five rows of each table are changed, and more than half of them by several threads.
TEST(Tatp, SeveralThreadsChangeTheSameRows) {
  const script::Script script =
      make_script(kName, "uniform", 5, {{"subscribers", 5}, {"transactions_per_thread", 3'000}});
  const script::Outcome outcome = expect_right_is_not_accused(kName, "uniform", script);
  const Books books = keep_books(script, outcome, kLoad, kRun);
  for (const Table table : {kSubscriber, kFacility, kForwarding}) {
    std::map<uint32_t, std::set<uint32_t>> threads;
    for (const Change& change : books.changes[table]) threads[change.row].insert(change.thread);
    std::size_t shared = 0;
    for (const auto& [row, writers] : threads) shared += writers.size() > 1 ? 1 : 0;
    EXPECT_GT(shared, threads.size() / 2) << "table " << table;
    EXPECT_GE(threads.size(), 5u) << "table " << table;
  }
}

// An update changes one column and keeps the others. A rolled-back update changes none.
TEST(Tatp, AnUpdateChangesOneColumn) {
  const script::Script script =
      make_script(kName, "uniform", 8, {{"subscribers", 200}, {"transactions_per_thread", 600}});
  const script::Outcome outcome = play(script, test_index({}));
  const Books books = keep_books(script, outcome, kLoad, kRun);
  const FoundRows found = read_rows(script, outcome, kVerify, books.subscribers());
  uint64_t located = 0;
  for (uint32_t s = 0; s < books.subscribers(); ++s) {
    std::string_view before = script.pools.payloads[books.loaded[kSubscriber][s].text];
    std::string_view after = found.rows[kSubscriber][s].text;
    ASSERT_EQ(before.substr(1, kVlrLocation.at - 1u), after.substr(1, kVlrLocation.at - 1u));
    located += before.substr(kVlrLocation.at) != after.substr(kVlrLocation.at) ? 1 : 0;
  }
  EXPECT_GT(located, 100u);
}

judge::Findings judged(const script::Script& script, const script::Outcome& outcome) {
  judge::Findings findings{kName};
  testing::benchmark(kName).make("uniform")->judge(script, outcome, findings);
  return findings;
}

// Without evidence (copied results) the judge still checks the rows of subscribers and facilities.
TEST(Tatp, APlainRunIsJudgedByItsRows) {
  const script::Script script = make_script(
      kName, "uniform", 9, kSmall, {.stripes = false, .canaries = false, .evidence = false});
  const script::Outcome outcome = play(script, test_index({}));
  const Books books = keep_books(script, outcome, kLoad, kRun);
  EXPECT_FALSE(books.exact);
  EXPECT_TRUE(judged(script, outcome).empty()) << text_of(judged(script, outcome));
  FoundRows found = read_rows(script, outcome, kVerify, books.subscribers());
  found.rows[kSubscriber][7].tag = books.changes[kSubscriber].front().tag;
  judge::Findings findings;
  check_rows(script.pools, books, found, findings);
  EXPECT_EQ(findings.count("lost_update"), 1u) << text_of(findings);
}

// The row check finds old rows of subscribers, which a lost update leaves. The check of single
// reads finds gets that return old rows.
TEST(Tatp, StaleRowsAreFound) {
  const script::Script script =
      make_script(kName, "uniform", 10, {{"subscribers", 20}, {"transactions_per_thread", 500}});
  const judge::Findings lost = judged(script, play(script, stale::index_with(stale::What::kRow)));
  EXPECT_GT(lost.count("lost_update"), 0u) << text_of(lost);
  const judge::Findings read = judged(script, play(script, stale::index_with(stale::What::kRead)));
  EXPECT_GT(read.count("impossible_read"), 0u) << text_of(read);
}

struct Corruption {
  const char* finding;
  std::function<void(Books&, FoundRows&)> corrupt;
};

// Returns a row of the table that `accepts` accepts.
uint32_t row_with(const Books& books, Table table, const std::function<bool(uint32_t)>& accepts) {
  uint32_t row = 0;
  while (row < books.loaded[table].size() && !accepts(row)) ++row;
  EXPECT_LT(row, books.loaded[table].size());
  return row;
}

class TatpCheck : public ::testing::Test {
 protected:
  TatpCheck()
      : script_(make_script(kName, "uniform", 11,
                            {{"subscribers", 300}, {"transactions_per_thread", 1'000}})),
        outcome_(play(script_, test_index({}))),
        books_(keep_books(script_, outcome_, kLoad, kRun)),
        found_(read_rows(script_, outcome_, kVerify, books_.subscribers())) {}

  // Corrupts the books (the expected rows) or the found rows once for each entry, and expects the
  // finding of the entry.
  void expect_found(const std::vector<Corruption>& corruptions) {
    judge::Findings right;
    check_rows(script_.pools, books_, found_, right);
    EXPECT_TRUE(right.empty()) << text_of(right);
    for (std::size_t i = 0; i < corruptions.size(); ++i) {
      Books books = books_;
      FoundRows found = found_;
      corruptions[i].corrupt(books, found);
      judge::Findings findings;
      check_rows(script_.pools, books, found, findings);
      EXPECT_GT(findings.count(corruptions[i].finding), 0u)
          << corruptions[i].finding << " was not found by corruption " << i << ", but:\n"
          << text_of(findings);
    }
  }

  bool is_active(uint32_t facility) const {
    const uint32_t text = books_.loaded[kFacility][facility].text;
    return format::read_number(script_.pools.payloads[text], kIsActive) == 1;
  }

  const script::Script script_;
  const script::Outcome outcome_;
  const Books books_;
  const FoundRows found_;
};

TEST_F(TatpCheck, RowsThatAreMissingOrTwiceThereAreFound) {
  const uint32_t absent =
      row_with(books_, kFacility, [&](uint32_t row) { return !books_.is_loaded(kFacility, row); });
  const uint32_t free = row_with(
      books_, kForwarding, [&](uint32_t row) { return found_.rows[kForwarding][row].rows == 0; });
  const uint32_t taken = row_with(
      books_, kForwarding, [&](uint32_t row) { return found_.rows[kForwarding][row].rows == 1; });
  expect_found({
      {"row_count", [](Books&, FoundRows& f) { f.rows[kSubscriber][3].rows = 0; }},
      {"row_count", [](Books&, FoundRows& f) { f.rows[kSubscriber][3].rows = 2; }},
      {"row_count", [&](Books&, FoundRows& f) { f.rows[kFacility][absent].rows = 1; }},
      {"row_count", [&](Books&, FoundRows& f) { f.rows[kForwarding][free].rows = 1; }},
      {"row_count", [&](Books&, FoundRows& f) { f.rows[kForwarding][taken].rows = 0; }},
      {"row_count", [&](Books&, FoundRows& f) { f.rows[kForwarding][taken].rows = 2; }},
      {"malformed_row",
       [](Books&, FoundRows& f) {
         f.malformed.push_back("the record of facility with key 7 has no tag");
       }},
      {"impossible_read", [](Books& b, FoundRows&) { b.wrong_reads.push_back({3, 0, "failed"}); }},
  });
}

TEST_F(TatpCheck, ColumnsAndLostUpdatesAreFound) {
  const auto& changes = books_.changes[kSubscriber];
  const auto changed = [&](uint32_t row) { return !books_.changes_of(kSubscriber, row).empty(); };
  const auto twice = [&](uint32_t row) {  // the first thread changed the row more than once
    const auto of_row = books_.changes_of(kSubscriber, row);
    return of_row.size() > 1 && of_row[0].thread == of_row[1].thread;
  };
  const uint32_t s = row_with(books_, kSubscriber, changed),
                 old = row_with(books_, kSubscriber, twice),
                 quiet = row_with(books_, kSubscriber, [&](uint32_t row) { return !changed(row); }),
                 facility = row_with(books_, kFacility, [&](uint32_t row) {
                   return !books_.changes_of(kFacility, row).empty();
                 });
  std::string text;  // of the corrupted row
  const auto with_column = [&](FoundRows& f, Table table, uint32_t row, format::Field field) {
    FoundRow& found = f.rows[table][row];
    text = found.text;
    const int64_t value = *format::read_number(text, field);
    format::write_number(text.data(), field, value == 0 ? 1 : value - 1);
    found.text = text;
  };
  ASSERT_FALSE(changes.empty());
  expect_found({
      {"lost_update",
       [&](Books& b, FoundRows& f) { f.rows[kSubscriber][s].tag = b.loaded[kSubscriber][s].tag; }},
      {"lost_update",
       [&](Books& b, FoundRows& f) {
         f.rows[kSubscriber][old].tag = b.changes_of(kSubscriber, old)[0].tag;
       }},
      {"lost_update", [&](Books&, FoundRows& f) { f.rows[kSubscriber][s].tag = 1; }},
      {"lost_update", [&](Books&, FoundRows& f) { with_column(f, kSubscriber, s, kVlrLocation); }},
      {"lost_update",
       [&](Books&, FoundRows& f) { with_column(f, kSubscriber, quiet, kVlrLocation); }},
      {"lost_update", [&](Books&, FoundRows& f) { with_column(f, kSubscriber, quiet, kBit1); }},
      {"changed_column",
       [&](Books&, FoundRows& f) { with_column(f, kSubscriber, s, {.at = 20, .width = 2}); }},
      {"changed_column",
       [&](Books&, FoundRows& f) { with_column(f, kFacility, facility, kDataA); }},
      {"changed_column",
       [&](Books&, FoundRows& f) { with_column(f, kFacility, facility, kIsActive); }},
      {"changed_column",
       [&](Books&, FoundRows& f) {
         f.rows[kSubscriber][s].text = f.rows[kSubscriber][s].text.substr(1);
       }},
  });
}

TEST_F(TatpCheck, ResultsWithoutReasonAreFound) {
  const auto untouched = [&](uint32_t row) { return books_.changes_of(kForwarding, row).empty(); };
  const uint32_t absent =
      row_with(books_, kFacility, [&](uint32_t row) { return !books_.is_loaded(kFacility, row); });
  const uint32_t present =
      row_with(books_, kFacility, [&](uint32_t row) { return books_.is_loaded(kFacility, row); });
  const uint32_t there = row_with(books_, kForwarding, [&](uint32_t row) {
    return row % kStarts == 0 && untouched(row) && books_.is_loaded(kForwarding, row) &&
           is_active(facility_of(row));
  });
  const uint32_t never = row_with(books_, kForwarding, [&](uint32_t row) {
    return untouched(row) && !books_.is_loaded(kForwarding, row) &&
           books_.is_loaded(kFacility, facility_of(row));
  });
  const auto seen = [](Transaction transaction, uint32_t row, int64_t result) {
    return [=](Books& b, FoundRows&) {
      b.observations.push_back({.transaction = transaction, .row = row, .result = result});
    };
  };
  expect_found({
      {"impossible_result", seen(kUpdateSubscriberData, absent, 1)},
      {"impossible_result", seen(kUpdateSubscriberData, present, 0)},
      {"impossible_result", seen(kInsertCallForwarding, forwarding_row(absent, 1), 1)},
      {"impossible_result", seen(kInsertCallForwarding, never, 0)},
      {"impossible_result", seen(kDeleteCallForwarding, there, 0)},
      // Every forwarding ends after 0:00, so the first one of an active facility must be counted.
      {"impossible_result", seen(kGetNewDestination, there, 0)},
      {"impossible_result", seen(kGetNewDestination, there, 2)},
      {"impossible_result", seen(kGetNewDestination, forwarding_row(absent, 2), 1)},
  });
}

TEST(Tatp, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "nonuniform", 6, kSmall)),
            workload::fingerprint(make_script(kName, "nonuniform", 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "nonuniform", 6, kSmall)),
            workload::fingerprint(make_script(kName, "nonuniform", 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::tatp
