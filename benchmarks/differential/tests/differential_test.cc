// The suite against an index in this process: right ones are never accused, wrong ones are, by name
// and with a handful of calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/differential/generator.h"
#include "benchmarks/differential/script_calls.h"
#include "benchmarks/differential/shrinker.h"
#include "benchmarks/kit/replay.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {

std::unique_ptr<Workload> make_differential(std::string_view instance);

namespace differential {
namespace {

using testing::Faults;
using testing::text_of;

Findings examined(const Faults& faults, int64_t calls, uint64_t seed, int64_t shrink_ms = 10'000) {
  const std::unique_ptr<Workload> workload = make_differential("differential");
  const Parameters parameters({{"calls", calls}, {"shrink_ms", shrink_ms}});
  const Script script = workload->generate(parameters, seed, {}).value();
  const Outcome outcome = testing::play(script, testing::test_index(faults));
  const Replay replay = [&](const Script& again, uint64_t) {
    return Replayed{.ending = {}, .outcome = testing::play(again, testing::test_index(faults))};
  };
  Findings findings("differential");
  workload->examine(script, {.outcome = outcome, .ending = {}, .replay = replay}, findings);
  return findings;
}

TEST(Differential, PassesACorrectIndex) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Findings findings = examined({}, 30'000, seed);
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << text_of(findings);
    EXPECT_EQ(findings.not_judged_reason(), "");
  }
}

// Now and then a transaction of hundreds of calls needs several attempts.
TEST(Differential, DoesNotAccuseDeadlocks) {
  const Findings findings = examined({.deadlock_every = 5'003}, 30'000, 1);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST(Differential, AsksForTheSameCallsWhateverElseIsGenerated) {
  const Generated one = generate(5'000, 7), other = generate(5'000, 8);
  const Generated again = generate(5'000, 7);
  ASSERT_EQ(one.session.calls.size(), again.session.calls.size());
  EXPECT_NE(one.session.calls.size(), other.session.calls.size());
  // What a client cannot do is never generated.
  EXPECT_EQ(playable(one.session.calls).size(), one.session.calls.size());
}

struct FaultCase {
  const char* names;  // under one of which it is found
  Faults faults;
  std::size_t calls_max;  // of the shrunk session
};

class DifferentialFinds : public ::testing::TestWithParam<FaultCase> {};

// "A session of 6 calls shows it".
std::size_t shrunk_size(const std::string& detail) {
  constexpr std::string_view kBefore = "A session of ";
  const std::size_t at = detail.find(kBefore);
  if (at == std::string::npos) return SIZE_MAX;
  return std::stoul(detail.substr(at + kBefore.size()));
}

TEST_P(DifferentialFinds, TheFaultByNameInAFewCalls) {
  const FaultCase& wanted = GetParam();
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const Findings findings = examined(wanted.faults, 20'000, seed);
    ASSERT_TRUE(findings.failed()) << "seed " << seed;
    const Finding first = findings.list().front();
    EXPECT_NE(std::string_view(wanted.names).find(first.name), std::string_view::npos)
        << text_of(findings);
    EXPECT_LE(shrunk_size(first.detail), wanted.calls_max) << text_of(findings);
    ASSERT_NE(first.witness.find("program"), nullptr) << first.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, DifferentialFinds,
    ::testing::Values(
        FaultCase{"illegal_answer corrupt_payload wrong_insert", {.success_only = true}, 5},
        FaultCase{
            "aborted_read missing_record wrong_insert wrong_delete", {.keeps_aborted = true}, 8},
        FaultCase{"missing_record wrong_insert wrong_delete", {.loses_aborted_deletes = true}, 9},
        FaultCase{"missing_record wrong_order duplicate_record internal", {.unordered = true}, 8},
        FaultCase{"missing_record internal", {.misses_everything = true}, 7},
        FaultCase{"wrong_insert", {.accepts_duplicates = true}, 6},
        FaultCase{"wrong_delete", {.deletes_missing = true}, 7},
        FaultCase{"deleted_record internal wrong_insert wrong_delete", {.keeps_deleted = true}, 8},
        FaultCase{"wrong_delete", {.denies_deletes = true}, 6}),
    [](const ::testing::TestParamInfo<FaultCase>& parameter) {
      return "Fault" + std::to_string(parameter.index);
    });

// Faults that show in one call of some hundred need as many calls of that kind, but no others.
TEST(Differential, TellsARareFaultInAFewLines) {
  for (const Faults& faults : {Faults{.drops_every = 300}, Faults{.repeats_every = 300}}) {
    // There is no smaller session than one of 300 calls, however long it is looked for. A quiet
    // machine comes to some 600 in this time; a busy one under a sanitizer to more.
    const Findings findings = examined(faults, 6'000, 1, 1'000);
    ASSERT_TRUE(findings.failed());
    const std::string detail = findings.list().front().detail;
    EXPECT_LE(shrunk_size(detail), 1'500u) << detail;
    EXPECT_LE(std::ranges::count(detail, '\n'), 14) << detail;
  }
}

TEST(Differential, TellsWhatItCannotShowAgain) {
  const std::unique_ptr<Workload> workload = make_differential("differential");
  const Parameters parameters({{"calls", 20'000}, {"shrink_ms", 1'000}});
  const Script script = workload->generate(parameters, 1, {}).value();
  const Outcome outcome = testing::play(script, testing::test_index({.keeps_deleted = true}));
  const Replay right = [](const Script& again, uint64_t) {
    return Replayed{.ending = {}, .outcome = testing::play(again, testing::test_index({}))};
  };
  Findings findings("differential");
  workload->examine(script, {.outcome = outcome, .ending = {}, .replay = right}, findings);
  EXPECT_NE(text_of(findings).find("it depends on more than the calls"), std::string::npos);
  Findings alone("differential");
  workload->judge(script, outcome, alone);
  EXPECT_TRUE(alone.failed());
  EXPECT_NE(text_of(alone).find("call 1"), std::string::npos) << text_of(alone);
}

// A crash leaves no answers: only that it came in that phase, and again with the same calls.
TEST(Differential, ShrinksACrashToTheCallThatBringsItAbout) {
  const std::unique_ptr<Workload> workload = make_differential("differential");
  const Parameters parameters({{"calls", 20'000}, {"shrink_ms", 10'000}});
  const Script script = workload->generate(parameters, 1, {}).value();
  const Replay crashes = [](const Script& again, uint64_t) {
    const std::vector<Op>& ops = again.phases.at(0).threads.at(0);
    const bool deletes = std::ranges::any_of(ops, [](const Op& op) {
      return op.code == OpCode::kDeleteKey && (op.flags & kAutoCommit) == 0;
    });
    if (deletes) return Replayed{.ending = {.complete = false, .stop = "SIGSEGV"}, .outcome = {}};
    return Replayed{.ending = {}, .outcome = testing::play(again, testing::test_index({}))};
  };
  const Outcome nothing;
  Findings findings("differential");
  workload->examine(
      script,
      {.outcome = nothing, .ending = {.complete = false, .stop = "SIGSEGV"}, .replay = crashes},
      findings);
  ASSERT_EQ(findings.count("crashed"), 1u) << text_of(findings);
  const std::string detail = findings.list().front().detail;
  EXPECT_LE(shrunk_size(detail), 5u) << detail;
  EXPECT_NE(detail.find("deleteRecord(A, 1, all payloads)"), std::string::npos) << detail;
}

TEST(Differential, WhatIsNoDoingOfTheCallsIsLeftToTheReferee) {
  const std::unique_ptr<Workload> workload = make_differential("differential");
  const Parameters parameters({{"calls", 1'000}, {"shrink_ms", 1'000}});
  const Script script = workload->generate(parameters, 1, {}).value();
  const Outcome nothing;
  Findings findings("differential");
  workload->examine(script,
                    {.outcome = nothing, .ending = {.complete = false, .stop = ""}, .replay = {}},
                    findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST(Calls, AreLeftOutWhenNothingIsLeftToStandOn) {
  const Call create{.kind = CallKind::kCreate}, open{.kind = CallKind::kOpen};
  const Call begin{.kind = CallKind::kBegin}, commit{.kind = CallKind::kCommit};
  const Call get{.kind = CallKind::kGet}, close{.kind = CallKind::kClose};
  EXPECT_EQ(playable({create, open, begin, get, commit, close}).size(), 6u);
  EXPECT_EQ(playable({create, begin, get, commit, close}).size(), 3u);  // no handle
  EXPECT_EQ(playable({create, open, get, commit, close}).size(), 4u);   // no begin
  EXPECT_EQ(playable({create, open, begin, get}).size(), 5u);           // committed at the end
  EXPECT_EQ(playable({open, get}).size(), 1u);                          // must be refused
  EXPECT_EQ(playable({create, open, open, begin, begin, create, commit}).size(), 4u);
}

// The shortest session that has a call of one kind behind one of another.
TEST(Shrinker, FindsTheSmallestSession) {
  const Generated generated = generate(3'000, 3);
  uint32_t asked = 0;
  const Fails fails = [&](const Case& session) {
    ++asked;
    const auto aborts = std::ranges::find(session.calls, CallKind::kAbort, &Call::kind);
    const bool deletes = std::any_of(aborts, session.calls.end(), [](const Call& call) {
      return call.kind == CallKind::kDeletePair;
    });
    return deletes ? Answer::kFails : Answer::kPasses;
  };
  const Case small = shrink(generated.session, fails);
  // create, open, begin, abort, delete
  EXPECT_EQ(small.calls.size(), 5u);
  EXPECT_LT(asked, 300u);
  EXPECT_EQ(fails(small), Answer::kFails);
}

TEST(Shrinker, AsksNothingMoreWhenTimeIsOver) {
  const Generated generated = generate(3'000, 3);
  for (const uint32_t questions : {1u, 5u, 40u, 250u}) {
    uint32_t asked = 0;
    Case last = generated.session;
    const Fails fails = [&](const Case& session) {
      if (++asked >= questions) return Answer::kNoTime;
      // Needs as many calls as there are of one kind, so that little can go.
      const auto gets = std::ranges::count(session.calls, CallKind::kGet, &Call::kind);
      if (gets < 300) return Answer::kPasses;
      last = session;
      return Answer::kFails;
    };
    const Case small = shrink(generated.session, fails);
    EXPECT_EQ(asked, questions);
    EXPECT_EQ(small.calls, last.calls);
  }
}

}  // namespace
}  // namespace differential
}  // namespace keydrome
