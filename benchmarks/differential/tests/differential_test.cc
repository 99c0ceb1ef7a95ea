// Tests the benchmark "differential" against an index in this process. A correct index has no
// findings. Each faulty index has the right finding, shown with a few calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/differential/generator.h"
#include "benchmarks/differential/judged_calls.h"
#include "benchmarks/differential/narration.h"
#include "benchmarks/differential/script_calls.h"
#include "benchmarks/differential/shrinker.h"
#include "benchmarks/kit/judge/replay.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {

std::unique_ptr<workload::Workload> make_differential(std::string_view instance);

namespace differential {
namespace {

using testing::Faults;
using testing::text_of;

judge::Findings examined(const Faults& faults, int64_t calls, uint64_t seed,
                         int64_t shrink_ms = 10'000) {
  const std::unique_ptr<workload::Workload> workload = make_differential("differential");
  const workload::Parameters parameters({{"calls", calls}, {"shrink_ms", shrink_ms}});
  const script::Script script = workload->generate(parameters, seed, {}).value();
  const script::Outcome outcome = testing::play(script, testing::test_index(faults));
  const judge::Replay replay = [&](const script::Script& again, uint64_t) {
    return judge::Replayed{.ending = {},
                           .outcome = testing::play(again, testing::test_index(faults))};
  };
  judge::Findings findings("differential");
  workload->examine(script, {.outcome = outcome, .ending = {}, .replay = replay}, findings);
  return findings;
}

TEST(Differential, PassesACorrectIndex) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const judge::Findings findings = examined({}, 30'000, seed);
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << text_of(findings);
    EXPECT_EQ(findings.not_judged_reason(), "");
  }
}

// The index returns DEADLOCK for every 5,003rd call, so a transaction of hundreds of calls
// sometimes needs several attempts.
TEST(Differential, DeadlocksAreNoFindings) {
  const judge::Findings findings = examined({.deadlock_every = 5'003}, 30'000, 1);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST(Differential, EqualSeedsGiveEqualCalls) {
  const Generated one = generate(5'000, 7), other = generate(5'000, 8);
  const Generated again = generate(5'000, 7);
  ASSERT_EQ(one.session.calls.size(), again.session.calls.size());
  EXPECT_NE(one.session.calls.size(), other.session.calls.size());
  // The generator writes only calls that a client can make.
  EXPECT_EQ(playable(one.session.calls).size(), one.session.calls.size());
}

struct FaultCase {
  const char* names;  // possible names of the finding
  Faults faults;
  std::size_t calls_max;  // maximum number of calls that the finding shows
};

class DifferentialFinds : public ::testing::TestWithParam<FaultCase> {};

// Returns the number in the sentence "These 6 calls reproduce the error".
std::size_t shrunk_size(const std::string& detail) {
  if (detail.find("\nThis call reproduces") != std::string::npos) return 1;
  constexpr std::string_view kBefore = "\nThese ";
  const std::size_t at = detail.find(kBefore);
  if (at == std::string::npos) return SIZE_MAX;
  return std::stoul(detail.substr(at + kBefore.size()));
}

TEST_P(DifferentialFinds, TheFaultByNameInAFewCalls) {
  const FaultCase& wanted = GetParam();
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const judge::Findings findings = examined(wanted.faults, 20'000, seed);
    ASSERT_TRUE(findings.failed()) << "seed " << seed;
    const judge::Finding first = findings.list().front();
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

// Each of these faults occurs at every 300th call of one kind, so a failing session needs 300 calls
// of this kind. The finding shows many similar calls in one line.
TEST(Differential, TellsARareFaultInAFewLines) {
  for (const Faults& faults : {Faults{.drops_every = 300}, Faults{.repeats_every = 300}}) {
    // Every failing session has at least 300 calls. In one second, an idle machine reduces the
    // session to about 600 calls. A busy machine with a sanitizer leaves more.
    const judge::Findings findings = examined(faults, 6'000, 1, 1'000);
    ASSERT_TRUE(findings.failed());
    const std::string detail = findings.list().front().detail;
    EXPECT_LE(shrunk_size(detail), 1'500u) << detail;
    EXPECT_LE(std::ranges::count(detail, '\n'), 14) << detail;
  }
}

TEST(Differential, TellsWhatItCannotShowAgain) {
  const std::unique_ptr<workload::Workload> workload = make_differential("differential");
  const workload::Parameters parameters({{"calls", 20'000}, {"shrink_ms", 1'000}});
  const script::Script script = workload->generate(parameters, 1, {}).value();
  const script::Outcome outcome =
      testing::play(script, testing::test_index({.keeps_deleted = true}));
  const judge::Replay right = [](const script::Script& again, uint64_t) {
    return judge::Replayed{.ending = {}, .outcome = testing::play(again, testing::test_index({}))};
  };
  judge::Findings findings("differential");
  workload->examine(script, {.outcome = outcome, .ending = {}, .replay = right}, findings);
  EXPECT_NE(text_of(findings).find("did not reproduce the error"), std::string::npos);
  judge::Findings alone("differential");
  workload->judge(script, outcome, alone);
  EXPECT_TRUE(alone.failed());
  EXPECT_NE(text_of(alone).find("\ncall "), std::string::npos) << text_of(alone);
}

// A crash leaves no results. The referee, the process that judges a run, knows only the phase of
// the crash, and that the same calls crash again.
TEST(Differential, ShrinksACrashToTheCallThatBringsItAbout) {
  const std::unique_ptr<workload::Workload> workload = make_differential("differential");
  const workload::Parameters parameters({{"calls", 20'000}, {"shrink_ms", 10'000}});
  const script::Script script = workload->generate(parameters, 1, {}).value();
  const judge::Replay crashes = [](const script::Script& again, uint64_t) {
    const std::vector<format::Op>& ops = again.phases.at(0).threads.at(0);
    const bool deletes = std::ranges::any_of(ops, [](const format::Op& op) {
      return op.code == format::OpCode::kDeleteKey && (op.flags & format::kAutoCommit) == 0;
    });
    if (deletes)
      return judge::Replayed{.ending = {.complete = false, .stop = "SIGSEGV"}, .outcome = {}};
    return judge::Replayed{.ending = {}, .outcome = testing::play(again, testing::test_index({}))};
  };
  const script::Outcome nothing;
  judge::Findings findings("differential");
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
  const std::unique_ptr<workload::Workload> workload = make_differential("differential");
  const workload::Parameters parameters({{"calls", 1'000}, {"shrink_ms", 1'000}});
  const script::Script script = workload->generate(parameters, 1, {}).value();
  const script::Outcome nothing;
  judge::Findings findings("differential");
  workload->examine(script,
                    {.outcome = nothing, .ending = {.complete = false, .stop = ""}, .replay = {}},
                    findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST(Calls, AreLeftOutWhenTheCallsTheyNeedAreMissing) {
  const Call create{.kind = CallKind::kCreate}, open{.kind = CallKind::kOpen};
  const Call begin{.kind = CallKind::kBegin}, commit{.kind = CallKind::kCommit};
  const Call get{.kind = CallKind::kGet}, close{.kind = CallKind::kClose};
  EXPECT_EQ(playable({create, open, begin, get, commit, close}).size(), 6u);
  // Without a handle, the get and the close are removed.
  EXPECT_EQ(playable({create, begin, get, commit, close}).size(), 3u);
  EXPECT_EQ(playable({create, open, get, commit, close}).size(), 4u);  // the commit has no begin
  // A commit is added at the end.
  EXPECT_EQ(playable({create, open, begin, get}).size(), 5u);
  EXPECT_EQ(playable({open, get}).size(), 1u);  // the open must fail
  EXPECT_EQ(playable({create, open, open, begin, begin, create, commit}).size(), 4u);
}

TEST(Narrator, ExplainsTheNameOfASecondHandle) {
  Case session{.indexes = {INT}, .keys = {KeyValue{}}, .texts = {""}, .calls = {}};
  session.calls = {{.kind = CallKind::kCreate},
                   {.kind = CallKind::kOpen, .slot = 0},
                   {.kind = CallKind::kOpen, .slot = 1},
                   {.kind = CallKind::kClose, .slot = 1},
                   {.kind = CallKind::kInsert}};
  const history::History calls = unanswered(session);
  const Narrator narrator(session, calls);
  const std::string handle = "2 is a further handle of the index " + calls.indexes[0].name;
  EXPECT_EQ(narrator.legend(1), "");
  EXPECT_TRUE(narrator.legend(3).starts_with("Here ")) << narrator.legend(3);
  EXPECT_TRUE(narrator.legend(3).ends_with(handle)) << narrator.legend(3);
  EXPECT_TRUE(narrator.legend(4).starts_with("Here p1, p2 and so on are payloads, and "))
      << narrator.legend(4);
  EXPECT_TRUE(narrator.legend(4).ends_with(handle)) << narrator.legend(4);
  EXPECT_EQ(narrator.notation(1), "");
}

TEST(Narrator, GivesTheLengthOfKeysThatAreShownInPart) {
  Case session{.indexes = {VARCHAR},
               .keys = {{.text = "short"}, {.text = std::string(100, 'p')}},
               .texts = {""},
               .calls = {}};
  session.calls = {{.kind = CallKind::kCreate},
                   {.kind = CallKind::kOpen},
                   {.kind = CallKind::kGet, .key = 0},
                   {.kind = CallKind::kGet, .key = 1}};
  const history::History calls = unanswered(session);
  const Narrator narrator(session, calls);
  EXPECT_EQ(narrator.abbreviations(2), "");
  EXPECT_EQ(narrator.abbreviations(3),
            "Long keys are shown in part: \"pppppppp...pppppppp\" has 100 bytes");
}

TEST(Narrator, NumbersTheCallsOfALongSession) {
  Case session{.indexes = {INT}, .keys = {}, .texts = {""}, .calls = {{.kind = CallKind::kCreate}}};
  while (session.calls.size() < 2 * kLinesMax) {
    session.calls.push_back({.kind = CallKind::kOpen});
    session.calls.push_back({.kind = CallKind::kClose});
  }
  const history::History calls = unanswered(session);
  const Narrator narrator(session, calls);
  EXPECT_TRUE(narrator.lines(2).front().starts_with("create("));
  const auto last = static_cast<uint32_t>(session.calls.size() - 1);
  EXPECT_TRUE(narrator.lines(last).front().starts_with("call 1: create("));
}

// Searches for the smallest session in which a delete of a pair follows an abort.
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
  // The five calls are create, open, begin, abort and delete.
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
      // A session fails only with at least 300 gets, so few calls can be removed.
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
