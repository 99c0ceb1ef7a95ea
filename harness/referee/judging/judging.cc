// Implements judge_session(), which judges one repetition of a benchmark, in four steps. First it
// compares the logs of calls with the programs (lists of operations). Then the workload (the code
// of the benchmark) judges the outcome. Then the recorded histories of calls are judged. Last, the
// verdict is decided.
#include "harness/referee/judging/judging.h"

#include <algorithm>
#include <utility>

#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/judge/recorded/log_judge.h"
#include "benchmarks/kit/judge/replay.h"
#include "harness/referee/session/conductor.h"

namespace keydrome {
namespace {

// Returns a function that plays a part of the script (all operations of the session) again, in a
// fresh jail (sandbox). The replay uses the library, the jail's slot (the number that selects the
// jail's user) and the limits of the session.
judge::Replay reproducer_of(const JailOptions& session) {
  return [session](const script::Script& script, uint64_t phase_timeout_ms) {
    JailOptions options = session;
    options.explain_hangs = false;
    uint64_t& limit_ms = options.plan.limits.phase_timeout_ms;
    limit_ms = std::min(limit_ms, phase_timeout_ms);
    SessionResult result = play(script, options, {});
    judge::Ending ending = ending_of(result);
    return judge::Replayed{std::move(ending), std::move(result.outcome)};
  };
}

// Returns the name of the finding that reports a crash, an exception or a hang.
std::string end_finding(const RunVerdict& verdict) {
  if (verdict.name == "failed") return "exception";
  return verdict.name == "timed_out" ? "hang" : verdict.name;  // a stuck call is never `too_slow`
}

// Returns true if the library crashed, threw an exception or did not return from a call.
bool ended_in_call(const SessionResult& result, const RunVerdict& verdict) {
  const bool crashed = result.stop == StopReason::kClosed && verdict.name == "crashed";
  const bool hangs = result.stop == StopReason::kDeadline && result.stuck;
  return crashed || hangs || result.stop == StopReason::kException;
}

// Returns true if the contract allowed all calls so far.
bool calls_were_legal(const PreparedSession& session, const SessionResult& result) {
  if (result.positions.empty()) return true;
  return !session.workload->has_misused(static_cast<uint32_t>(result.phases.size()),
                                        result.positions[0]);
}

// Turns the findings of an advisory instance (a parameter set of the benchmark for which a failed
// check is only a warning) into warnings. There is an exception: a crash, a C++ exception or a call
// that does not return stays required if the contract allowed all calls so far. A slow phase or a
// reached limit becomes a warning.
void make_advisory(const PreparedSession& session, const SessionResult& result,
                   Judgement& judgement) {
  const bool in_call = ended_in_call(result, judgement.verdict);
  if (in_call && calls_were_legal(session, result)) {
    return judgement.findings.demote(/*except=*/end_finding(judgement.verdict));
  }
  if (in_call) {
    judgement.findings.explain(end_finding(judgement.verdict),
                               "; this suite had made calls that the contract forbids, to see "
                               "how the library reacts, so this is only a warning");
  }
  judgement.verdict = as_warning(std::move(judgement.verdict), judgement.findings);
}

}  // namespace

Judgement judge_session(const PreparedSession& session, const SessionResult& result) {
  Judgement judgement{.findings = judge::Findings(session.plan.benchmark), .verdict = {}};
  judge::Findings& findings = judgement.findings;
  add_session_findings(session.script, result, findings);
  const bool complete = result.stop == StopReason::kNone;
  const bool advisory = session.manifest.instances.find(session.plan.instance)->second.advisory;
  // An advisory instance produces only warnings, unless the library crashes or hangs in legal
  // calls. If the session of an advisory instance ended early, the calls up to the end are judged.
  const bool judged = complete || advisory;
  // A log that does not match the program proves nothing about the library, so judging stops.
  const bool sound = !judged || judge::judge_logs(session.script, result.outcome, findings);
  if (sound && judged && !complete) {
    session.workload->judge(session.script, result.outcome, findings);
  } else if (sound) {
    const judge::Played played{result.outcome, ending_of(result), reproducer_of(session.jail)};
    session.workload->examine(session.script, played, findings);
  }
  if (sound && complete) {
    session.workload->judge_memory(session.script, result.outcome, measures_of(result), findings);
  }
  judgement.histories_judged = judged && sound;
  if (judgement.histories_judged && session.certify) {
    judge::judge_recorded(session.script, result.outcome, false, findings);
  }
  judgement.verdict = decide(result, findings, session.plan.jail.require);
  if (advisory) make_advisory(session, result, judgement);
  return judgement;
}

RunVerdict stale_verdict(const std::string& benchmark, uint32_t plan_version,
                         uint32_t referee_version) {
  const std::string versions = "the plan asks for version " + std::to_string(plan_version) +
                               " of the benchmark " + benchmark +
                               ", but this referee has version " + std::to_string(referee_version);
  if (plan_version > referee_version) {
    return {"infrastructure",
            "stale harness: " + versions +
                "; build the harness again with ./dev build, then repeat the run"};
  }
  return {"infrastructure",
          "stale plan: " + versions +
              "; make a new plan from the current benchmark.json, or, if that file has the plan's "
              "version, run ./dev build"};
}

RunVerdict memory_verdict(uint64_t estimate_bytes, uint64_t bound_bytes) {
  const auto mib = [](uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  return {"infrastructure",
          "the referee, the program that runs and judges the session, needs more "
          "memory than the " +
              mib(bound_bytes) + " that it may use on this machine (it had estimated " +
              mib(estimate_bytes) +
              "): choose a smaller scale or lower parameters, or end other "
              "programs (on a site: tell an organiser)"};
}

}  // namespace keydrome
