// Tests every rule by which the result of a session (one repetition of a benchmark) becomes a
// verdict, such as passed or crashed (judging/verdict.h), with invented results.
#include "harness/referee/judging/verdict.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/protocol.h"

namespace keydrome {

namespace {

// Returns a complete session, which the tests then modify.
SessionResult complete() {
  SessionResult result;
  result.stage = Stage::kComplete;
  result.jail.exited = true;
  result.jail.exit_code = 0;
  result.jail.meta = {{"level", "full"}, {"status", "killed"}};
  return result;
}

SessionResult stopped(Stage stage, StopReason stop, const char* status) {
  SessionResult result = complete();
  result.stage = stage;
  result.stop = stop;
  result.detail = "the detail";
  result.jail.meta["status"] = status;
  return result;
}

std::string name_of(const SessionResult& result) {
  return decide(result, judge::Findings(), "full").name;
}

TEST(Verdict, PassesOnlyACompleteSession) {
  EXPECT_EQ(name_of(complete()), "passed");
  EXPECT_EQ(decide(complete(), judge::Findings(), "full").reason, "");
  judge::Findings findings("unit");
  findings.advisory("advice", "a warning");
  EXPECT_EQ(decide(complete(), findings, "full").name, "passed");
  findings.required("lost", "a record was lost");
  EXPECT_EQ(decide(complete(), findings, "full").name, "failed");
  EXPECT_EQ(decide(complete(), findings, "full").reason, "a record was lost");
  judge::Findings long_ones("unit");
  long_ones.required("lost", "a record was lost\nstep by step");
  EXPECT_EQ(decide(complete(), long_ones, "full").reason, "a record was lost");
}

TEST(Verdict, OfAnAdvisoryInstanceIsAWarning) {
  judge::Findings crash("scenarios");
  const RunVerdict crashed{"crashed", "ended by SIGABRT"};
  EXPECT_EQ(as_warning(crashed, crash).name, "passed");
  EXPECT_EQ(crash.count("crashed"), 1u);
  EXPECT_FALSE(crash.failed());

  judge::Findings found("scenarios");
  found.required("lost", "a record was lost");
  EXPECT_EQ(as_warning({"failed", "a record was lost"}, found).name, "passed");
  EXPECT_FALSE(found.failed());
  EXPECT_EQ(found.list().size(), 1u);
  EXPECT_EQ(found.list()[0].severity, Severity::kAdvisory);

  judge::Findings full("scenarios");
  full.not_judged("a log was full");
  EXPECT_EQ(as_warning(decide(complete(), full, "full"), full).name, "passed");
  EXPECT_EQ(full.count("not_judged"), 1u);

  // Failures of the harness itself keep their verdict.
  judge::Findings none("scenarios");
  EXPECT_EQ(as_warning({"infrastructure", "no jail"}, none).name, "infrastructure");
  EXPECT_EQ(as_warning({"refused", "weak"}, none).name, "refused");
  EXPECT_TRUE(none.empty());
}

TEST(Verdict, ExitCodeZeroIsNoPass) {
  SessionResult result = stopped(Stage::kPlaying, StopReason::kClosed, "exited");
  result.jail.meta["exit_code"] = "0";
  EXPECT_EQ(name_of(result), "crashed");
  EXPECT_EQ(
      decide(result, judge::Findings(), "full").reason,
      "the library's process ended with exit code 0 before phase 1 of the benchmark; a library "
      "must not end its process");
  result.phases.resize(2);
  result.positions = {5};
  EXPECT_EQ(decide(result, judge::Findings(), "full").reason,
            "the library's process ended with exit code 0 in phase 3 of the benchmark; a library "
            "must not end its process");
}

TEST(Verdict, NamesTheSignal) {
  SessionResult result = stopped(Stage::kLoading, StopReason::kClosed, "signaled");
  result.jail.meta["signal"] = "11";
  EXPECT_EQ(decide(result, judge::Findings(), "full").name, "crashed");
  EXPECT_EQ(decide(result, judge::Findings(), "full").reason,
            "the library's process was ended by SIGSEGV while the library was loaded");
  result.jail.meta["signal"] = "31";
  EXPECT_TRUE(decide(result, judge::Findings(), "full")
                  .reason.starts_with("the library's process was ended by SIGSYS while the library "
                                      "was loaded; the sandbox (jail) sends this signal for"));
}

// To shrink a failing session, a workload (the code of a benchmark) plays parts of it again and
// looks for the ending that ending_of() returns.
TEST(Ending, SaysWhatTheLibraryDid) {
  EXPECT_TRUE(ending_of(complete()).complete);
  EXPECT_EQ(ending_of(complete()).stop, "");
  SessionResult result = stopped(Stage::kPlaying, StopReason::kClosed, "signaled");
  result.jail.meta["signal"] = "11";
  EXPECT_FALSE(ending_of(result).complete);
  EXPECT_EQ(ending_of(result).stop, "SIGSEGV");
  result.stage = Stage::kLoading;  // before the first call
  EXPECT_EQ(ending_of(result).stop, "");
  result = stopped(Stage::kPlaying, StopReason::kClosed, "exited");
  result.jail.meta["exit_code"] = "3";
  EXPECT_EQ(ending_of(result).stop, "exit code 3");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, StopReason::kDeadline, "killed")).stop, "hang");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, StopReason::kException, "killed")).stop,
            "exception");
}

TEST(Ending, IsEmptyForLimitsAndForOurFailures) {
  for (const char* limit : {"out_of_memory", "timed_out", "cpu_exceeded"}) {
    const judge::Ending ending = ending_of(stopped(Stage::kPlaying, StopReason::kClosed, limit));
    EXPECT_FALSE(ending.complete) << limit;
    EXPECT_EQ(ending.stop, "") << limit;
  }
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, StopReason::kLimit, "killed")).stop, "");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, StopReason::kViolation, "killed")).stop, "");
  EXPECT_EQ(ending_of(stopped(Stage::kPlaying, StopReason::kPlayerFailed, "killed")).stop, "");
}

TEST(Verdict, FollowsTheLimitsOfTheJail) {
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, StopReason::kClosed, "out_of_memory")),
            "out_of_memory");
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, StopReason::kClosed, "timed_out")), "timed_out");
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, StopReason::kClosed, "cpu_exceeded")), "timed_out");
  EXPECT_EQ(name_of(stopped(Stage::kPlaying, StopReason::kDeadline, "killed")), "timed_out");
  EXPECT_EQ(name_of(stopped(Stage::kLoading, StopReason::kLimit, "killed")), "timed_out");
}

TEST(Findings, NameWhatEndedASession) {
  for (const auto& [status, name] : {std::pair("out_of_memory", "out_of_memory"),
                                     {"timed_out", "hang"},
                                     {"cpu_exceeded", "hang"},
                                     {"signaled", "crashed"},
                                     {"exited", "crashed"}}) {
    judge::Findings findings("test");
    SessionResult result = stopped(Stage::kPlaying, StopReason::kClosed, status);
    result.hang = "thread 0: what it did";
    add_session_findings({}, result, findings);
    EXPECT_EQ(findings.count(name), 1u) << status;
    EXPECT_TRUE(findings.failed()) << status;
    EXPECT_TRUE(findings.list()[0].detail.ends_with("\nthread 0: what it did")) << status;
  }
  judge::Findings findings("test");
  add_session_findings({}, stopped(Stage::kStarting, StopReason::kClosed, "exited"), findings);
  EXPECT_TRUE(findings.list().empty()) << "before the library was loaded";
}

TEST(Verdict, ALibraryThatWasKeptFromTheProcessorsDoesNotHang) {
  for (const auto& [stop, status] :
       {std::pair(StopReason::kDeadline, "killed"), std::pair(StopReason::kLimit, "killed"),
        std::pair(StopReason::kClosed, "timed_out")}) {
    SessionResult result = stopped(Stage::kPlaying, stop, status);
    result.starved = "Others computed";
    judge::Findings findings("test");
    add_session_findings({}, result, findings);
    EXPECT_TRUE(findings.empty()) << status;
    const RunVerdict verdict = decide(result, findings, "full");
    EXPECT_EQ(verdict.name, "infrastructure");
    EXPECT_TRUE(verdict.reason.ends_with(". Others computed")) << verdict.reason;
    EXPECT_EQ(ending_of(result).stop, "");
    findings.required("lost", "a record was lost");
    EXPECT_EQ(decide(result, findings, "full").reason, "a record was lost");
  }
}

TEST(Verdict, ABusyMachineExcusesOnlyTime) {
  for (const auto& [status, name] :
       {std::pair("signaled", "crashed"), std::pair("out_of_memory", "out_of_memory"),
        std::pair("cpu_exceeded", "hang")}) {
    SessionResult result = stopped(Stage::kPlaying, StopReason::kClosed, status);
    result.starved = "Others computed";
    judge::Findings findings("test");
    add_session_findings({}, result, findings);
    EXPECT_EQ(findings.count(name), 1u) << status;
    EXPECT_NE(decide(result, findings, "full").name, "infrastructure") << status;
  }
}

TEST(Verdict, AClosedChannelIsTheLibrarysFaultOnlyIfThePlayerLivesOn) {
  SessionResult result = stopped(Stage::kPlaying, StopReason::kClosed, "killed");
  EXPECT_EQ(name_of(result), "failed");
  result.player_ended = true;
  EXPECT_EQ(name_of(result), "infrastructure");
}

TEST(Verdict, OurFailuresAreNotTheLibrarys) {
  EXPECT_EQ(name_of(stopped(Stage::kStarting, StopReason::kClosed, "exited")), "infrastructure");
  EXPECT_EQ(name_of(stopped(Stage::kStarting, StopReason::kDeadline, "killed")), "infrastructure");
  EXPECT_EQ(name_of(stopped(Stage::kStarting, StopReason::kNotStarted, "")), "infrastructure");
  SessionResult result = complete();
  result.jail.exit_code = 2;
  EXPECT_EQ(name_of(result), "infrastructure");
  result.jail.meta["error"] = "what failed; what to do";
  EXPECT_EQ(decide(result, judge::Findings(), "full").reason,
            "the library is not at fault; the jail (sandbox) failed on the machine that ran the "
            "library: what failed; what to do");
  result = complete();
  result.jail.exit_code = 1;
  EXPECT_EQ(name_of(result), "infrastructure");
  result = complete();
  result.jail.exited = false;
  EXPECT_EQ(name_of(result), "infrastructure");
  EXPECT_EQ(decide(result, judge::Findings(), "full").reason,
            "another process killed the jail (sandbox) before it could report how the library "
            "ended; repeat the run");
  result.jail.killed_by_referee = true;
  EXPECT_EQ(decide(result, judge::Findings(), "full").reason,
            "the jail (sandbox) did not end in time, so the referee killed it before it could "
            "report how the library ended; repeat the run");
}

TEST(Verdict, RefusesLessIsolationThanRequired) {
  SessionResult result = complete();
  result.jail.exit_code = 3;
  result.jail.meta["error"] = "isolation level full is required";
  EXPECT_EQ(name_of(result), "refused");
  EXPECT_EQ(decide(result, judge::Findings(), "full").reason,
            "the jail (sandbox) did not start the library: isolation level full is required");
  result = complete();
  result.jail.meta["level"] = "weak";
  result.jail.meta["missing"] = "uid,memory";
  EXPECT_EQ(decide(result, judge::Findings(), "full").name, "refused");
  EXPECT_EQ(decide(result, judge::Findings(), "full").reason,
            "this machine's jail (sandbox) gives the isolation level weak, but full is required; "
            "missing: uid, memory. Run build/release/bin/jail --check to see what to do, or accept "
            "the level weak (--require weak, or KEYDROME_JAIL_LEVEL=weak for a site's worker)");
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "passed");
  result.jail.meta.erase("level");
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "refused");
  EXPECT_EQ(decide(result, judge::Findings(), "none").name, "passed");
}

TEST(Verdict, SaysWhyALibraryWasNotLoaded) {
  SessionResult result = stopped(Stage::kLoading, StopReason::kLoadFailed, "exited");
  result.load_status = kLoadNotConfigured;
  EXPECT_EQ(name_of(result), "unsupported");
  result.load_status = kLoadNotTightened;
  EXPECT_EQ(name_of(result), "refused");
  EXPECT_TRUE(decide(result, judge::Findings(), "full").reason.ends_with("was made: the detail"));
  result.load_status = kLoadOtherFilter;
  EXPECT_TRUE(decide(result, judge::Findings(), "full")
                  .reason.ends_with("the detail; a library must not install a seccomp filter"));
  result.load_status = kLoadSymbolMissing;
  judge::Findings findings("unit");
  add_session_findings({}, result, findings);
  EXPECT_EQ(findings.count("missing_symbol"), 1u);
  EXPECT_EQ(decide(result, findings, "full").name, "failed");
}

TEST(Verdict, ABrokenProtocolIsAFinding) {
  for (const auto& [stop, name] : {std::pair(StopReason::kViolation, "protocol_violation"),
                                   std::pair(StopReason::kException, "exception"),
                                   std::pair(StopReason::kBadOutcome, "outcome_mismatch")}) {
    const SessionResult result = stopped(Stage::kPlaying, stop, "killed");
    judge::Findings findings("unit");
    add_session_findings({}, result, findings);
    EXPECT_EQ(findings.count(name), 1u) << name;
    EXPECT_TRUE(findings.failed());
    EXPECT_EQ(decide(result, findings, "full").name, "failed");
  }
}

TEST(Verdict, ASessionThatCouldNotBeJudgedNeitherPassesNorFails) {
  judge::Findings findings("isolation");
  findings.not_judged("a log was full");
  const RunVerdict verdict = decide(complete(), findings, "full");
  EXPECT_EQ(verdict.name, "infrastructure");
  EXPECT_EQ(verdict.reason, "could not judge: a log was full");
  findings.required("phantom", "a phantom");
  EXPECT_EQ(decide(complete(), findings, "full").name, "failed");
}

TEST(Verdict, ALibraryThatCannotBeFrozenBetweenPhasesFails) {
  const auto findings_of = [](const SessionResult& result) {
    judge::Findings findings("unit");
    add_session_findings({}, result, findings);
    return findings.count("not_frozen");
  };
  SessionResult result = complete();
  result.jail.meta["mechanisms"] = "namespaces,memory,freeze";
  EXPECT_EQ(findings_of(result), 0u);
  result.unfrozen_after = "loading";
  EXPECT_EQ(findings_of(result), 1u);
  judge::Findings findings("unit");
  add_session_findings({}, result, findings);
  EXPECT_EQ(decide(result, findings, "full").name, "failed");
  result.jail.meta["mechanisms"] = "namespaces,memory";
  EXPECT_EQ(findings_of(result), 0u) << "the level already reports a jail that cannot freeze";
}

TEST(Verdict, WorkAfterTheLastCallIsAWarning) {
  SessionResult result = complete();
  PhaseResult phase;
  phase.name = "test";
  phase.timed = true;
  phase.wall_ns = 1'000'000'000;
  phase.freezing_ns = 4'000'000;
  phase.freezing_cpu_us = 1'000'000;
  result.phases = {phase};
  judge::Findings soon("unit");
  add_session_findings({}, result, soon);
  EXPECT_TRUE(soon.empty()) << "a freeze may take some milliseconds";
  result.phases[0].freezing_ns = 200'000'000;
  judge::Findings findings("unit");
  add_session_findings({}, result, findings);
  ASSERT_EQ(findings.count("late_work"), 1u);
  EXPECT_EQ(
      findings.list()[0].detail.substr(0, 97),
      "phase \"test\": after the last call had returned, the library used 1.000 s of CPU time "
      "in 0.200 s. ");
  EXPECT_FALSE(findings.failed());
  result.phases[0].freezing_cpu_us = 4'000;
  judge::Findings idle("unit");
  add_session_findings({}, result, idle);
  EXPECT_TRUE(idle.empty()) << "a thread that waits in the kernel uses no CPU time";
}

TEST(Verdict, AClockThatDisagreesIsAWarning) {
  SessionResult result = complete();
  PhaseResult phase;
  phase.name = "test";
  phase.wall_ns = 1'000'000'000;
  phase.player_ns = 950'000'000;
  result.phases = {phase};
  judge::Findings findings("unit");
  add_session_findings({}, result, findings);
  EXPECT_TRUE(findings.empty());
  result.phases[0].player_ns = 1'000;
  add_session_findings({}, result, findings);
  EXPECT_TRUE(findings.empty()) << "nothing depends on the time of an untimed phase";
  result.phases[0].timed = true;
  add_session_findings({}, result, findings);
  ASSERT_EQ(findings.count("clock_disagrees"), 1u);
  EXPECT_EQ(
      findings.list()[0].detail,
      "phase \"test\" took 1.000 s by the clock outside the library's process, but 0.000 s by the "
      "clock inside. The time outside counts. Other programs may have delayed Keydrome; otherwise "
      "the library has changed the clock of its process, which it must not do");
  EXPECT_FALSE(findings.failed());
}

}  // namespace
}  // namespace keydrome
