// The judge on scripted schedules that make a fault happen for certain, and on reports that were
// tampered with.
#include "benchmarks/kit/judge.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>

#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

using testing::Faults;
using testing::play;
using testing::test_index;
using testing::text_of;

class JudgeTest : public ::testing::Test {
 protected:
  JudgeTest() {
    script_.add_class("check");
    index_ = script_.add_index("index", VARCHAR);
    for (const char* key : {"a", "b", "c", "d"}) keys_.push_back(script_.add_varchar_key(key));
    ThreadBuilder fill = script_.thread(script_.add_phase("create", 1, {}), 0);
    fill.create(index_);
    fill.open(0, index_);
    fill.auto_commit_as(Kind::kStream, 0);
    stored_ = script_.new_payload(0);
    fill.insert(0, keys_[0], stored_);
    fill.insert(0, keys_[2], script_.new_payload(0));
    fill.close(0);
    test_ = script_.add_phase("test", 2, {});
    for (uint32_t t = 0; t < 2; ++t) script_.thread(test_, t).open(0, index_);
  }

  ThreadBuilder thread(uint32_t number) { return script_.thread(test_, number); }

  Findings judge(
      const Faults& faults, const std::function<void(Outcome&)>& tamper = [](Outcome&) {}) {
    for (uint32_t t = 0; t < 2; ++t) thread(t).close(0);
    add_verify_phase(script_, 1, 0);
    const Script script = script_.build();
    Outcome outcome = play(script, test_index(faults));
    tamper(outcome);
    Findings findings;
    judge_script(script, outcome, findings);
    return findings;
  }

  ScriptBuilder script_;
  std::vector<uint32_t> keys_;
  Payload stored_;
  uint32_t index_ = 0, test_ = 0;
};

TEST_F(JudgeTest, ADeleteThatDeniesWhatItDidIsFound) {
  ThreadBuilder out = thread(0);
  out.begin(Kind::kStream, 0);
  out.delete_key(0, keys_[0], kEvidence);
  out.commit();
  const Findings findings = judge({.denies_deletes = true});
  EXPECT_EQ(findings.count("wrong_delete"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, ADeleteThatClaimsWhatWasNotThereIsFound) {
  ThreadBuilder out = thread(0);
  out.begin(Kind::kStream, 0);
  out.delete_key(0, keys_[1], kEvidence);
  out.insert(0, keys_[1], script_.new_payload(0));
  out.delete_pair(0, keys_[0], script_.new_payload(0), kEvidence);
  out.commit();
  const Findings findings = judge({.deletes_missing = true});
  EXPECT_EQ(findings.count("wrong_delete"), 2u) << text_of(findings);
}

// Whoever deletes first finds the record; one's own writes are known for certain.
TEST_F(JudgeTest, DeletesThatRaceOrRepeatAreNotAccused) {
  for (uint32_t t = 0; t < 2; ++t) {
    ThreadBuilder out = thread(t);
    out.begin(Kind::kStream, 0);
    out.delete_pair(0, keys_[0], stored_, kEvidence);
    out.delete_key(0, keys_[0], kEvidence);
    out.insert(0, keys_[0], script_.new_payload(0), kEvidence);
    out.delete_key(0, keys_[0], kEvidence);
    out.delete_key(0, keys_[0], kEvidence);
    out.delete_key(0, keys_[t + 1], kEvidence);
    out.abort();
    out.begin(Kind::kStream, 0);
    out.delete_key(0, keys_[0], kEvidence);
    out.commit();
  }
  const Findings findings = judge({});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

// A write may move the cursor, so the scan behind it is no part of the read before it.
TEST_F(JudgeTest, AWriteEndsAReadGroup) {
  ThreadBuilder out = thread(0);
  out.begin(Kind::kStream, 0);
  out.get(0, keys_[0], kEvidence);
  out.insert(0, keys_[1], script_.new_payload(0), kEvidence);
  out.insert(0, keys_[3], script_.new_payload(0), kEvidence);
  out.get(0, keys_[2], kEvidence);
  out.delete_key(0, keys_[3], kEvidence);
  out.next(0, 1, kEvidenceAll);
  out.commit();
  const Findings findings = judge({});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

// A transaction of the stream that fails between two auto-commit calls of a stripe is one fault,
// not two.
TEST_F(JudgeTest, AFailedTransactionDoesNotSpoilTheDigest) {
  ThreadBuilder out = thread(0);
  out.auto_commit_as(Kind::kStripe, 0);
  const Payload payload = script_.new_payload(0);
  out.insert(0, keys_[3], payload, kDigest);
  out.begin(Kind::kStream, 0);
  out.insert(0, keys_[1], script_.new_payload(0));
  out.commit();
  out.delete_pair(0, keys_[3], payload, kDigest);
  const Findings findings = judge({.fails_every = 4});
  EXPECT_EQ(findings.count("transactions_failed"), 1u) << text_of(findings);
  EXPECT_EQ(findings.count("wrong_digest"), 0u) << text_of(findings);
}

// Without isolation each call locks for itself, so the schedule is the one of the signals.
TEST_F(JudgeTest, ADirtyReadOfAbortedDataIsFound) {
  ThreadBuilder writer = thread(0), reader = thread(1);
  writer.begin(Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.signal(0);
  writer.wait(1, 1);
  writer.abort();
  reader.wait(0, 1);
  reader.begin(Kind::kStream, 0);
  reader.get(0, keys_[1], kEvidence);
  reader.commit();
  reader.signal(1);
  const Findings findings = judge({.no_isolation = true});
  EXPECT_EQ(findings.count("impossible_record"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, APhantomBetweenTwoScansOfACanaryIsFound) {
  ThreadBuilder writer = thread(0), reader = thread(1);
  reader.begin(Kind::kCanary, 0);
  reader.get(0, keys_[0], kEvidence);
  reader.next(0, 1, kEvidenceAll);
  reader.signal(0);
  reader.wait(1, 1);
  reader.get(0, keys_[0], kEvidence);
  reader.next(0, 2, kEvidenceAll);
  reader.commit();
  writer.wait(0, 1);
  writer.begin(Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.commit();
  writer.signal(1);
  const Findings findings = judge({.no_isolation = true});
  EXPECT_EQ(findings.count("unrepeatable_read"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, AMissedKeyThatAppearsInACanaryIsFound) {
  ThreadBuilder writer = thread(0), reader = thread(1);
  reader.begin(Kind::kCanary, 0);
  reader.get(0, keys_[1], kEvidence);
  reader.signal(0);
  reader.wait(1, 1);
  reader.get(0, keys_[1], kEvidence);
  reader.commit();
  writer.wait(0, 1);
  writer.auto_commit_as(Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.signal(1);
  const Findings findings = judge({.no_isolation = true});
  EXPECT_EQ(findings.count("unrepeatable_read"), 1u) << text_of(findings);
}

// A second payload may come up under a key of which the first read saw only one: that is
// serialisable.
TEST_F(JudgeTest, AnotherPayloadOfAKeyThatWasNotReadThroughIsNoFinding) {
  ThreadBuilder writer = thread(0), reader = thread(1);
  reader.begin(Kind::kCanary, 0);
  reader.get(0, keys_[0], kEvidence);
  reader.signal(0);
  reader.wait(1, 1);
  reader.get(0, keys_[0], kEvidence);
  reader.next(0, 1, kEvidenceAll);
  reader.commit();
  writer.wait(0, 1);
  writer.auto_commit_as(Kind::kStream, 0);
  writer.insert(0, keys_[0], script_.new_payload(0));
  writer.signal(1);
  const Findings findings = judge({.no_isolation = true});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST_F(JudgeTest, OwnWritesMustBeReadUntilTheyAreDeleted) {
  ThreadBuilder writer = thread(0);
  const Payload payload = script_.new_payload(0);
  writer.begin(Kind::kStream, 0);
  writer.insert(0, keys_[1], payload);
  writer.get(0, keys_[1], kEvidence);
  writer.delete_pair(0, keys_[1], payload);
  writer.get(0, keys_[1], kEvidence);
  writer.insert(0, keys_[3], script_.new_payload(0));
  writer.commit();
  writer.begin(Kind::kStream, 0);
  writer.get(0, keys_[3], kEvidence);
  writer.get(0, keys_[0], kEvidence);
  writer.delete_key(0, keys_[0]);
  writer.abort();
  writer.begin(Kind::kStream, 0);
  writer.get(0, keys_[0], kEvidence);
  writer.commit();
  EXPECT_TRUE(judge({}).empty());
}

TEST_F(JudgeTest, ALostReadIsFound) {
  ThreadBuilder writer = thread(0);
  writer.begin(Kind::kStream, 0);
  writer.get(0, keys_[0], kEvidence);
  writer.commit();
  const Findings findings = judge({.misses_everything = true});
  EXPECT_EQ(findings.count("missing_record"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, RecordsThatAnotherThreadMayHaveDeletedAreNotMissed) {
  ThreadBuilder writer = thread(0), other = thread(1);
  writer.begin(Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.commit();
  writer.signal(0);
  writer.wait(1, 1);
  writer.begin(Kind::kStream, 0);
  writer.get(0, keys_[1], kEvidence);
  writer.commit();
  other.wait(0, 1);
  other.begin(Kind::kStream, 0);
  other.delete_key(0, keys_[1]);
  other.commit();
  other.signal(1);
  EXPECT_TRUE(judge({}).empty());
}

TEST_F(JudgeTest, AFailedTransactionMayHaveLeftSomethingOrNot) {
  ThreadBuilder writer = thread(0);
  writer.begin(Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.commit();
  const Findings findings = judge({.fails_every = 4});
  EXPECT_GT(findings.count("illegal_answer"), 0u);
  EXPECT_GT(findings.count("transactions_failed"), 0u);
  EXPECT_EQ(findings.count("missing_record") + findings.count("impossible_record"), 0u)
      << text_of(findings);
}

// The pair of the first insert cannot have been there, whatever the library says.
TEST_F(JudgeTest, AnInsertThatIsWrongAboutItsPairIsFound) {
  const Payload fresh = script_.new_payload(0);
  thread(0).begin(Kind::kStream, 0);
  thread(0).insert(0, keys_[1], fresh, kMayExist | kEvidence);
  thread(0).insert(0, keys_[1], fresh, kMayExist | kEvidence);
  thread(0).commit();
  uint32_t code = FAILURE;
  const Findings findings = judge({}, [&](Outcome& outcome) {
    std::byte* at = outcome.phases[1].threads[0].trace.data() + offsetof(TraceRecord, code);
    std::memcpy(&code, at, sizeof code);
    const uint32_t other = ENTRY_EXISTS;
    std::memcpy(at, &other, sizeof other);
  });
  EXPECT_EQ(code, static_cast<uint32_t>(SUCCESS));
  EXPECT_EQ(findings.count("wrong_insert"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, AnInsertThatDeniesThatItsPairWasThereIsFound) {
  thread(0).begin(Kind::kStream, 0);
  thread(0).insert(0, keys_[0], stored_, kMayExist | kEvidence);
  thread(0).commit();
  const Findings findings = judge({.accepts_duplicates = true});
  EXPECT_GT(findings.count("wrong_insert"), 0u) << text_of(findings);
}

TEST_F(JudgeTest, AnInsertThatKnowsItsPairIsNotAccused) {
  thread(0).begin(Kind::kStream, 0);
  thread(0).insert(0, keys_[0], stored_, kMayExist | kEvidence);
  thread(0).commit();
  const Findings findings = judge({});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST_F(JudgeTest, TamperedReportsAreFound) {
  ThreadBuilder writer = thread(0);
  writer.begin(Kind::kStream, 0);
  writer.get(0, keys_[0], kEvidence);
  writer.abort();
  const Findings findings = judge({}, [&](Outcome& outcome) {
    ThreadResult& thread = outcome.phases[test_].threads[0];
    thread.ends[0] = TransactionEnd::kCommitted;  // programmed to abort
    thread.trace.resize(thread.trace.size() - 8);
  });
  EXPECT_EQ(findings.count("outcome_mismatch"), 2u) << text_of(findings);
}

TEST(Findings, KeepsAFewExamplesAndCountsTheRest) {
  Findings findings("suite");
  for (int i = 0; i < 8; ++i) findings.advisory("odd", "number " + std::to_string(i));
  EXPECT_FALSE(findings.failed());
  findings.required("bad", "once");
  EXPECT_TRUE(findings.failed());
  const std::vector<Finding> list = findings.list();
  ASSERT_EQ(list.size(), Findings::kExamplesPerName + 1);
  EXPECT_EQ(list[4].detail, "number 4 (and 3 more like this)");
  EXPECT_EQ(findings.count("odd"), 8u);
}

}  // namespace
}  // namespace keydrome
