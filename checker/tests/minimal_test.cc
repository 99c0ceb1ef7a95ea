// What is left of a violation: the same violation, a part of what was recorded, and every record
// that is seen has its writer.
#include "checker/minimal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "checker/calls.h"
#include "checker/search_orders.h"
#include "checker/tests/random_history.h"
#include "checker/tests/script.h"
#include "checker/witness.h"

namespace keydrome {
namespace {

using RecordName = std::tuple<uint16_t, uint64_t, uint64_t>;

RecordName name_of(const Event& event) { return {event.index, event.key, event.payload}; }

std::size_t calls(const History& history) {
  std::size_t count = 0;
  for (const auto& events : history.threads) count += events.size();
  return count;
}

// Records that a call shows and no call inserts.
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

// The small history of the first violation.
MinimalHistory minimal(const History& history) {
  const Certification found = certify(history);
  EXPECT_FALSE(found.violations.empty());
  std::optional<MinimalHistory> small = minimise(history, found.violations.front());
  EXPECT_TRUE(small.has_value()) << found.violations.front().name;
  return small.value_or(MinimalHistory{});
}

std::string text_of_minimal(std::string_view steps) {
  const MinimalHistory small = minimal(script(steps));
  std::string text;
  const Json witness = witness_json(small.history, small.violation, false);
  for (const Json& transaction : witness.find("transactions")->as_array()) {
    for (const Json& call : transaction.find("calls")->as_array()) {
      text += call.find("call")->as_string() + " ";
    }
  }
  return text;
}

TEST(Minimal, LeavesOutWhatNothingRestsOn) {
  const MinimalHistory small = minimal(script(
      "2:i!(50,n) 0:i!(1,v) 0:b 1:b 0:g(50)=n 0:g(1)=v 1:g(60)=NF 1:g(1)=v 0:d(1,v) 0:i(70,w) "
      "0:c 1:i(71,x) 1:d(1,v) 1:c"));
  EXPECT_EQ(small.violation.name, "lost_update");
  ASSERT_EQ(small.transactions.size(), 2u);
  // begin, deleteRecord, commit; and what was there before.
  EXPECT_EQ(small.history.threads[0].size(), 3u);
  EXPECT_EQ(small.history.threads[1].size(), 3u);
  ASSERT_EQ(small.history.threads.back().size(), 1u);
  EXPECT_EQ(small.history.threads.back()[0].key, 1u);
  EXPECT_EQ(small.transactions[0].calls_left_out + small.transactions[1].calls_left_out, 6u);
}

TEST(Minimal, KeepsTheStepsThatLedAScanThere) {
  const MinimalHistory small =
      minimal(script("0:i!(1,a) 0:i!(3,b) 0:i!(9,z) 0:b 1:b 0:g(1)=a 0:n=3,b 0:n=9,z 0:g(3)=b "
                     "1:g(8)=NF 0:i(8,y) 1:i(5,x) 0:c 1:c"));
  EXPECT_EQ(small.violation.name, "phantom");
  // get(1), getNext and getNext: without the first two, the third would say something else.
  const std::vector<Event>& events = small.history.threads[0];
  EXPECT_EQ(std::ranges::count(events, EventCall::kNext, call_of), 2);
  EXPECT_EQ(std::ranges::count(events, EventCall::kGet, call_of), 1);
  EXPECT_EQ(small.history.threads.back().size(), 3u) << "1, 3 and 9 were there before";
}

TEST(Minimal, ShowsWhoWroteWhatWasSeenAtTheSameTime) {
  // Thread 2 inserts while the others run: it is no part of the circle, but what it inserted is
  // seen.
  const MinimalHistory small = minimal(
      script("2:b 0:b 2:i(5,x) 2:i(6,n) 2:c 1:b 0:g(5)=x 1:g(5)=x 1:d(5,x) 0:d(5,x) 0:c 1:c"));
  EXPECT_EQ(small.violation.name, "lost_update");
  ASSERT_EQ(small.transactions.size(), 3u);
  EXPECT_EQ(small.transactions[2].span.thread, 2u);
  EXPECT_EQ(small.history.threads[2].size(), 3u) << "begin, insertRecord, commit";
  EXPECT_TRUE(small.history.threads.back().empty());
}

TEST(Minimal, ShowsTheTransactionThatFailed) {
  EXPECT_EQ(text_of_minimal("2:i!(9,n) 0:b 0:g(9)=n 0:i(5,x) 1:b 1:g(9)=n 1:g(5)=x 0:a 1:c"),
            "beginTransaction() get(\"A\", 5) commitTransaction() beginTransaction() "
            "insertRecord(\"A\", 5, r1) abortTransaction() ");
}

TEST(Minimal, AStaleReadKeepsItsName) {
  const MinimalHistory small = minimal(script("0:i!(1,a) 1:g!(1)=NF 1:g!(1)=a"));
  EXPECT_EQ(small.violation.name, "stale_read");
}

// Everything that the checker accuses, large histories included.
TEST(Minimal, IsTheSameViolationAndAPartOfTheWhole) {
  std::size_t violations = 0, minimised = 0, programs = 0;
  for (uint64_t seed = 1; seed <= rounds(3000); ++seed) {
    const History history = random_history(seed);
    const Certification found = certify(history);
    for (const Violation& violation : found.violations) {
      ++violations;
      const std::optional<MinimalHistory> small = minimise(history, violation);
      if (!small) continue;
      ++minimised;
      EXPECT_EQ(small->violation.name, violation.name) << seed;
      EXPECT_LE(calls(small->history), calls(history) + small->history.threads.back().size());
      if (violation.name != "corrupt_payload") {
        EXPECT_EQ(without_writer(small->history), 0u) << seed << " " << violation.name << "\n"
                                                      << text_of(small->history);
      }
      const OrderSearch plain = search_orders(small->history);
      EXPECT_FALSE(plain.problem.empty() && plain.order && plain.dirty_reads.empty())
          << "seed " << seed << ": " << violation.name << " is right when calls are left out";
      const Json witness = witness_json(history, violation);
      if (witness.find("program") != nullptr) ++programs;
    }
  }
  RecordProperty("violations", static_cast<int>(violations));
  RecordProperty("minimised", static_cast<int>(minimised));
  RecordProperty("programs", static_cast<int>(programs));
  EXPECT_GT(violations, rounds(3000) / 30);
  EXPECT_GT(minimised * 100, violations * 95) << "nearly all can be made smaller";
  EXPECT_GT(programs * 2, violations) << "and most can be played again";
}

}  // namespace
}  // namespace keydrome
