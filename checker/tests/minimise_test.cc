// Tests minimise(), which reduces a recorded history to the calls that prove a violation. The
// result is called the minimal history. It must have only recorded calls, and must show the same
// violation. For every record that its calls return, it must contain the insert.
//
// script.h explains the notation of the histories. For example, in "0:b 0:i(5,x) 0:c 1:g!(5)=NF",
// thread 0 begins, inserts payload x under key 5 and commits. Then a get of thread 1 outside a
// transaction (auto-commit) does not find key 5.
#include "checker/witness/minimise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "checker/certify/certify.h"
#include "checker/history/calls.h"
#include "checker/model/search_orders.h"
#include "checker/tests/random_history.h"
#include "checker/tests/script.h"
#include "checker/witness/witness.h"

namespace keydrome {

using certify::Certification;
using certify::Violation;
using history::Event;
using history::EventCall;
using history::History;
using model::OrderSearch;
using witness::MinimalHistory;

namespace {

using RecordName = std::tuple<uint16_t, uint64_t, uint64_t>;

RecordName name_of(const Event& event) { return {event.index, event.key, event.payload}; }

std::size_t calls(const History& history) {
  std::size_t count = 0;
  for (const auto& events : history.threads) count += events.size();
  return count;
}

// Returns the number of records that a call returns but no call inserts.
std::size_t without_writer(const History& history) {
  std::set<RecordName> shown, inserted;
  for (const auto& events : history.threads) {
    for (const Event& event : events) {
      if (shows_record(event)) shown.insert(name_of(event));
      if (call_of(event) == EventCall::kInsert && succeeded(event)) inserted.insert(name_of(event));
    }
  }
  std::set<RecordName> alone;
  std::ranges::set_difference(shown, inserted, std::inserter(alone, alone.end()));
  return alone.size();
}

// Returns the minimal history of the first violation of `history`.
MinimalHistory minimal(const History& history) {
  const Certification found = certify::certify(history);
  EXPECT_FALSE(found.violations.empty());
  std::optional<MinimalHistory> small = witness::minimise(history, found.violations.front());
  EXPECT_TRUE(small.has_value()) << found.violations.front().name;
  return small.value_or(MinimalHistory{});
}

std::string text_of_minimal(std::string_view steps) {
  const MinimalHistory small = minimal(script(steps));
  std::string text;
  const Json witness = witness::witness_json(small.history, small.violation, false);
  for (const Json& transaction : witness.find("transactions")->as_array()) {
    for (const Json& call : transaction.find("calls")->as_array()) {
      text += call.find("call")->as_string() + " ";
    }
  }
  return text;
}

TEST(Minimal, LeavesOutCallsThatTheViolationDoesNotDependOn) {
  const MinimalHistory small = minimal(script(
      "2:i!(50,n) 0:i!(1,v) 0:b 1:b 0:g(50)=n 0:g(1)=v 1:g(60)=NF 1:g(1)=v 0:d(1,v) 0:i(70,w) "
      "0:c 1:i(71,x) 1:d(1,v) 1:c"));
  EXPECT_EQ(small.violation.name, "lost_update");
  ASSERT_EQ(small.transactions.size(), 2u);
  // Threads 0 and 1 keep begin, deleteRecord and commit. The last thread inserts the *initial*
  // record, i.e. the one that existed before these transactions.
  EXPECT_EQ(small.history.threads[0].size(), 3u);
  EXPECT_EQ(small.history.threads[1].size(), 3u);
  ASSERT_EQ(small.history.threads.back().size(), 1u);
  EXPECT_EQ(small.history.threads.back()[0].key, 1u);
  EXPECT_EQ(small.transactions[0].calls_left_out + small.transactions[1].calls_left_out, 6u);
}

// A witness of a lost update with one transaction does not show what was lost.
TEST(Minimal, ALostUpdateShowsBothTransactions) {
  for (const char* steps : {"0:i!(1,v) 0:b 1:b 0:d(1,*) 1:d(1,*) 0:c 1:c",
                            "0:i!(1,v) 0:b 1:b 0:d(1,*) 0:c 1:d(1,*) 1:c",
                            "0:i!(1,v) 0:b 1:b 0:d(1,v) 0:c 1:d(1,*) 1:c",
                            "0:i!(1,v) 0:b 0:d(1,*) 0:c 1:b 1:d(1,*) 1:c",
                            "0:i!(1,v) 0:i!(1,w) 0:b 1:b 0:d(1,*) 0:c 1:d(1,*) 1:c",
                            "0:i!(1,v) 0:b 1:b 2:b 0:d(1,*) 1:d(1,*) 2:d(1,*) 0:c 1:c 2:c"}) {
    const History history = script(steps);
    const Certification found = certify::certify(history);
    ASSERT_FALSE(found.violations.empty()) << steps;
    for (const Violation& violation : found.violations) {
      if (violation.name != "lost_update") continue;
      EXPECT_GE(violation.transactions.size(), 2u) << steps << ": " << violation.detail;
      const Json witness = witness::witness_json(history, violation, false);
      std::size_t deletes = 0;
      for (const Json& transaction : witness.find("transactions")->as_array()) {
        for (const Json& call : transaction.find("calls")->as_array()) {
          const bool marked = call.find("marked")->as_bool();
          deletes += marked && call.find("call")->as_string().starts_with("deleteRecord") ? 1 : 0;
        }
      }
      EXPECT_EQ(deletes, 2u) << steps << ": " << violation.detail;
    }
  }
}

TEST(Minimal, KeepsTheScanStepsBeforeACitedCall) {
  const MinimalHistory small =
      minimal(script("0:i!(1,a) 0:i!(3,b) 0:i!(9,z) 0:b 1:b 0:g(1)=a 0:n=3,b 0:n=9,z 0:g(3)=b "
                     "1:g(8)=NF 0:i(8,y) 1:i(5,x) 0:c 1:c"));
  EXPECT_EQ(small.violation.name, "phantom");
  // Thread 0 keeps get(1) and the first getNext, because without them the second getNext would
  // return another record.
  const std::vector<Event>& events = small.history.threads[0];
  EXPECT_EQ(std::ranges::count(events, EventCall::kNext, history::call_of), 2);
  EXPECT_EQ(std::ranges::count(events, EventCall::kGet, history::call_of), 1);
  EXPECT_EQ(small.history.threads.back().size(), 3u) << "1, 3 and 9 are initial records";
}

TEST(Minimal, KeepsTheWritersOfRecordsThatOthersSaw) {
  // Thread 2 inserts a record while the other threads run. This transaction is not in the cycle,
  // but the other transactions see its record.
  const MinimalHistory small = minimal(
      script("2:b 0:b 2:i(5,x) 2:i(6,n) 2:c 1:b 0:g(5)=x 1:g(5)=x 1:d(5,x) 0:d(5,x) 0:c 1:c"));
  EXPECT_EQ(small.violation.name, "lost_update");
  ASSERT_EQ(small.transactions.size(), 3u);
  EXPECT_EQ(small.transactions[2].span.thread, 2u);
  EXPECT_EQ(small.history.threads[2].size(), 3u) << "begin, insertRecord, commit";
  EXPECT_TRUE(small.history.threads.back().empty());
}

TEST(Minimal, KeepsTheFailedWriterOfARecord) {
  EXPECT_EQ(text_of_minimal("2:i!(9,n) 0:b 0:g(9)=n 0:i(5,x) 1:b 1:g(9)=n 1:g(5)=x 0:a 1:c"),
            "beginTransaction() get(\"A\", 5) commitTransaction() beginTransaction() "
            "insertRecord(\"A\", 5, r1) abortTransaction() ");
}

// Programs that read reports accept at most 64 transactions. So the witness (the calls that prove a
// violation) leaves out the last transactions that only wrote records.
TEST(Minimal, TheWitnessOfManyWritersShows64Transactions) {
  // Thread 0 scans 70 records that 70 other transactions insert after its begin, and misses the
  // record (75,m), which existed before its begin.
  std::string steps = "1:i!(75,m) 0:b 0:g(75)=m";
  std::string scan = " 0:g(0)=NF";
  for (int key = 1; key <= 70; ++key) {
    const std::string record = std::to_string(key) + ",p" + std::to_string(key);
    steps += " 1:i!(" + record + ")";
    scan += " 0:n=" + record;
  }
  const MinimalHistory small = minimal(script(steps + " 1:i!(80,z)" + scan + " 0:n=80,z 0:c"));
  ASSERT_GT(small.transactions.size(), 64u);
  const Json witness = witness::witness_json(small.history, small.violation, false);
  EXPECT_EQ(witness.find("transactions")->as_array().size(), 64u);
  ASSERT_NE(witness.find("transactions_left_out"), nullptr);
  EXPECT_EQ(witness.find("transactions_left_out")->as_int(),
            static_cast<int64_t>(small.transactions.size()) - 64);
}

// The second handle skips the record of key 7. So the results are wrong whether each handle has its
// own cursor or both handles share one.
TEST(Minimal, TheProgramOpensASecondHandle) {
  const History history = script(
      "0:i!(5,x) 0:i!(7,y) 0:i!(9,z) 1:open 1:A2.open 1:b 1:n=5,x 1:A2.n=5,x 1:n=7,y 1:A2.n=9,z "
      "1:c");
  const Certification found = certify::certify(history);
  ASSERT_FALSE(found.violations.empty());
  const std::string text = witness::witness_json(history, found.violations[0]).dump();
  EXPECT_NE(text.find("openIndex(names[attempt][0], &further[0][0])"), std::string::npos) << text;
  EXPECT_NE(text.find("getNext(further[0][0], txn, &record)"), std::string::npos) << text;
  EXPECT_NE(text.find("handle 2"), std::string::npos) << text;
}

TEST(Minimal, AStaleReadKeepsItsName) {
  const MinimalHistory small = minimal(script("0:i!(1,a) 1:g!(1)=NF 1:g!(1)=a"));
  EXPECT_EQ(small.violation.name, "stale_read");
}

// Reduces every violation that certify() reports in random histories.
TEST(Minimal, HasTheSameViolationAndOnlyRecordedCalls) {
  std::size_t violations = 0, minimised = 0, programs = 0;
  for (uint64_t seed = 1; seed <= rounds(3000); ++seed) {
    const History history = random_history(seed);
    const Certification found = certify::certify(history);
    for (const Violation& violation : found.violations) {
      if (violation.severity == Severity::kAdvisory) continue;
      ++violations;
      const std::optional<MinimalHistory> small = witness::minimise(history, violation);
      if (!small) continue;
      ++minimised;
      EXPECT_EQ(small->violation.name, violation.name) << seed;
      EXPECT_LE(calls(small->history), calls(history) + small->history.threads.back().size());
      if (violation.name != "corrupt_payload") {
        EXPECT_EQ(without_writer(small->history), 0u) << seed << " " << violation.name << "\n"
                                                      << text_of(small->history);
      }
      const OrderSearch plain = model::search_orders(small->history);
      EXPECT_FALSE(plain.problem.empty() && plain.order && plain.dirty_reads.empty())
          << "seed " << seed << ": " << violation.name << " is right when calls are left out";
      const Json witness = witness::witness_json(history, violation);
      if (witness.find("program") != nullptr) ++programs;
    }
  }
  RecordProperty("violations", static_cast<int>(violations));
  RecordProperty("minimised", static_cast<int>(minimised));
  RecordProperty("programs", static_cast<int>(programs));
  EXPECT_GT(violations, rounds(3000) / 30);
  // One more is allowed, because with the few rounds of a build with sanitizers the limit is less
  // than one violation.
  EXPECT_LE(violations - minimised, violations / 20 + 1) << "nearly all violations must be reduced";
  EXPECT_GT(programs * 2, violations) << "at least half of the violations must get a C program";
}

// `keydrome check` prints the detail and the witness of a finding. It leaves out a detail that the
// summary repeats.
TEST(Witness, TheSummaryContainsTheDetail) {
  for (const char* text : {"0:b 0:i(5,x) 0:d(5,x) 1:b ~0:c 1:g(5)=x 1:c",
                           "0:i!(1,a) 0:b 1:b 0:g(1)=a 1:d(1,a) 1:c 0:d(1,a) 0:c"}) {
    const History history = script(text);
    const Certification found = certify::certify(history);
    ASSERT_FALSE(found.violations.empty()) << text;
    const Json witness = witness::witness_json(history, found.violations[0]);
    const std::string summary = witness.find("summary")->as_string();
    EXPECT_NE(summary.find(found.violations[0].detail), std::string::npos) << summary;
  }
}

}  // namespace
}  // namespace keydrome
