// Implements harness/referee/judging/verdict.h: the rules that turn the result of a session (one
// repetition of a benchmark, with one library) and its findings into a verdict and a reason. A
// finding says what a check found wrong.
#include "harness/referee/judging/verdict.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/keydrome_error.h"
#include "harness/protocol.h"
#include "harness/referee/judging/account_findings.h"
#include "harness/referee/judging/crash_program.h"

namespace keydrome {
namespace {

// Exit codes of the jail (docs/reference/jail.md).
constexpr int kJailFailed = 2;
constexpr int kJailRefused = 3;
// Two processes measure the time of a phase: the referee, which is trusted, and the player, the
// jailed process with the library. Their times may differ by 50 ms or by a tenth of the phase,
// whichever is longer. Scheduling can explain such a difference.
constexpr uint64_t kClockSlackNs = 50'000'000;
constexpr uint64_t kClockSlackDivisor = 10;

std::string where(const SessionResult& result) {
  switch (result.stage) {
    case Stage::kStarting:
      return "before the library was loaded";
    case Stage::kLoading:
      return "while the library was loaded";
    case Stage::kPlaying: {
      // The threads have positions only if the session stopped while they played the phase.
      const std::string number = std::to_string(result.phases.size() + 1);
      return (result.positions.empty() ? "before phase " : "in phase ") + number +
             " of the benchmark";
    }
    case Stage::kComplete:
      break;
  }
  return "after the last phase of the benchmark";
}

// Returns true if a time limit passed while other programs kept the session from the processors.
// Then the library may be correct, and the verdict must not blame it. A crash is never excused in
// this way.
bool is_starved(const SessionResult& result) {
  if (result.starved.empty()) return false;
  return result.stop == StopReason::kDeadline || result.stop == StopReason::kLimit ||
         (result.stop == StopReason::kClosed && result.jail.text("status") == "timed_out");
}

RunVerdict starved_verdict(const std::string& stop, const SessionResult& result) {
  return {"infrastructure", stop + ". " + result.starved};
}

// Returns what follows "the memory limit": its value, if one is set, and its name in the plan.
std::string memory_limit_text(const SessionResult& result) {
  const uint64_t bytes = result.memory_limit_bytes;
  return bytes == 0 ? " (jail.memory_bytes)"
                    : " of " + std::to_string(bytes >> 20) + " MiB (jail.memory_bytes)";
}

// Returns a time that the jail reported in microseconds, in parentheses, or "" if it reported none.
std::string reported_seconds(const SessionResult& result, const char* key, const char* verb) {
  const std::optional<int64_t> us = result.jail.number(key);
  if (!us) return "";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(*us) / 1e6);
  return std::string(" (") + verb + text.data() + ")";
}

// If the jail reports that the player reached a limit of the jail, sets `verdict` and returns true.
// Otherwise returns false.
bool decide_by_limits(const SessionResult& result, RunVerdict& verdict) {
  const std::string_view status = result.jail.text("status");
  if (status == "out_of_memory" || result.jail.number("oom_kills").value_or(0) > 0) {
    verdict = {"out_of_memory", "the library reached the memory limit" + memory_limit_text(result) +
                                    " " + where(result)};
  } else if (status == "timed_out") {
    const std::string stop = "the whole session reached its time limit" +
                             reported_seconds(result, "wall_us", "it ran for ") + " " +
                             where(result);
    verdict = is_starved(result) ? starved_verdict(stop, result) : RunVerdict{"timed_out", stop};
  } else if (status == "cpu_exceeded") {
    verdict = {"timed_out",
               "the library's process reached its limit of CPU time, jail.cpu_seconds" +
                   reported_seconds(result, "cpu_us", "it used ") + ", " + where(result)};
  } else {
    return false;
  }
  return true;
}

std::string signal_name(int64_t number) {
  const char* name = sigabbrev_np(static_cast<int>(number));
  return name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name;
}

// The jail's filter refuses most calls with an error. It ends the process only for calls of another
// architecture (jail/filter/generate.c).
std::string signal_advice(int64_t number) {
  if (number != SIGSYS) return "";
  return "; the sandbox (jail) sends this signal for a system call of another architecture, such "
         "as a call of 32-bit programs (int 0x80): make system calls only through the C library";
}

// Appends to `what` the jail's error, which says what to do. If the jail reported none, appends how
// to find the cause.
std::string with_jail_error(const std::string& what, const std::string& error) {
  if (error.empty()) return what + "; run `jail --check` to find the cause";
  return what + ": " + error;
}

RunVerdict decide_closed(const SessionResult& result) {
  const std::string_view status = result.jail.text("status");
  if (result.stage == Stage::kStarting) {
    const std::string error(result.jail.text("error"));
    return {"infrastructure",
            with_jail_error("the player, the program in the jail (sandbox) that calls the library, "
                            "did not start",
                            error)};
  }
  if (status == "signaled") {
    const int64_t number = result.jail.number("signal").value_or(0);
    return {"crashed", "the library's process was ended by " + signal_name(number) + " " +
                           where(result) + signal_advice(number)};
  }
  if (status == "exited") {
    return {"crashed", "the library's process ended with exit code " +
                           std::string(result.jail.text("exit_code")) + " " + where(result) +
                           "; a library must not end its process"};
  }
  if (result.player_ended) {
    return {"infrastructure", "the library's process ended " + where(result) +
                                  ", but its sandbox (jail) did not end in time, so it is unknown "
                                  "how the process ended; repeat the run"};
  }
  return {"failed", "the library closed the socket between its process and Keydrome's referee " +
                        where(result) +
                        "; a library may close only descriptors that it has opened"};
}

std::string not_opened_text(const SessionResult& result) {
  return "the library cannot be loaded: " + result.detail +
         "; if a symbol or file is missing, link the library with what it uses; otherwise build it "
         "on this machine";
}

std::string not_tightened_text(const SessionResult& result) {
  return "after the library was loaded, its process could not give up the rights that only loading "
         "needs, so no call of the benchmark was made: " +
         result.detail +
         (result.load_status == kLoadOtherFilter ? "; a library must not install a seccomp filter"
                                                 : "");
}

RunVerdict decide_load_failure(const SessionResult& result) {
  switch (result.load_status) {
    case kLoadNotConfigured:
      return {"unsupported", result.detail};
    case kLoadNotTightened:
    case kLoadOtherFilter:
      return {"refused", not_tightened_text(result)};
    case kLoadNotOpened:
      return {"failed", not_opened_text(result)};
    default:
      return {"failed", result.detail};
  }
}

RunVerdict decide_stop(const SessionResult& result) {
  switch (result.stop) {
    case StopReason::kNotStarted:
      return {"infrastructure", result.detail};
    case StopReason::kClosed:
      return decide_closed(result);
    case StopReason::kDeadline:
    case StopReason::kLimit:
      if (result.stage == Stage::kStarting) {
        return {"infrastructure", result.detail +
                                      "; the library is not the cause, so repeat the run; if this "
                                      "happens again, run `jail --check` to find the cause"};
      }
      if (is_starved(result)) return starved_verdict(result.detail, result);
      return {"timed_out", result.detail};
    case StopReason::kLoadFailed:
      return decide_load_failure(result);
    case StopReason::kPlayerFailed:
      return {"crashed", result.detail};
    case StopReason::kViolation:
    case StopReason::kException:
    case StopReason::kBadOutcome:
    case StopReason::kNone:
      break;
  }
  return {"failed", result.detail};
}

int rank(std::string_view level) { return level == "full" ? 2 : level == "weak" ? 1 : 0; }

std::string missing_mechanisms(const JailEnd& jail) {
  std::string list;
  for (const std::string& word : jail.words("missing")) list += (list.empty() ? "" : ", ") + word;
  return list.empty() ? "not reported" : list;
}

// Returns the verdict `refused` or `infrastructure` if the jail (sandbox) did not work as required
// by the plan, the JSON file that describes the session. Otherwise returns nothing.
std::optional<RunVerdict> decide_by_jail(const SessionResult& result,
                                         const std::string& required_level) {
  const JailEnd& jail = result.jail;
  const std::string error(jail.text("error"));
  if (jail.exited && jail.exit_code == kJailRefused) {
    return RunVerdict{"refused",
                      with_jail_error("the jail (sandbox) did not start the library", error)};
  }
  if (jail.exited && jail.exit_code == kJailFailed) {
    return RunVerdict{"infrastructure",
                      with_jail_error("the library is not at fault; the jail (sandbox) failed on "
                                      "the machine that ran the library",
                                      error)};
  }
  if (result.stop == StopReason::kNotStarted) return std::nullopt;
  if (!jail.exited) {
    return RunVerdict{
        "infrastructure",
        jail.killed_by_referee
            ? "the jail (sandbox) did not end in time, so the referee killed it before "
              "it could report how the library ended; repeat the run"
            : "another process killed the jail (sandbox) before it could report how "
              "the library ended; repeat the run"};
  }
  if (jail.exit_code != 0) {
    return RunVerdict{"infrastructure",
                      "the jail exited with code " + std::to_string(jail.exit_code) +
                          " and reported no error; if a plan of your own names another program in "
                          "jail.path, correct it; otherwise " +
                          kRepeatThenReport};
  }
  const std::string level = jail_level(jail);
  if (rank(level) >= rank(required_level)) return std::nullopt;
  return RunVerdict{
      "refused",
      "this machine's jail (sandbox) gives the isolation level " + level + ", but " +
          required_level + " is required; missing: " + missing_mechanisms(jail) +
          ". Run build/release/bin/jail --check to see what to do, or accept the level " + level +
          " (--require " + level + ", or KEYDROME_JAIL_LEVEL=" + level + " for a site's worker)"};
}

std::string in_seconds(uint64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

void add_clock_findings(const SessionResult& result, judge::Findings& findings) {
  for (const PhaseResult& phase : result.phases) {
    if (!phase.timed) continue;
    const uint64_t outside_ns = phase.wall_ns - phase.freezing_ns.value_or(0);
    const uint64_t inside_ns = phase.player_ns.value_or(outside_ns);
    const uint64_t apart_ns = std::max(inside_ns, outside_ns) - std::min(inside_ns, outside_ns);
    if (apart_ns <= std::max(kClockSlackNs, outside_ns / kClockSlackDivisor)) continue;
    findings.advisory(
        "clock_disagrees",
        phase_text(phase.name) + " took " + in_seconds(outside_ns) +
            " by the clock outside the library's process, but " + in_seconds(inside_ns) +
            " by the clock inside. The time outside counts. Other programs may have delayed "
            "Keydrome; otherwise the library has changed the clock of its process, which it must "
            "not do");
  }
}

// The referee freezes the jail between phases. No time is measured between phases, so a library
// that was not frozen could work there unseen. On a kernel that can freeze a jail, freezing fails
// only if a thread stays in one system call for seconds.
void add_freeze_findings(const SessionResult& result, judge::Findings& findings) {
  if (result.stop != StopReason::kNone || result.unfrozen_after.empty()) return;
  if (std::ranges::count(result.jail.words("mechanisms"), "freeze") == 0) return;
  findings.required("not_frozen",
                    "the sandbox (jail) could not freeze a thread of the library after " +
                        result.unfrozen_after +
                        ", so this thread may work between the phases, where nothing is measured; "
                        "no thread may stay in one system call for seconds");
}

// Adds a finding for a session in which the library crashed, with a C program that makes its calls.
void add_crash_finding(const script::Script& script, const SessionResult& result,
                       const std::string& end, judge::Findings& findings) {
  const CrashProgram program = crash_program(script, result, end);
  judge::Finding finding{.suite = {},
                         .name = "crashed",
                         .severity = Severity::kRequired,
                         .detail = end + (result.hang.empty() ? "" : "\n" + result.hang)};
  if (!program.text.empty()) {
    finding.witness = Json::Object{{"summary", end}, {"program", program.text}};
  } else if (!program.why_none.empty()) {
    finding.detail += "\n" + program.why_none;
  }
  findings.add(std::move(finding));
}

// Adds the finding for a session that a time limit ended. The text distinguishes slow libraries
// from hung ones, so that the author of a slow library does not search for a deadlock. The stacks
// show what the library's threads were doing.
void add_timeout_finding(const SessionResult& result, std::string text, judge::Findings& findings) {
  if (result.slow) text += ". The library must be faster: the stacks show where a call spends time";
  if (!result.hang.empty()) text += "\n" + result.hang;
  findings.required(result.slow ? "too_slow" : "hang", std::move(text));
}

// Adds a finding for a session that hung or whose process died, with the last calls of its threads.
void add_end_finding(const script::Script& script, const SessionResult& result,
                     judge::Findings& findings) {
  if (result.stage == Stage::kStarting) return;
  if (is_starved(result)) return;
  if (result.stop == StopReason::kDeadline || result.stop == StopReason::kLimit) {
    add_timeout_finding(result, result.detail, findings);
  }
  if (result.stop != StopReason::kClosed) return;
  RunVerdict end;
  if (!decide_by_limits(result, end)) end = decide_closed(result);
  if (end.name == "failed") return;
  if (end.name == "crashed") return add_crash_finding(script, result, end.reason, findings);
  if (end.name == "timed_out") return add_timeout_finding(result, end.reason, findings);
  findings.required(end.name, end.reason + (result.hang.empty() ? "" : "\n" + result.hang));
}

// Returns the verdict for findings that make the run fail. The reason is the first line of the
// first required finding, i.e. the first one that makes the run fail. The report's list of findings
// shows the other lines.
RunVerdict failed_by(const judge::Findings& findings) {
  for (const judge::Finding& finding : findings.list()) {
    if (finding.severity != Severity::kRequired) continue;
    return {"failed", finding.detail.substr(0, finding.detail.find('\n'))};
  }
  return {"failed", "a required check failed; the list of findings shows which"};
}

}  // namespace

std::string jail_level(const JailEnd& jail) {
  const std::string_view level = jail.text("level");
  return level == "full" || level == "weak" ? std::string(level) : "none";
}

judge::Ending ending_of(const SessionResult& result) {
  judge::Ending ending{.complete = result.stop == StopReason::kNone, .stop = {}};
  // `stop` stays empty for ends that a replay of a part of the session would not reproduce. For
  // example, a resource limit depends on more than the calls, and a part of a session cannot show
  // that the whole session was too slow.
  RunVerdict limit;
  if (result.stage != Stage::kPlaying || decide_by_limits(result, limit)) return ending;
  const std::string_view status = result.jail.text("status");
  const bool out_of_time = result.stop == StopReason::kDeadline && !is_starved(result);
  if (out_of_time && !result.slow) ending.stop = "hang";
  if (result.stop == StopReason::kException) ending.stop = "exception";
  if (result.stop == StopReason::kClosed && status == "signaled") {
    ending.stop = signal_name(result.jail.number("signal").value_or(0));
  }
  if (result.stop == StopReason::kClosed && status == "exited") {
    ending.stop = "exit code " + std::string(result.jail.text("exit_code"));
  }
  return ending;
}

void add_session_findings(const script::Script& script, const SessionResult& result,
                          judge::Findings& findings) {
  add_clock_findings(result, findings);
  add_account_findings(result, findings);
  add_freeze_findings(result, findings);
  if (result.stop == StopReason::kViolation) findings.required("protocol_violation", result.detail);
  if (result.stop == StopReason::kException) {
    findings.required("exception", result.detail + (result.hang.empty() ? "" : "\n" + result.hang));
  }
  if (result.stop == StopReason::kBadOutcome) findings.required("outcome_mismatch", result.detail);
  add_end_finding(script, result, findings);
  if (result.stop != StopReason::kLoadFailed) return;
  if (result.load_status == kLoadSymbolMissing) findings.required("missing_symbol", result.detail);
  if (result.load_status == kLoadNotOpened) {
    findings.required("not_loadable", not_opened_text(result));
  }
}

RunVerdict decide(const SessionResult& result, const judge::Findings& findings,
                  const std::string& required_level) {
  if (std::optional<RunVerdict> verdict = decide_by_jail(result, required_level)) return *verdict;
  RunVerdict verdict;
  if (is_starved(result) && findings.failed()) return failed_by(findings);
  if (decide_by_limits(result, verdict)) return verdict;
  if (result.stop != StopReason::kNone) return decide_stop(result);
  if (findings.failed()) return failed_by(findings);
  if (findings.not_judged_reason().empty()) return {"passed", ""};
  return {"infrastructure", "could not judge: " + findings.not_judged_reason()};
}

RunVerdict as_warning(RunVerdict verdict, judge::Findings& findings) {
  constexpr std::array<std::string_view, 4> kOfTheLibrary{"failed", "crashed", "timed_out",
                                                          "out_of_memory"};
  const bool not_judged = verdict.name == "infrastructure" && !findings.not_judged_reason().empty();
  const bool of_the_library = std::ranges::find(kOfTheLibrary, verdict.name) != kOfTheLibrary.end();
  if (!of_the_library && !not_judged) return verdict;
  const bool has_finding = findings.failed();
  findings.demote();
  if (!has_finding) findings.advisory(not_judged ? "not_judged" : verdict.name, verdict.reason);
  return {"passed", ""};
}

}  // namespace keydrome
