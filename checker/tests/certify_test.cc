// Tests certify(), which decides whether a recorded history of concurrent transactions is right. It
// must find and name each anomaly, and certify histories that only look wrong. A *blind* delete
// removes all payloads of a key that its transaction has not read. The deleter of a record that
// such a delete may have removed is *open*. A serial order respects *real time* if T1 precedes T2
// whenever transaction T1 had returned before T2 began.
//
// script.h explains the notation of the histories. For example, in "0:b 0:i(5,x) 0:c 1:g!(5)=NF",
// thread 0 begins, inserts payload x under key 5 and commits. Then a get of thread 1 outside a
// transaction (auto-commit) does not find key 5.
#include "checker/certify/certify.h"

#include <gtest/gtest.h>

#include <set>

#include "checker/bench/synthetic_history.h"
#include "checker/model/search_orders.h"
#include "checker/tests/script.h"
#include "checker/witness/report.h"
#include "checker/witness/witness.h"

namespace keydrome {

using certify::Certification;
using certify::CertifyOptions;
using certify::Coverage;
using certify::EdgeKind;
using certify::Verdict;
using certify::Violation;
using certify::ViolationEdge;
using history::Event;
using history::History;
using history::kUnknownKeyRank;

namespace {

// Returns the name of the first violation. If there is none, returns the name of the verdict.
std::string verdict(const History& history, const CertifyOptions& options = {}) {
  const Certification found = certify::certify(history, options);
  return found.violations.empty() ? witness::name_of(found.verdict) : found.violations.front().name;
}

// Returns the history with calls that all last from its beginning to its end.
History without_time(History history) {
  uint64_t end = 0;
  for (const std::vector<Event>& events : history.threads) {
    for (const Event& event : events) end = std::max(end, event.end);
  }
  for (std::vector<Event>& events : history.threads) {
    for (Event& event : events) {
      event.end = end;
      event.duration = static_cast<uint32_t>(end);
    }
  }
  history.timestamp_slack = UINT64_MAX;
  return history;
}

std::set<std::string> names_of_required(const Certification& found) {
  std::set<std::string> names;
  for (const Violation& violation : found.violations) {
    if (violation.severity == Severity::kRequired) names.insert(violation.name);
  }
  return names;
}

struct NamedCase {
  const char* name;
  const char* steps;
};

class Anomaly : public testing::TestWithParam<NamedCase> {};

TEST_P(Anomaly, HasItsName) {
  EXPECT_EQ(verdict(script(GetParam().steps)), GetParam().name) << GetParam().steps;
}

// Timestamps can be too coarse to order two transactions of one thread. certify() then uses the
// order of the thread's calls in the log. But certify() assumes no order between transactions of
// different threads.
TEST(Certify, TheOrderOfAThreadNeedsNoTimestamps) {
  for (const NamedCase& wrong : {NamedCase{"stale_read", "0:i!(1,a) 0:g!(1)=NF 1:g!(1)=a"},
                                 {"missing_record", "0:b 0:i(1,a) 0:c 0:b 0:g(1)=NF 0:c"},
                                 {"missing_record", "0:b 0:i(1,a) 0:c 0:g!(1)=NF"},
                                 {"missing_record", "0:i!(1,a) 0:b 0:g(1)=NF 0:c"},
                                 {"missing_record", "0:b 0:i!(1,a) 0:c 0:b 0:g(1)=NF 0:c"}}) {
    EXPECT_EQ(verdict(without_time(script(wrong.steps))), wrong.name) << wrong.steps;
  }
  for (const char* right : {"0:i!(1,a) 0:g!(1)=a", "0:i!(1,a) 1:g!(1)=NF",
                            "0:b 0:i!(1,a) 0:g(1)=NF 0:c", "0:b 0:i!(1,a) 0:c 1:b 1:g(1)=NF 1:c"}) {
    EXPECT_EQ(verdict(without_time(script(right))), "certified") << right;
  }
}

// The CPU may read its counter too early, so that the end timestamp of a read is too small.
// timestamp_slack allows for this error.
TEST(Certify, AnEarlyTimestampIsNoDirtyRead) {
  History history = script("0:b 0:i(5,x) 1:b 1:g(5)=x 0:c 1:c");
  EXPECT_EQ(verdict(history), "dirty_read");
  history.timestamp_slack = 1'000'000;
  EXPECT_EQ(verdict(history), "certified");
  EXPECT_TRUE(model::search_orders(history).dirty_reads.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Names, Anomaly,
    testing::Values(
        NamedCase{"dirty_write",
                  "0:i!(1,a) 0:i!(2,b) 0:b 1:b 0:d(1,a) 0:i(1,x) 1:d(1,x) 1:d(2,b) 1:i(2,y) "
                  "1:c 0:d(2,y) 0:c"},
        NamedCase{"aborted_read", "0:b 0:i(5,x) 1:b 1:g(5)=x 0:a 1:c"},
        NamedCase{"aborted_read", "0:b 0:i(5,x) 1:b 1:g(5)=x 0:a 1:a"},
        NamedCase{"aborted_read", "0:i!(5,x) 0:b 0:d(5,x) 0:a 1:g!(5)=NF"},
        NamedCase{"dirty_read", "0:b 0:i(5,x) 1:b 1:g(5)=x 1:c 0:c"},
        NamedCase{"intermediate_read", "0:b 0:i(5,x) 0:d(5,x) 1:b ~0:c 1:g(5)=x 1:c"},
        NamedCase{
            "circular_information_flow",
            "2:b 2:i(1,a) 2:i(2,b) 2:c 0:b 1:b 0:d(1,a) 1:d(2,b) 0:g(2)=NF 1:g(1)=NF 0:c 1:c"},
        NamedCase{"non_repeatable_read", "0:i!(1,a) 0:b 0:g(1)=a 1:d!(1,a) 0:g(1)=NF 0:c"},
        NamedCase{"phantom", "0:b 0:g(7)=NF 1:i!(7,x) 0:g(7)=x 0:c"},
        NamedCase{"phantom",
                  "0:i!(1,a) 0:i!(9,z) 0:b 0:g(1)=a 0:n=9,z 1:i!(5,x) 0:g(1)=a 0:n=5,x "
                  "0:c"},
        NamedCase{"read_skew",
                  "0:i!(1,a) 0:i!(2,b) 0:b 0:g(1)=a 1:b 1:d(1,a) 1:d(2,b) 1:i(2,y) "
                  "1:c 0:g(2)=y 0:c"},
        NamedCase{"torn_commit", "1:b 0:b 1:i(1,x) 1:i(2,y) 1:c 0:g(1)=x 0:g(2)=NF 0:c"},
        NamedCase{"lost_update",
                  "0:i!(1,v) 0:b 1:b 0:g(1)=v 1:g(1)=v 0:d(1,v) 0:i(1,w) 0:c "
                  "1:d(1,v) 1:i(1,u) 1:c"},
        NamedCase{"lost_update", "0:i!(1,v) 0:b 1:b 0:d(1,*) 1:d(1,*) 0:c 1:c"},
        NamedCase{"write_skew",
                  "0:i!(1,a) 0:i!(2,b) 0:b 1:b 0:g(1)=a 0:g(2)=b 1:g(1)=a 1:g(2)=b "
                  "0:d(1,a) 1:d(2,b) 0:c 1:c"},
        NamedCase{"phantom", "0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:c"},
        NamedCase{"phantom", "0:b 1:b 0:n=END 1:B.n=END 0:B.i(2,x) 1:i(1,y) 0:c 1:c"},
        NamedCase{"phantom", "0:b 1:b 0:d(1,*)=NF 1:d(2,q)=NONE 0:i(2,q) 1:i(1,y) 0:c 1:c"},
        NamedCase{"read_only_anomaly",
                  "0:i!(1,x0) 0:i!(2,y0) 1:b 1:g(1)=x0 1:g(2)=y0 0:b 0:g(2)=y0 0:d(2,y0) "
                  "0:i(2,y1) 0:c 2:b 2:g(1)=x0 2:g(2)=y1 2:c 1:d(1,x0) 1:i(1,x1) 1:c"},
        NamedCase{"stale_read", "0:i!(1,a) 0:d!(1,a) 1:g!(1)=a 1:g!(1)=NF"},
        NamedCase{"stale_read", "0:i!(1,a) 0:d!(1,*) 1:b 1:n=1,a 1:c 1:n!=END"},
        NamedCase{"deleted_record", "0:i!(1,a) 0:d!(1,a) 1:g!(1)=a"},
        NamedCase{"deleted_record", "0:i!(1,a) 0:d!(1,*) 1:g!(2)=NF 1:b 1:n=1,a 1:c"},
        NamedCase{"stale_read", "0:i!(1,a) 1:g!(1)=NF 1:g!(1)=a"},
        // Only a failed transaction deleted the record, so the record still exists.
        NamedCase{"stale_read", "0:i!(1,a) 0:b 0:d(1,a) 0:a 1:g!(1)=NF 1:g!(1)=a"},
        NamedCase{"missing_record", "0:i!(1,a) 1:g!(1)=NF"},
        NamedCase{"duplicate_record", "0:i!(1,a) 0:i!(1,b) 0:b 0:g(1)=a 0:n=1,a 0:c"},
        NamedCase{"wrong_order", "0:i!(1,a) 0:i!(5,b) 0:b 0:g(5)=b 0:n=1,a 0:c"},
        NamedCase{"internal", "0:b 0:i(1,a) 0:g(1)=NF 0:c"},
        NamedCase{"internal", "0:i!(1,a) 0:b 0:d(1,a) 0:g(1)=a 0:c"},
        NamedCase{"internal", "0:b 0:d(1,*) 0:c"},
        NamedCase{"internal", "0:i!(1,a) 0:b 0:d(1,*) 0:d(1,*) 0:c"},
        NamedCase{"internal", "0:i!(1,a) 0:b 0:d(1,a) 0:d(1,*) 0:c"},
        NamedCase{"corrupt_payload", "0:i!(1,a) 0:g!(1)=b"},
        NamedCase{"corrupt_payload", "0:i!(1,a) 0:g!(2)=a"},
        NamedCase{"commit_after_deadlock", "0:b 0:g(1)=DL 0:c"},
        NamedCase{"answer_after_deadlock", "0:b 0:g(1)=DL 0:g(1)=NF 0:a"},
        NamedCase{"illegal_answer", "0:b 0:i(1,a)=TXN 0:c 1:g!(1)=NF"},
        NamedCase{"illegal_answer", "0:open 0:b 0:i(1,a)=NODB 0:c 1:g!(1)=NF"},
        NamedCase{"illegal_answer", "0:open 0:close 0:open 0:b 0:d(1,*)=NODB 0:c"},
        NamedCase{"illegal_answer", "0:b 0:i(1,a) 0:c=TXN 0:a"},
        NamedCase{"undocumented_code", "0:b 0:g(1)=END 0:c"},
        NamedCase{"unexpected_failure", "0:b 0:g(1)=FAIL 0:c"},
        // Histories that must be certified.
        NamedCase{"certified", ""}, NamedCase{"certified", "0:b 0:c"},
        NamedCase{"certified", "0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:c=DL 1:a"},
        NamedCase{"certified", "0:i!(1,a) 0:b 0:g(1)=a 1:i!(2,x) 0:i(3,y) 0:c 1:g!(2)=x"},
        NamedCase{"certified", "0:i!(1,a) 0:b 0:g(1)=NF 0:a"},
        NamedCase{"certified",
                  "0:i!(1,a) 0:i!(5,b) 0:open 0:open 0:b 0:n=1,a 0:A2.n=1,a 0:A2.n=5,b 0:c"},
        NamedCase{"certified", "0:i!(1,a) 0:open 0:open 0:b 0:n=1,a 0:A2.n=END 0:d(1,*) 0:c"},
        NamedCase{"certified", "0:i!(1,v) 0:b 1:b 0:d(1,*) 1:d(1,*)=NF 0:c 1:c"},
        NamedCase{"certified", "0:i!(1,a) 0:d!(1,a) 0:i!(1,a) 0:g!(1)=a"},
        NamedCase{"certified", "0:b 0:g(1)=DL 0:g(1)=DL 0:i(2,x)=DL 0:c=DL 0:a"},
        // After DEADLOCK, TXN_DNE is a right result. After closeIndex, DB_DNE is a right result,
        // because the client may pass the closed handle.
        NamedCase{"certified", "0:b 0:g(1)=DL 0:g(1)=TXN 0:i(2,x)=TXN 0:c=TXN 0:a=TXN"},
        // A commit that returns TXN_DNE ends the transaction, so the client may begin the next one.
        NamedCase{"certified", "0:b 0:g(1)=DL 0:c=TXN 0:b 0:g(1)=NF 0:c"},
        NamedCase{"certified", "0:open 0:close 0:b 0:i(1,a)=NODB 0:c"},
        NamedCase{"certified", "0:open 0:open 0:close 0:b 0:i(1,a)=NODB 0:c"},
        // Histories that cannot be judged.
        NamedCase{"could_not_judge", "0:c"}, NamedCase{"could_not_judge", "0:b 0:b"},
        NamedCase{"could_not_judge", "0:i!(1,a) 0:b 0:d(1,a) 1:g!(1)=NF 1:g!(1)=NF"}));

// certify() reports KEY_NOTFOUND for a missing pair only if real time proves that the key had
// another payload.
TEST(Certify, TheCodeForAMissingPairIsAdvisory) {
  for (const char* steps : {"0:i!(5,x) 1:d!(5,y)=NF", "0:b 0:i(5,x) 0:d(5,y)=NF 0:c",
                            "0:i!(5,x) 0:b 1:b 0:d(5,y)=NF 1:i(5,z) 1:c 0:c"}) {
    const Certification found = certify::certify(script(steps));
    EXPECT_EQ(found.verdict, Verdict::kCertified) << steps;
    ASSERT_EQ(found.violations.size(), 1u) << steps;
    EXPECT_EQ(found.violations[0].name, "delete_code");
    EXPECT_EQ(found.violations[0].severity, Severity::kAdvisory);
  }
  for (const char* steps : {"0:d!(5,y)=NF 0:i!(5,x)", "0:b 1:b 0:d(5,y)=NF 1:i(5,x) 1:c 0:c",
                            "0:i!(5,x) 0:b 0:d(5,*) 0:d(5,y)=NF 0:c"}) {
    EXPECT_EQ(verdict(script(steps)), "certified") << steps;
  }
}

// After DB_END a scan may start again, but only at the first record.
TEST(Certify, ASecondScanIsJudgedFromItsFirstRecord) {
  const std::string records = "0:i!(5,x) 0:i!(7,y) 0:i!(9,z) ";
  const std::string end = "1:b 1:g(9)=z 1:n=END ";
  EXPECT_EQ(verdict(script(records + end + "1:n=5,x 1:n=7,y 1:n=9,z 1:n=END 1:c")), "certified");
  EXPECT_EQ(verdict(script(records + end + "1:n=7,y 1:n=9,z 1:c")), "missing_record");
  EXPECT_EQ(verdict(script(records + end + "1:n=9,z 1:c")), "missing_record");
  EXPECT_EQ(verdict(script("0:i!(5,w) " + records + end + "1:n=5,x 1:n=7,y 1:c")),
            "missing_record");
  // A record that the transaction inserted under the cursor's key may continue the first scan.
  EXPECT_EQ(verdict(script(records + end + "1:i(9,u) 1:n=9,u 1:n=END 1:c")), "certified");
  // A transaction that deletes what a second scan returned is judged like one with a single scan.
  EXPECT_EQ(verdict(script(records + end + "1:n=5,x 1:n=7,y 1:d(5,*) 1:c 0:g!(5)=NF")),
            "certified");
}

TEST(Certify, RealTimeIsAdvisoryIfOnlySerialisabilityIsRequired) {
  const CertifyOptions lax{.strict = false};
  const Certification stale = certify::certify(script("0:i!(1,a) 1:g!(1)=NF 1:g!(1)=a"), lax);
  EXPECT_EQ(stale.verdict, Verdict::kCertified) << stale.reason;
  ASSERT_EQ(stale.violations.size(), 1u);
  EXPECT_EQ(stale.violations[0].severity, Severity::kAdvisory);
  EXPECT_EQ(verdict(script("0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:c"), lax),
            "phantom");
}

// Two kinds of results are wrong in every order: lost data, and a transaction that does not see an
// earlier change of its own thread.
TEST(Certify, WithoutRealTimeALostChangeIsAViolation) {
  const CertifyOptions lax{.strict = false};
  for (const auto& [name, steps] : std::initializer_list<std::pair<const char*, const char*>>{
           {"missing_record", "0:i!(1,a) 1:g!(1)=NF"},
           {"deleted_record", "0:i!(1,a) 0:d!(1,a) 1:g!(1)=a"},
           {"deleted_record", "0:i!(1,a) 0:i!(1,b) 0:d!(1,*) 1:b 1:g(1)=b 1:n=END 1:c"},
           {"read_your_writes", "0:i!(1,a) 0:g!(1)=NF 1:g!(1)=a"},
           {"read_your_writes", "0:i!(1,a) 0:d!(1,a) 0:g!(1)=a 1:g!(1)=NF"},
           {"read_your_writes", "0:i!(1,a) 0:b 0:n=END 0:c 1:g!(1)=a"},
           {"read_your_writes", "0:i!(1,a) 0:d!(1,*) 0:g!(1)=a 1:g!(1)=NF"},
           {"read_your_writes", "0:i!(1,a) 1:i!(1,b) 0:d!(1,*) 0:b 0:n=1,a 0:c 1:g!(1)=NF"},
           {"read_your_writes", "1:i!(1,a) 0:d!(1,*) 0:g!(1)=a 1:g!(1)=NF"}}) {
    const Certification found = certify::certify(script(steps), lax);
    EXPECT_EQ(found.verdict, Verdict::kViolation) << steps << found.reason;
    EXPECT_EQ(names_of_required(found), std::set<std::string>{name}) << steps;
  }
  // Another thread may see an old state, and so may a transaction that began before the change.
  for (const char* steps :
       {"0:i!(1,a) 1:g!(1)=NF 0:g!(1)=a", "1:i!(1,a) 1:d!(1,a) 0:g!(1)=a 0:g!(1)=NF",
        "0:b 0:g(1)=NF 0:i!(1,a) 0:g(1)=NF 0:c 1:g!(1)=a",
        "1:i!(1,a) 1:i!(1,b) 0:d!(1,*) 0:g!(1)=a 1:g!(1)=NF"}) {
    EXPECT_EQ(certify::certify(script(steps), lax).verdict, Verdict::kCertified) << steps;
  }
}

TEST(Certify, ACycleCitesACallForEveryEdge) {
  const History history =
      script("0:i!(1,a) 0:i!(9,z) 0:b 1:b 0:g(1)=a 0:n=9,z 1:g(20)=NF 1:i(5,x) 0:i(20,y) 0:c 1:c");
  const Certification found = certify::certify(history);
  ASSERT_EQ(found.violations.size(), 1u);
  const Violation& phantom = found.violations[0];
  ASSERT_EQ(phantom.edges.size(), 2u);
  ASSERT_EQ(phantom.transactions.size(), 2u);
  for (const ViolationEdge& edge : phantom.edges) {
    EXPECT_EQ(edge.kind, EdgeKind::kPredicateWrite);
    ASSERT_EQ(edge.causes.size(), 2u);
    const Event& seen = history.threads[edge.causes[0].thread][edge.causes[0].position];
    const Event& written = history.threads[edge.causes[1].thread][edge.causes[1].position];
    EXPECT_EQ(edge.causes[0].thread, phantom.transactions[edge.from].thread);
    EXPECT_EQ(edge.causes[1].thread, phantom.transactions[edge.to].thread);
    const bool scan = edge.coverage == Coverage::kGap;
    EXPECT_EQ(witness::event_text(history, seen).substr(0, 7), scan ? "getNext" : "get(A, ");
    EXPECT_EQ(witness::event_text(history, written).substr(0, 15), "insertRecord(A,");
  }
  const std::string text = witness::text_report(history, found);
  EXPECT_NE(text.find(" covered that key, but did not return the record"), std::string::npos)
      << text;
}

TEST(Certify, AfterAFullLogNothingIsJudged) {
  History history = script("0:i!(1,a) 1:g!(1)=NF 0:i!(2,b) 1:g!(3)=c");
  history.truncated_threads = {0};
  EXPECT_EQ(verdict(history), "missing_record");
  history.threads[1].erase(history.threads[1].begin());
  EXPECT_EQ(verdict(history), "could_not_judge")
      << "before the log filled up, no call is wrong, and the later calls are unknown";
  history.truncated_threads.clear();
  EXPECT_EQ(verdict(history), "corrupt_payload");
  history.truncated_threads = {7};
  EXPECT_EQ(verdict(history), "could_not_judge");
}

TEST(Certify, AnUnfinishedTransactionCausesNoViolation) {
  EXPECT_EQ(verdict(script("0:i!(1,a) 0:b 0:d(1,a) 1:g!(1)=NF 1:g!(1)=a")), "could_not_judge");
  EXPECT_EQ(verdict(script("0:i!(1,a) 0:b 0:d(1,a) 1:g!(1)=a")), "certified");
  EXPECT_EQ(verdict(script("0:i!(1,a) 0:b 0:g(1)=a 1:g!(1)=NF")), "missing_record");
  EXPECT_EQ(verdict(script("0:b 0:i(1,a) 1:d!(1,*) 1:g!(2)=NF")), "undecided");
  EXPECT_EQ(verdict(script("1:b 1:i(1,a) 1:a 0:b 0:i(1,a) 2:g!(1)=a")), "undecided");
}

// The transaction of thread 2 never ends. Cycles about keys that it did not write must still be
// reported as violations.
TEST(Certify, AnUnfinishedWriterHidesOnlyViolationsOfItsOwnKeys) {
  const std::string unfinished = "2:b 2:i(7,z) 2:d(8,w)=NONE ";
  for (const auto& [name, steps] : std::initializer_list<std::pair<std::string, std::string>>{
           {"write_skew",
            "0:i!(1,a) 0:i!(2,b) 0:b 1:b 0:g(1)=a 0:g(2)=b 1:g(1)=a 1:g(2)=b 0:d(1,a) 1:d(2,b) 0:c "
            "1:c"},
           {"phantom", "0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:c"},
           {"missing_record", "0:i!(1,a) 1:g!(1)=NF"},
           {"lost_update", "0:i!(1,v) 0:b 1:b 0:d(1,*) 1:d(1,*) 0:c 1:c"},
           {"could_not_judge", "0:i!(7,a) 1:g!(7)=NF 1:g!(7)=a"},
           {"could_not_judge", "0:b 1:b 0:g(7)=NF 1:g(2)=NF 0:i(2,x) 1:i(7,y) 0:c 1:c"}}) {
    EXPECT_EQ(verdict(script(unfinished + steps)), name) << steps;
  }
}

// Thread 0 inserts the same record again and again, so it is unknown which insert a read saw.
TEST(Certify, ARecordThatIsInsertedAgainIsJudged) {
  std::string again, others;
  for (int i = 0; i < 12; ++i) again += "0:d!(1,a) 0:i!(1,a) ";
  for (int i = 2; i < 14; ++i) others += std::to_string(i) + ":b ";
  for (int i = 2; i < 14; ++i) {
    const std::string number = std::to_string(i);
    others += number + ":g(1)=a " + number + ":i(" + number + ",b) ";
  }
  for (int i = 2; i < 14; ++i) others += std::to_string(i) + ":c ";
  EXPECT_EQ(verdict(script("0:i!(1,a) " + again)), "certified");
  EXPECT_EQ(verdict(script("0:i!(1,a) " + again + others)), "certified");
  EXPECT_EQ(verdict(script("0:i!(1,a) " + again + "1:i!(1,a) " + others)), "wrong_insert");
  // A delete of a failed transaction has no effect. A delete of a transaction that never ended may
  // have removed the record.
  EXPECT_EQ(verdict(script("0:i!(1,a) 1:b 1:d(1,*) 1:a 0:i!(1,a)")), "wrong_insert");
  EXPECT_NE(verdict(script("0:i!(1,a) 1:b 1:d(1,*) 0:i!(1,a)")), "wrong_insert");
  // The record is deleted and inserted again while thread 1 scans, so that the scan returns it
  // twice.
  const std::string scan = "0:i!(1,a) " + others + "1:b 1:g(1)=a 0:d!(1,a) 0:i!(1,a) 1:n=1,a 1:c";
  EXPECT_EQ(verdict(script(scan)), "duplicate_record");
  EXPECT_EQ(verdict(script("0:i!(1,a) 0:i!(2,c) 1:b 1:g(2)=c 0:d!(1,a) 0:i!(1,a) 1:n=1,a 1:c")),
            "wrong_order");
}

// A witness (the calls that prove a violation) begins with a sentence that explains the violation.
TEST(Certify, EveryNameOfAViolationHasAMeaning) {
  for (const std::string_view name : certify::kViolationNames) {
    EXPECT_NE(witness::violation_meaning(name), "") << name;
  }
}

TEST(Certify, UnknownKeysAreCorrupt) {
  History history = script("0:i!(b,a) 0:b 0:n=b,a 0:c", VARCHAR);
  EXPECT_EQ(verdict(history), "certified");
  history.threads[0][2].key = kUnknownKeyRank;
  history.unknown_keys.push_back({0, 2, 99});
  EXPECT_EQ(verdict(history), "corrupt_key");
  // The unknown key may precede b, so the scan does not show that b is missing.
  EXPECT_EQ(certify::certify(history).violations.size(), 2u);  // and corrupt_payload
}

TEST(Certify, UnknownKeysThatAClientPassesOnAreJudged) {
  History history =
      script("0:i!(b,a) 0:i!(d,a) 0:b 0:n=b,a 0:d(b,a) 0:g(c)=NF 0:n=d,a 0:c", VARCHAR);
  EXPECT_EQ(verdict(history), "certified");
  // The scan returned an unknown key, and the client passed this key to deleteRecord.
  History deleted = history;
  deleted.threads[0][3].key = deleted.threads[0][4].key = kUnknownKeyRank;
  deleted.unknown_keys.push_back({0, 3, 99});
  deleted.unknown_arguments.push_back({0, 4, 99});
  EXPECT_EQ(verdict(deleted), "corrupt_key");
  // After an unknown key, the position of the scan is unknown.
  History looked_up = history;
  looked_up.threads[0][5].key = kUnknownKeyRank;
  looked_up.unknown_arguments.push_back({0, 5, 99});
  EXPECT_EQ(verdict(looked_up), "certified");
  looked_up.threads[0][5].code = SUCCESS;
  EXPECT_EQ(verdict(looked_up), "corrupt_payload");
  History inserted = history;
  inserted.threads[0][1].key = kUnknownKeyRank;
  inserted.unknown_arguments.push_back({0, 1, 99});
  EXPECT_EQ(verdict(inserted), "could_not_judge");
}

TEST(Certify, LargerHistoriesOfManyThreadsAreCertified) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    options.transactions = 20'000;
    options.threads = static_cast<uint32_t>(2 + seed * 2);
    options.keys = seed % 2 == 0 ? 40 : 5000;
    options.type = seed % 3 == 0 ? VARCHAR : INT;
    History history = synthetic_history(options);
    ASSERT_TRUE(rank_varchar_keys(history).ok());
    const Certification found = certify::certify(history);
    EXPECT_EQ(found.verdict, Verdict::kCertified) << "seed " << seed << " " << found.reason;
    EXPECT_EQ(found.counts.committed, 20'001u);
  }
}

// Records x, y and z have several possible deleters. Thread 4 deleted x and thread 6 deleted y,
// although the order of calls and the order of commits suggest other deleters. Neither of these two
// threads can have deleted z. The history has too many such records to try every combination of
// deleters.
TEST(Certify, FindsTheDeletersOfOpenRecords) {
  std::string text = "1:b 1:i(10,v) 1:i(11,v) 1:i(12,v) 1:c";
  for (const char* key : {"10", "11", "12"}) {
    text += std::string(" 2:b 3:b 3:d(") + key + ",*) 2:i(" + key + ",u) 3:c 2:c";
  }
  text += " 4:b 5:b 6:b 7:b 8:b 4:d(9,*) 5:i(9,x) 6:d(9,*) 7:i(9,y) 8:i(9,z) 4:c 5:c 6:c 7:c 8:c";
  text += " 10:b 10:g(9)=z 10:c 11:b 12:b 13:b 11:d(9,*) 13:i(9,w) 12:d(9,*) 11:c 13:c 12:c";
  const Certification found = certify::certify(script(text));
  EXPECT_EQ(found.verdict, Verdict::kCertified) << found.reason;
}

std::set<std::string> names_of(const Certification& found) {
  std::set<std::string> names;
  for (const Violation& violation : found.violations) names.insert(violation.name);
  return names;
}

// Certifies a history in which 30 % of the transactions read old states. The age of these states is
// about ten transactions for most seeds, and hundreds of transactions for every fourth seed.
Certification of_stale_library(uint64_t seed, bool blind_deletes) {
  SyntheticOptions options;
  options.seed = seed;
  options.transactions = 600;
  options.keys = seed % 2 == 0 ? 20 : 400;
  options.blind_deletes = blind_deletes;
  const uint64_t delay_ticks = seed % 4 == 0 ? 1'000'000 : 30'000;
  return certify::certify(with_stale_readers(synthetic_history(options), delay_ticks));
}

TEST(Certify, OldButConsistentStatesAreOnlyStaleReads) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Certification found = of_stale_library(seed, /*blind_deletes=*/false);
    EXPECT_EQ(found.verdict, Verdict::kViolation) << "seed " << seed;
    EXPECT_EQ(found.without_real_time, Verdict::kCertified) << "seed " << seed << found.reason;
    EXPECT_EQ(names_of(found), std::set<std::string>{"stale_read"}) << "seed " << seed;
  }
}

// A blind delete removes records that its transaction has not read. Only real time shows which
// transaction deleted them. So certify() chooses deleters, and moves readers back in time to fit
// the choice.
TEST(Certify, OldStatesTogetherWithBlindDeletesAreOnlyStaleReads) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Certification found = of_stale_library(seed, /*blind_deletes=*/true);
    EXPECT_EQ(found.without_real_time, Verdict::kCertified) << "seed " << seed << found.reason;
    EXPECT_EQ(names_of(found), std::set<std::string>{"stale_read"}) << "seed " << seed;
  }
}

// Thread 1 inserts x. Thread 2 does not see x, and deletes key 3 without having read the key.
// Thread 1 sees the record of key 3 after it has inserted x. So a serial order exists only if the
// lookup of key 3 precedes both the insert of x and the delete.
TEST(Certify, AReaderThatContradictsABlindDeleteMayHaveReadAnOldState) {
  for (const std::string lookup : {"1:g!(3)=a", "1:b 1:g(3)=a 1:i(7,y) 1:c"}) {
    const Certification found =
        certify::certify(script("2:b 2:g(4)=NF 0:i!(3,a) 1:i!(4,x) " + lookup + " 2:d(3,*) 2:c"));
    EXPECT_EQ(found.verdict, Verdict::kViolation);
    EXPECT_EQ(found.without_real_time, Verdict::kCertified) << lookup << found.reason;
    EXPECT_EQ(names_of(found), std::set<std::string>{"stale_read"}) << lookup;
  }
}

TEST(Certify, OtherViolationsAreFoundTogetherWithStaleReads) {
  // Thread 1 reads an old state, and threads 2 and 3 have a write skew.
  const Certification found = certify::certify(
      script("0:i!(1,a) 1:g!(1)=NF 0:i!(5,b) 0:i!(6,c) 2:b 3:b 2:g(5)=b 2:g(6)=c 3:g(5)=b 3:g(6)=c "
             "2:d(5,b) 3:d(6,c) 2:c 3:c 1:g!(1)=a"));
  EXPECT_EQ(found.verdict, Verdict::kViolation);
  EXPECT_EQ(found.without_real_time, Verdict::kViolation);
  EXPECT_EQ(names_of(found), (std::set<std::string>{"stale_read", "write_skew"}));
  // A lost record is a violation even if a serial order exists that contradicts real time.
  const Certification lost = certify::certify(script("0:i!(1,a) 1:g!(1)=NF 1:g!(1)=NF"));
  EXPECT_EQ(names_of(lost), std::set<std::string>{"missing_record"});
  EXPECT_EQ(lost.without_real_time, Verdict::kViolation);
}

// If no serial order of a long history respects real time, certify() does not search for another
// order. Even then, it must not report stale reads as violations of serialisability.
TEST(Certify, InALongHistoryStaleReadsAreNoViolationOfSerialisability) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    options.transactions = 3'000;
    options.keys = seed % 2 == 0 ? 40 : 1000;
    const History history = with_stale_readers(synthetic_history(options), 30'000);
    const Certification found =
        certify::certify(history, {.strict = false, .without_real_time_max = 1'000});
    EXPECT_EQ(found.verdict, Verdict::kUndecided) << "seed " << seed;
    for (const Violation& violation : found.violations) {
      EXPECT_EQ(violation.severity, Severity::kAdvisory) << "seed " << seed << violation.name;
    }
  }
}

}  // namespace
}  // namespace keydrome
