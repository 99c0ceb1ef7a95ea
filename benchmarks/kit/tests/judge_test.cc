// Tests the judge that all benchmarks share (kit/judge/judge.h). Some tests use schedules in which
// a fault certainly occurs. The player is the process that calls the library; other tests change
// its report before the judge reads it. A canary is a check transaction that makes the same reads
// twice, and both must agree.
#include "benchmarks/kit/judge/judge.h"

#include <gtest/gtest.h>

#include <functional>

#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/script/script_builder.h"
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
    script::ThreadBuilder fill = script_.thread(script_.add_phase("create", 1, {}), 0);
    fill.create(index_);
    fill.open(0, index_);
    fill.auto_commit_as(format::Kind::kStream, 0);
    stored_ = script_.new_payload(0);
    fill.insert(0, keys_[0], stored_);
    fill.insert(0, keys_[2], script_.new_payload(0));
    fill.close(0);
    test_ = script_.add_phase("test", 2, {});
    for (uint32_t t = 0; t < 2; ++t) script_.thread(test_, t).open(0, index_);
  }

  script::ThreadBuilder thread(uint32_t number) { return script_.thread(test_, number); }

  judge::Findings judge(
      const Faults& faults,
      const std::function<void(script::Outcome&)>& tamper = [](script::Outcome&) {}) {
    for (uint32_t t = 0; t < 2; ++t) thread(t).close(0);
    script::add_verify_phase(script_, 1, 0);
    const script::Script script = script_.build();
    script::Outcome outcome = play(script, test_index(faults));
    tamper(outcome);
    judge::Findings findings;
    judge::judge_script(script, outcome, findings);
    return findings;
  }

  script::ScriptBuilder script_;
  std::vector<uint32_t> keys_;
  script::Payload stored_;
  uint32_t index_ = 0, test_ = 0;
};

TEST_F(JudgeTest, ADeleteThatDeniesWhatItDidIsFound) {
  script::ThreadBuilder out = thread(0);
  out.begin(format::Kind::kStream, 0);
  out.delete_key(0, keys_[0], format::kEvidence);
  out.commit();
  const judge::Findings findings = judge({.denies_deletes = true});
  EXPECT_EQ(findings.count("wrong_delete"), 1u) << text_of(findings);
}

// A thread that ends with a transaction must not hide the auto-commit calls with which the next
// thread begins.
TEST_F(JudgeTest, AnAutoCommitDeleteAfterAnotherThreadsTransactionIsJudged) {
  script::ThreadBuilder first = thread(0);
  first.begin(format::Kind::kStream, 0);
  first.get(0, keys_[0]);
  first.commit();
  script::ThreadBuilder second = thread(1);
  second.auto_commit_as(format::Kind::kStream, 0);
  second.delete_key(0, keys_[0]);
  const judge::Findings findings = judge({.denies_deletes = true});
  EXPECT_EQ(findings.count("wrong_delete"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, ADeleteThatClaimsWhatWasNotThereIsFound) {
  script::ThreadBuilder out = thread(0);
  out.begin(format::Kind::kStream, 0);
  out.delete_key(0, keys_[1], format::kEvidence);
  out.insert(0, keys_[1], script_.new_payload(0));
  out.delete_pair(0, keys_[0], script_.new_payload(0), format::kEvidence);
  out.commit();
  const judge::Findings findings = judge({.deletes_missing = true});
  EXPECT_EQ(findings.count("wrong_delete"), 2u) << text_of(findings);
}

// Two threads delete the same records, and delete some of them twice. A second delete finds no
// record, so it may return KEY_NOTFOUND.
TEST_F(JudgeTest, DeletesThatRaceOrRepeatAreNoFindings) {
  for (uint32_t t = 0; t < 2; ++t) {
    script::ThreadBuilder out = thread(t);
    out.begin(format::Kind::kStream, 0);
    out.delete_pair(0, keys_[0], stored_, format::kEvidence);
    out.delete_key(0, keys_[0], format::kEvidence);
    out.insert(0, keys_[0], script_.new_payload(0), format::kEvidence);
    out.delete_key(0, keys_[0], format::kEvidence);
    out.delete_key(0, keys_[0], format::kEvidence);
    out.delete_key(0, keys_[t + 1], format::kEvidence);
    out.abort();
    out.begin(format::Kind::kStream, 0);
    out.delete_key(0, keys_[0], format::kEvidence);
    out.commit();
  }
  const judge::Findings findings = judge({});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

// A write may move the cursor. Therefore a getNext after a write does not continue the read before
// the write.
TEST_F(JudgeTest, AWriteEndsAReadGroup) {
  script::ThreadBuilder out = thread(0);
  out.begin(format::Kind::kStream, 0);
  out.get(0, keys_[0], format::kEvidence);
  out.insert(0, keys_[1], script_.new_payload(0), format::kEvidence);
  out.insert(0, keys_[3], script_.new_payload(0), format::kEvidence);
  out.get(0, keys_[2], format::kEvidence);
  out.delete_key(0, keys_[3], format::kEvidence);
  out.next(0, 1, format::kEvidenceAll);
  out.commit();
  const judge::Findings findings = judge({});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

// A transaction of the workload fails between two auto-commit calls of a stripe, a check on keys of
// one thread. The judge must report only the failed transaction.
TEST_F(JudgeTest, AFailedTransactionDoesNotSpoilAStripe) {
  script::ThreadBuilder out = thread(0);
  out.auto_commit_as(format::Kind::kStripe, 0);
  const script::Payload payload = script_.new_payload(0);
  out.insert(0, keys_[3], payload);
  out.begin(format::Kind::kStream, 0);
  out.insert(0, keys_[1], script_.new_payload(0));
  out.commit();
  out.delete_pair(0, keys_[3], payload);
  const judge::Findings findings = judge({.fails_every = 4});
  EXPECT_EQ(findings.count("transactions_failed"), 1u) << text_of(findings);
  EXPECT_EQ(findings.list().size(),
            findings.count("transactions_failed") + findings.count("illegal_answer"))
      << text_of(findings);
}

// With the fault no_isolation, the test index holds its lock only during each call, and not until
// the transaction ends. So no call blocks, and the signals determine the order of the calls.
TEST_F(JudgeTest, ADirtyReadOfAbortedDataIsFound) {
  script::ThreadBuilder writer = thread(0), reader = thread(1);
  writer.begin(format::Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.signal(0);
  writer.wait(1, 1);
  writer.abort();
  reader.wait(0, 1);
  reader.begin(format::Kind::kStream, 0);
  reader.get(0, keys_[1], format::kEvidence);
  reader.commit();
  reader.signal(1);
  const judge::Findings findings = judge({.no_isolation = true});
  EXPECT_EQ(findings.count("impossible_record"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, APhantomBetweenTwoScansOfACanaryIsFound) {
  script::ThreadBuilder writer = thread(0), reader = thread(1);
  reader.begin(format::Kind::kCanary, 0);
  reader.get(0, keys_[0], format::kEvidence);
  reader.next(0, 1, format::kEvidenceAll);
  reader.signal(0);
  reader.wait(1, 1);
  reader.get(0, keys_[0], format::kEvidence);
  reader.next(0, 2, format::kEvidenceAll);
  reader.commit();
  writer.wait(0, 1);
  writer.begin(format::Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.commit();
  writer.signal(1);
  const judge::Findings findings = judge({.no_isolation = true});
  EXPECT_EQ(findings.count("unrepeatable_read"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, AMissedKeyThatAppearsInACanaryIsFound) {
  script::ThreadBuilder writer = thread(0), reader = thread(1);
  reader.begin(format::Kind::kCanary, 0);
  reader.get(0, keys_[1], format::kEvidence);
  reader.signal(0);
  reader.wait(1, 1);
  reader.get(0, keys_[1], format::kEvidence);
  reader.commit();
  writer.wait(0, 1);
  writer.auto_commit_as(format::Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.signal(1);
  const judge::Findings findings = judge({.no_isolation = true});
  EXPECT_EQ(findings.count("unrepeatable_read"), 1u) << text_of(findings);
}

// The first read returns one payload of a key, and a later read of the same canary finds a second
// payload. This is serialisable, because the first read did not read the key to its end.
TEST_F(JudgeTest, AnotherPayloadOfAKeyThatWasNotReadThroughIsNoFinding) {
  script::ThreadBuilder writer = thread(0), reader = thread(1);
  reader.begin(format::Kind::kCanary, 0);
  reader.get(0, keys_[0], format::kEvidence);
  reader.signal(0);
  reader.wait(1, 1);
  reader.get(0, keys_[0], format::kEvidence);
  reader.next(0, 1, format::kEvidenceAll);
  reader.commit();
  writer.wait(0, 1);
  writer.auto_commit_as(format::Kind::kStream, 0);
  writer.insert(0, keys_[0], script_.new_payload(0));
  writer.signal(1);
  const judge::Findings findings = judge({.no_isolation = true});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST_F(JudgeTest, OwnWritesMustBeReadUntilTheyAreDeleted) {
  script::ThreadBuilder writer = thread(0);
  const script::Payload payload = script_.new_payload(0);
  writer.begin(format::Kind::kStream, 0);
  writer.insert(0, keys_[1], payload);
  writer.get(0, keys_[1], format::kEvidence);
  writer.delete_pair(0, keys_[1], payload);
  writer.get(0, keys_[1], format::kEvidence);
  writer.insert(0, keys_[3], script_.new_payload(0));
  writer.commit();
  writer.begin(format::Kind::kStream, 0);
  writer.get(0, keys_[3], format::kEvidence);
  writer.get(0, keys_[0], format::kEvidence);
  writer.delete_key(0, keys_[0]);
  writer.abort();
  writer.begin(format::Kind::kStream, 0);
  writer.get(0, keys_[0], format::kEvidence);
  writer.commit();
  EXPECT_TRUE(judge({}).empty());
}

TEST_F(JudgeTest, ALostReadIsFound) {
  script::ThreadBuilder writer = thread(0);
  writer.begin(format::Kind::kStream, 0);
  writer.get(0, keys_[0], format::kEvidence);
  writer.commit();
  const judge::Findings findings = judge({.misses_everything = true});
  EXPECT_EQ(findings.count("missing_record"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, RecordsThatAnotherThreadMayHaveDeletedAreNotMissed) {
  script::ThreadBuilder writer = thread(0), other = thread(1);
  writer.begin(format::Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.commit();
  writer.signal(0);
  writer.wait(1, 1);
  writer.begin(format::Kind::kStream, 0);
  writer.get(0, keys_[1], format::kEvidence);
  writer.commit();
  other.wait(0, 1);
  other.begin(format::Kind::kStream, 0);
  other.delete_key(0, keys_[1]);
  other.commit();
  other.signal(1);
  EXPECT_TRUE(judge({}).empty());
}

TEST_F(JudgeTest, AFailedTransactionMayHaveLeftSomethingOrNot) {
  script::ThreadBuilder writer = thread(0);
  writer.begin(format::Kind::kStream, 0);
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.insert(0, keys_[1], script_.new_payload(0));
  writer.commit();
  const judge::Findings findings = judge({.fails_every = 4});
  EXPECT_GT(findings.count("illegal_answer"), 0u);
  EXPECT_GT(findings.count("transactions_failed"), 0u);
  EXPECT_EQ(findings.count("missing_record") + findings.count("impossible_record"), 0u)
      << text_of(findings);
}

// The test changes the reported result of the first insert to ENTRY_EXISTS. This result is wrong,
// because no earlier call inserted the pair.
TEST_F(JudgeTest, AnInsertThatIsWrongAboutItsPairIsFound) {
  const script::Payload fresh = script_.new_payload(0);
  thread(0).begin(format::Kind::kStream, 0);
  thread(0).insert(0, keys_[1], fresh, format::kMayExist | format::kEvidence);
  thread(0).insert(0, keys_[1], fresh, format::kMayExist | format::kEvidence);
  thread(0).commit();
  const judge::Findings findings = judge({}, [&](script::Outcome& outcome) {
    uint64_t& word = outcome.phases[1].threads[0].words.at(0);
    EXPECT_EQ(word, format::code_word(SUCCESS));
    word = format::code_word(ENTRY_EXISTS);
  });
  EXPECT_EQ(findings.count("wrong_insert"), 1u) << text_of(findings);
}

TEST_F(JudgeTest, AnInsertThatDeniesThatItsPairWasThereIsFound) {
  thread(0).begin(format::Kind::kStream, 0);
  thread(0).insert(0, keys_[0], stored_, format::kMayExist | format::kEvidence);
  thread(0).commit();
  const judge::Findings findings = judge({.accepts_duplicates = true});
  EXPECT_GT(findings.count("wrong_insert"), 0u) << text_of(findings);
}

TEST_F(JudgeTest, AnInsertThatKnowsItsPairIsNoFinding) {
  thread(0).begin(format::Kind::kStream, 0);
  thread(0).insert(0, keys_[0], stored_, format::kMayExist | format::kEvidence);
  thread(0).commit();
  const judge::Findings findings = judge({});
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST_F(JudgeTest, TamperedReportsAreFound) {
  script::ThreadBuilder writer = thread(0);
  writer.begin(format::Kind::kStream, 0);
  writer.get(0, keys_[0], format::kEvidence);
  writer.abort();
  const judge::Findings findings = judge({}, [&](script::Outcome& outcome) {
    script::ThreadResult& thread = outcome.phases[test_].threads[0];
    thread.ends[0] = script::TransactionEnd::kCommitted;  // the program aborts the transaction
    thread.words.pop_back();
  });
  EXPECT_EQ(findings.count("outcome_mismatch"), 2u) << text_of(findings);
}

TEST(Findings, KeepsAFewExamplesAndCountsTheRest) {
  judge::Findings findings("suite");
  for (int i = 0; i < 8; ++i) findings.advisory("odd", "number " + std::to_string(i));
  EXPECT_FALSE(findings.failed());
  findings.required("bad", "once");
  EXPECT_TRUE(findings.failed());
  const std::vector<judge::Finding> list = findings.list();
  ASSERT_EQ(list.size(), judge::Findings::kExamplesPerName + 1);
  EXPECT_EQ(list[4].detail, "number 4 (and 3 more findings like this)");
  EXPECT_EQ(findings.count("odd"), 8u);
}

// Findings of parts, in the order of the parts, are the same as those of one object.
TEST(Findings, OfPartsAreThoseOfTheWhole) {
  judge::Findings whole("suite"), sum("suite");
  for (int part = 0; part < 3; ++part) {
    judge::Findings found = sum.for_part();
    for (int i = 0; i < 4 + 5 * part; ++i) {
      const std::string detail = std::to_string(part) + ", " + std::to_string(i);
      for (judge::Findings* findings : {&whole, &found}) {
        i % 3 == 0 ? findings->advisory("rare", detail) : findings->required("often", detail);
      }
    }
    sum.add_part(found);
  }
  const auto texts = [](const judge::Findings& findings) {
    std::vector<std::string> all;
    for (const judge::Finding& one : findings.list())
      all.push_back(one.suite + " " + one.name + " " + one.detail);
    return all;
  };
  EXPECT_EQ(texts(sum), texts(whole));
  EXPECT_EQ(sum.count("often"), whole.count("often"));
  EXPECT_GT(sum.count("often"), 2 * judge::Findings::kExamplesPerName);
  EXPECT_TRUE(sum.failed());
  judge::Findings undecided = sum.for_part();
  undecided.not_judged("a log was full");
  sum.add_part(undecided);
  EXPECT_EQ(sum.not_judged_reason(), "a log was full");
}

}  // namespace
}  // namespace keydrome
