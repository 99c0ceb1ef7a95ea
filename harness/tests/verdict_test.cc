#include "harness/referee/verdict.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/protocol.h"

namespace keydrome {
namespace {

// A session that went through, as a starting point.
RunFacts complete() {
  RunFacts facts;
  facts.stage = Stage::kComplete;
  facts.jail.exited = true;
  facts.jail.exit_code = 0;
  facts.jail.meta = {{"level", "full"}, {"status", "killed"}};
  return facts;
}

RunFacts stopped(Stage stage, Stop stop, const char* status) {
  RunFacts facts = complete();
  facts.stage = stage;
  facts.stop = stop;
  facts.detail = "the detail";
  facts.jail.meta["status"] = status;
  return facts;
}

std::string name_of(const RunFacts& facts) { return decide(facts, Findings(), "full").name; }

TEST(Verdict, PassesOnlyACompleteSession) {
  EXPECT_EQ(name_of(complete()), "passed");
  EXPECT_EQ(decide(complete(), Findings(), "full").reason, "");
  Findings findings("unit");
  findings.advisory("advice", "a warning");
  EXPECT_EQ(decide(complete(), findings, "full").name, "passed");
  findings.required("lost", "a record was lost");
  EXPECT_EQ(decide(complete(), findings, "full").name, "failed");
  EXPECT_EQ(decide(complete(), findings, "full").reason, "a record was lost");
  Findings long_ones("unit");
  long_ones.required("lost", "a record was lost\nstep by step");
  EXPECT_EQ(decide(complete(), long_ones, "full").reason, "a record was lost");
}

TEST(Verdict, OfAnInstanceThatNeverDecidesIsAWarning) {
  Findings crash("scenarios");
  const RunVerdict crashed{"crashed", "ended by SIGABRT"};
  EXPECT_EQ(as_warning(crashed, crash).name, "passed");
  EXPECT_EQ(crash.count("crashed"), 1u);
  EXPECT_FALSE(crash.failed());

  Findings found("scenarios");
  found.required("lost", "a record was lost");
  EXPECT_EQ(as_warning({"failed", "a record was lost"}, found).name, "passed");
  EXPECT_FALSE(found.failed());
  EXPECT_EQ(found.list().size(), 1u);
  EXPECT_EQ(found.list()[0].severity, Severity::kAdvisory);

  Findings full("scenarios");
  full.not_judged("a log was full");
  EXPECT_EQ(as_warning(decide(complete(), full, "full"), full).name, "passed");
  EXPECT_EQ(full.count("not_judged"), 1u);

  // What is no fault of the library still says so.
  Findings none("scenarios");
  EXPECT_EQ(as_warning({"infrastructure", "no jail"}, none).name, "infrastructure");
  EXPECT_EQ(as_warning({"refused", "weak"}, none).name, "refused");
  EXPECT_TRUE(none.empty());
}

TEST(Verdict, AFineExitCodeIsNoPass) {
  RunFacts facts = stopped(Stage::kPlaying, Stop::kClosed, "exited");
  facts.jail.meta["exit_code"] = "0";
  EXPECT_EQ(name_of(facts), "crashed");
  EXPECT_EQ(decide(facts, Findings(), "full").reason,
            "the process ended itself with exit code 0 after 0 phases had ended");
}

TEST(Verdict, NamesTheSignal) {
  RunFacts facts = stopped(Stage::kLoading, Stop::kClosed, "signaled");
  facts.jail.meta["signal"] = "11";
  EXPECT_EQ(decide(facts, Findings(), "full").name, "crashed");
  EXPECT_EQ(decide(facts, Findings(), "full").reason,
            "ended by SIGSEGV while the library was loaded");
}

// What a workload is told, so that it can look for the same end in replays.
TEST(Ending, SaysWhatTheLibraryDid) {
  EXPECT_TRUE(ending_of(complete()).complete);
  EXPECT_EQ(ending_of(complete()).stop, "");
  RunFacts facts = stopped(Stage::kPlaying, Stop::kClosed, "signaled");
  facts.jail.meta["signal"] = "11";
  EXPECT_FALSE(ending_of(facts).complete);
  EXPECT_EQ(ending_of(facts).stop, "SIGSEGV");
  facts.stage = Stage::kLoading;  // before it was asked for anything
  EXPECT_EQ(ending_of(facts).stop, "");
  facts = stopped(Stage::kPlaying, Stop::kClosed, "exited");
  facts.jail.meta["exit_code"] = "3";
  EXPECT_EQ(ending_of(facts).stop, "exit code 3");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, Stop::kDeadline, "killed")).stop, "hang");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, Stop::kException, "killed")).stop, "exception");
}

TEST(Ending, SaysNothingOfLimitsAndOfOurFaults) {
  for (const char* limit : {"out_of_memory", "timed_out", "cpu_exceeded"}) {
    const Ending ending = ending_of(stopped(Stage::kPlaying, Stop::kClosed, limit));
    EXPECT_FALSE(ending.complete) << limit;
    EXPECT_EQ(ending.stop, "") << limit;
  }
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, Stop::kLimit, "killed")).stop, "");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, Stop::kViolation, "killed")).stop, "");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, Stop::kPlayerFailed, "killed")).stop, "");
}

TEST(Verdict, FollowsTheLimitsOfTheJail) {
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, Stop::kClosed, "out_of_memory")), "out_of_memory");
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, Stop::kClosed, "timed_out")), "timed_out");
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, Stop::kClosed, "cpu_exceeded")), "timed_out");
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, Stop::kDeadline, "killed")), "timed_out");
  EXPECT_EQ(name_of(stopped(Stage::kLoading, Stop::kLimit, "killed")), "timed_out");
}

TEST(Findings, NameWhatEndedASession) {
  for (const auto& [status, name] : {std::pair("out_of_memory", "out_of_memory"),
                                     {"timed_out", "hang"},
                                     {"cpu_exceeded", "hang"},
                                     {"signaled", "crashed"},
                                     {"exited", "crashed"}}) {
    Findings findings("test");
    RunFacts facts = stopped(Stage::kPlaying, Stop::kClosed, status);
    facts.hang = "thread 0: what it did";
    add_fact_findings(facts, findings);
    EXPECT_EQ(findings.count(name), 1u) << status;
    EXPECT_TRUE(findings.failed()) << status;
    EXPECT_TRUE(findings.list()[0].detail.ends_with("\nthread 0: what it did")) << status;
  }
  Findings findings("test");
  add_fact_findings(stopped(Stage::kStarting, Stop::kClosed, "exited"), findings);
  EXPECT_TRUE(findings.list().empty()) << "before the library was there";
}

TEST(Verdict, OurFaultsAreNotTheLibrarys) {
  EXPECT_EQ(name_of(stopped(Stage::kStarting, Stop::kClosed, "exited")), "infrastructure");
  EXPECT_EQ(name_of(stopped(Stage::kStarting, Stop::kDeadline, "killed")), "infrastructure");
  EXPECT_EQ(name_of(stopped(Stage::kStarting, Stop::kNotStarted, "")), "infrastructure");
  RunFacts facts = complete();
  facts.jail.exit_code = 2;
  EXPECT_EQ(name_of(facts), "infrastructure");
  facts = complete();
  facts.jail.exit_code = 1;
  EXPECT_EQ(name_of(facts), "infrastructure");
  facts = complete();
  facts.jail.exited = false;
  EXPECT_EQ(name_of(facts), "infrastructure");
}

TEST(Verdict, RefusesLessIsolationThanRequired) {
  RunFacts facts = complete();
  facts.jail.exit_code = 3;
  EXPECT_EQ(name_of(facts), "refused");
  facts = complete();
  facts.jail.meta["level"] = "weak";
  EXPECT_EQ(decide(facts, Findings(), "full").name, "refused");
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "passed");
  facts.jail.meta.erase("level");
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "refused");
  EXPECT_EQ(decide(facts, Findings(), "none").name, "passed");
}

TEST(Verdict, TellsWhyALibraryWasNotLoaded) {
  RunFacts facts = stopped(Stage::kLoading, Stop::kLoadFailed, "exited");
  facts.load_status = kLoadNotConfigured;
  EXPECT_EQ(name_of(facts), "unsupported");
  facts.load_status = kLoadNotTightened;
  EXPECT_EQ(name_of(facts), "refused");
  facts.load_status = kLoadSymbolMissing;
  Findings findings("unit");
  add_fact_findings(facts, findings);
  EXPECT_EQ(findings.count("missing_symbol"), 1u);
  EXPECT_EQ(decide(facts, findings, "full").name, "failed");
}

TEST(Verdict, ABrokenProtocolIsAFinding) {
  for (const auto& [stop, name] :
       {std::pair(Stop::kViolation, "protocol_violation"), std::pair(Stop::kException, "exception"),
        std::pair(Stop::kBadOutcome, "outcome_mismatch")}) {
    const RunFacts facts = stopped(Stage::kPlaying, stop, "killed");
    Findings findings("unit");
    add_fact_findings(facts, findings);
    EXPECT_EQ(findings.count(name), 1u) << name;
    EXPECT_TRUE(findings.failed());
    EXPECT_EQ(decide(facts, findings, "full").name, "failed");
  }
}

TEST(Verdict, WhatCouldNotBeJudgedDoesNotPassAndAccusesNobody) {
  Findings findings("isolation");
  findings.not_judged("a log was full");
  const RunVerdict verdict = decide(complete(), findings, "full");
  EXPECT_EQ(verdict.name, "infrastructure");
  EXPECT_EQ(verdict.reason, "could not judge: a log was full");
  findings.required("phantom", "a phantom");
  EXPECT_EQ(decide(complete(), findings, "full").name, "failed");
}

TEST(Verdict, ALibraryThatCannotBeStoppedBetweenPhasesFails) {
  const auto findings_of = [](const RunFacts& facts) {
    Findings findings("unit");
    add_fact_findings(facts, findings);
    return findings.count("not_frozen");
  };
  RunFacts facts = complete();
  facts.jail.meta["mechanisms"] = "namespaces,memory,freeze";
  EXPECT_EQ(findings_of(facts), 0u);
  facts.unfrozen_after = "loading";
  EXPECT_EQ(findings_of(facts), 1u);
  Findings findings("unit");
  add_fact_findings(facts, findings);
  EXPECT_EQ(decide(facts, findings, "full").name, "failed");
  facts.jail.meta["mechanisms"] = "namespaces,memory";
  EXPECT_EQ(findings_of(facts), 0u) << "a jail that cannot freeze is told by its level";
}

TEST(Verdict, AClockThatDisagreesIsAWarning) {
  RunFacts facts = complete();
  PhaseFacts phase;
  phase.name = "test";
  phase.wall_ns = 1'000'000'000;
  phase.player_ns = 950'000'000;
  facts.phases = {phase};
  Findings findings("unit");
  add_fact_findings(facts, findings);
  EXPECT_TRUE(findings.empty());
  facts.phases[0].player_ns = 1'000;
  add_fact_findings(facts, findings);
  EXPECT_TRUE(findings.empty()) << "of a phase that is not timed nothing depends on it";
  facts.phases[0].timed = true;
  add_fact_findings(facts, findings);
  EXPECT_EQ(findings.count("clock_disagrees"), 1u);
  EXPECT_FALSE(findings.failed());
}

}  // namespace
}  // namespace keydrome
