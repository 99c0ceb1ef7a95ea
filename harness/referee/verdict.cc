#include "harness/referee/verdict.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/protocol.h"

namespace keydrome {
namespace {

constexpr int kJailFailed = 2;
constexpr int kJailRefused = 3;
// The player's clock may differ from the referee's by scheduling, never by this.
constexpr uint64_t kClockSlackNs = 50'000'000;
constexpr uint64_t kClockSlackDivisor = 10;

std::string where(const RunFacts& facts) {
  switch (facts.stage) {
    case Stage::kStarting:
      return "before the library was loaded";
    case Stage::kLoading:
      return "while the library was loaded";
    case Stage::kPlaying:
      return "after " + std::to_string(facts.phases.size()) + " phases had ended";
    case Stage::kComplete:
      break;
  }
  return "at the end";
}

// The jail's own word on what killed the program, when it names a limit.
bool decide_by_limits(const RunFacts& facts, RunVerdict& verdict) {
  const std::string_view status = facts.jail.text("status");
  if (status == "out_of_memory" || facts.jail.number("oom_kills").value_or(0) > 0) {
    verdict = {"out_of_memory", "the memory limit was reached " + where(facts)};
  } else if (status == "timed_out") {
    verdict = {"timed_out", "the time limit of the whole session was reached " + where(facts)};
  } else if (status == "cpu_exceeded") {
    verdict = {"timed_out", "the CPU time limit was reached " + where(facts)};
  } else {
    return false;
  }
  return true;
}

std::string signal_name(int64_t number) {
  const char* name = sigabbrev_np(static_cast<int>(number));
  return name == nullptr ? std::to_string(number) : std::string("SIG") + name;
}

RunVerdict decide_closed(const RunFacts& facts) {
  const std::string_view status = facts.jail.text("status");
  if (facts.stage == Stage::kStarting) {
    const std::string_view error = facts.jail.text("error");
    return {"infrastructure", "the player did not start" +
                                  (error.empty() ? std::string() : ": " + std::string(error))};
  }
  if (status == "signaled") {
    return {"crashed", "ended by " + signal_name(facts.jail.number("signal").value_or(0)) + " " +
                           where(facts)};
  }
  if (status == "exited") {
    return {"crashed", "the process ended itself with exit code " +
                           std::string(facts.jail.text("exit_code")) + " " + where(facts)};
  }
  return {"failed", "the library closed the control channel " + where(facts)};
}

RunVerdict decide_load_failure(const RunFacts& facts) {
  switch (facts.load_status) {
    case kLoadNotConfigured:
      return {"unsupported", facts.detail};
    case kLoadNotTightened:
      return {"refused", "the jail could not be tightened after loading: " + facts.detail};
    case kLoadNotOpened:
      return {"failed", "the library cannot be loaded: " + facts.detail};
    default:
      return {"failed", facts.detail};
  }
}

RunVerdict decide_stop(const RunFacts& facts) {
  switch (facts.stop) {
    case Stop::kNotStarted:
      return {"infrastructure", facts.detail};
    case Stop::kClosed:
      return decide_closed(facts);
    case Stop::kDeadline:
    case Stop::kLimit:
      if (facts.stage == Stage::kStarting) return {"infrastructure", facts.detail};
      return {"timed_out", facts.detail};
    case Stop::kLoadFailed:
      return decide_load_failure(facts);
    case Stop::kPlayerFailed:
      return {"crashed", facts.detail};
    case Stop::kViolation:
    case Stop::kException:
    case Stop::kBadOutcome:
    case Stop::kNone:
      break;
  }
  return {"failed", facts.detail};
}

int rank(std::string_view level) { return level == "full" ? 2 : level == "weak" ? 1 : 0; }

void add_clock_findings(const RunFacts& facts, Findings& findings) {
  for (const PhaseFacts& phase : facts.phases) {
    if (!phase.timed) continue;
    const uint64_t inside_ns = phase.player_ns.value_or(phase.wall_ns);
    const uint64_t apart_ns =
        std::max(inside_ns, phase.wall_ns) - std::min(inside_ns, phase.wall_ns);
    if (apart_ns <= std::max(kClockSlackNs, phase.wall_ns / kClockSlackDivisor)) continue;
    findings.advisory("clock_disagrees",
                      "phase " + phase.name + " took " + std::to_string(phase.wall_ns) +
                          " ns by the referee's clock and " + std::to_string(inside_ns) +
                          " ns by the clock inside the jail; the referee's counts");
  }
}

// What runs between the phases is not measured. Where the kernel can freeze a jail, only a thread
// that stays in one call of the kernel's for seconds keeps it from standing still.
void add_freeze_findings(const RunFacts& facts, Findings& findings) {
  if (facts.stop != Stop::kNone || facts.unfrozen_after.empty()) return;
  if (std::ranges::count(facts.jail.words("mechanisms"), "freeze") == 0) return;
  findings.required("not_frozen",
                    "after " + facts.unfrozen_after +
                        " a thread of the library could not be stopped, so that it may work "
                        "between the phases, where nothing is measured");
}

// Of a session that was ended, or ended itself: with what its threads did last.
void add_end_finding(const RunFacts& facts, Findings& findings) {
  if (facts.stage == Stage::kStarting) return;
  const std::string evidence = facts.hang.empty() ? "" : "\n" + facts.hang;
  if (facts.stop == Stop::kDeadline || facts.stop == Stop::kLimit) {
    findings.required("hang", facts.detail + evidence);
  }
  if (facts.stop != Stop::kClosed) return;
  RunVerdict end;
  if (!decide_by_limits(facts, end)) end = decide_closed(facts);
  if (end.name == "failed") return;
  findings.required(end.name == "timed_out" ? "hang" : end.name, end.reason + evidence);
}

}  // namespace

std::string jail_level(const JailEnd& jail) {
  const std::string_view level = jail.text("level");
  return level == "full" || level == "weak" ? std::string(level) : "none";
}

Ending ending_of(const RunFacts& facts) {
  Ending ending{.complete = facts.stop == Stop::kNone, .stop = {}};
  // What reaches a limit depends on more than the calls.
  RunVerdict limit;
  if (facts.stage != Stage::kPlaying || decide_by_limits(facts, limit)) return ending;
  const std::string_view status = facts.jail.text("status");
  if (facts.stop == Stop::kDeadline) ending.stop = "hang";
  if (facts.stop == Stop::kException) ending.stop = "exception";
  if (facts.stop == Stop::kClosed && status == "signaled") {
    ending.stop = signal_name(facts.jail.number("signal").value_or(0));
  }
  if (facts.stop == Stop::kClosed && status == "exited") {
    ending.stop = "exit code " + std::string(facts.jail.text("exit_code"));
  }
  return ending;
}

void add_fact_findings(const RunFacts& facts, Findings& findings) {
  add_clock_findings(facts, findings);
  add_freeze_findings(facts, findings);
  if (facts.stop == Stop::kViolation) findings.required("protocol_violation", facts.detail);
  if (facts.stop == Stop::kException) findings.required("exception", facts.detail);
  if (facts.stop == Stop::kBadOutcome) findings.required("outcome_mismatch", facts.detail);
  add_end_finding(facts, findings);
  if (facts.stop != Stop::kLoadFailed) return;
  if (facts.load_status == kLoadSymbolMissing) findings.required("missing_symbol", facts.detail);
  if (facts.load_status == kLoadNotOpened) findings.required("not_loadable", facts.detail);
}

RunVerdict decide(const RunFacts& facts, const Findings& findings,
                  const std::string& required_level) {
  const std::string level = jail_level(facts.jail);
  if (facts.jail.exited && facts.jail.exit_code == kJailRefused) {
    return {"refused", "this machine gives less isolation than the plan requires (" +
                           required_level + "): " + std::string(facts.jail.text("error"))};
  }
  if (facts.jail.exited && facts.jail.exit_code == kJailFailed) {
    return {"infrastructure", "the jail failed: " + std::string(facts.jail.text("error"))};
  }
  if (facts.stop != Stop::kNotStarted && !facts.jail.exited) {
    return {"infrastructure", "the jail did not end and had to be killed"};
  }
  if (facts.stop != Stop::kNotStarted && facts.jail.exit_code != 0) {
    return {"infrastructure", "the jail ended with exit code " +
                                  std::to_string(facts.jail.exit_code) +
                                  " and did not say what happened"};
  }
  if (facts.stop != Stop::kNotStarted && rank(level) < rank(required_level)) {
    return {"refused",
            "the jail gave " + level + " isolation, and " + required_level + " is required"};
  }
  RunVerdict verdict;
  if (decide_by_limits(facts, verdict)) return verdict;
  if (facts.stop != Stop::kNone) return decide_stop(facts);
  if (!findings.failed() && !findings.not_judged_reason().empty()) {
    return {"infrastructure", "could not judge: " + findings.not_judged_reason()};
  }
  if (!findings.failed()) return {"passed", ""};
  for (const Finding& finding : findings.list()) {
    // A reason is one line; what a finding tells beyond that is for its readers.
    const std::string& detail = finding.detail;
    if (finding.severity == Severity::kRequired) {
      return {"failed", detail.substr(0, detail.find('\n'))};
    }
  }
  return {"failed", "a required check failed"};
}

RunVerdict as_warning(RunVerdict verdict, Findings& findings) {
  constexpr std::array<std::string_view, 4> kFaults{"failed", "crashed", "timed_out",
                                                    "out_of_memory"};
  const bool not_judged = verdict.name == "infrastructure" && !findings.not_judged_reason().empty();
  const bool fault = std::ranges::find(kFaults, verdict.name) != kFaults.end();
  if (!fault && !not_judged) return verdict;
  const bool told = findings.failed();
  findings.demote();
  if (!told) findings.advisory(not_judged ? "not_judged" : verdict.name, verdict.reason);
  return {"passed", ""};
}

}  // namespace keydrome
