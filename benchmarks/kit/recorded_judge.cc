#include "benchmarks/kit/recorded_judge.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "checker/calls.h"
#include "checker/certify.h"
#include "checker/witness.h"

namespace keydrome {
namespace {

constexpr uint64_t kCalibrationTicks = 1'000'000'000;
constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kViolationsMax = 5;  // shown of one run

bool is_recorded(const Script& script) {
  return std::any_of(script.phases.begin(), script.phases.end(),
                     [](const PhaseScript& phase) { return !phase.log_capacity.empty(); });
}

void append_phase(const PhaseOutcome& phase, History& history) {
  history.threads.resize(std::max(history.threads.size(), phase.threads.size()));
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    const ThreadResult& thread = phase.threads[t];
    std::vector<Event>& to = history.threads[t];
    to.insert(to.end(), thread.events.begin(), thread.events.end());
    history.stamp_slack = std::max<uint64_t>(history.stamp_slack, thread.counters->stamp_slack);
    if (thread.counters->events_full != 0) history.cut_threads.push_back(static_cast<uint32_t>(t));
  }
}

// The varchar keys that a phase's calls name.
void collect_keys(const Script& script, const PhaseScript& phase, std::vector<std::string>& keys) {
  bool computes = false;
  for (const std::vector<Op>& ops : phase.threads) {
    std::array<KeyType, kSlots> types{};
    for (const Op& op : ops) {
      if (op.code == OpCode::kOpen) types[op.slot] = script.indexes[op.argument].type;
      const bool has_key = op.code == OpCode::kGet || op.code == OpCode::kInsert ||
                           op.code == OpCode::kDeleteKey || op.code == OpCode::kDeletePair;
      if (has_key && types[op.slot] == VARCHAR)
        keys.emplace_back(script.pools.varchar_keys[op.key]);
      computes = computes || op.code == OpCode::kRun;
    }
  }
  // A procedure may name any of them.
  const Strings& all = script.pools.varchar_keys;
  if (!computes) return;
  for (const std::string_view key : all) keys.emplace_back(key);
}

// Whether the phase opens only indexes that it creates: then nothing before it matters to it.
bool begins_anew(const PhaseScript& phase) {
  std::set<uint32_t> created, opened;
  for (const std::vector<Op>& ops : phase.threads) {
    for (const Op& op : ops) {
      if (op.code == OpCode::kCreate) created.insert(op.argument);
      if (op.code == OpCode::kOpen) opened.insert(op.argument);
    }
  }
  return std::includes(created.begin(), created.end(), opened.begin(), opened.end());
}

// The history of the recorded phases in [first, end).
History history_of(const Script& script, const Outcome& outcome, std::size_t first,
                   std::size_t end) {
  History history;
  for (const IndexSpec& index : script.indexes) {
    history.indexes.push_back({.type = index.type, .name = index.name});
  }
  // A thread whose log was full ends the history: what came later hangs in the air.
  for (std::size_t p = first; p < end && history.cut_threads.empty(); ++p) {
    if (script.phases[p].log_capacity.empty()) continue;
    collect_keys(script, script.phases[p], history.varchar_keys);
    append_phase(outcome.phases[p], history);
  }
  std::vector<std::string>& keys = history.varchar_keys;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return history;
}

bool has_no_verdict(Verdict verdict) {
  return verdict == Verdict::kCouldNotJudge || verdict == Verdict::kUndecided;
}

// Whether something was inserted under a key that is none of its index's. The log fits the program
// (log_judge.h), and the recorder knows an index by its handle: only so can that be.
bool shares_handles(const History& history) {
  return std::any_of(history.unknown_arguments.begin(), history.unknown_arguments.end(),
                     [&](const UnknownKey& at) {
                       const Event& event = history.threads[at.thread][at.position];
                       return call_of(event) == EventCall::kInsert;
                     });
}

// Certifies one history, whose keys are fingerprints. False when there is nothing more to say about
// the run.
bool judge_history(History history, bool strict, Findings& findings) {
  const Result<void> ranked = rank_varchar_keys(history);
  if (!ranked) {
    findings.not_judged(ranked.error().message);
    return false;
  }
  if (shares_handles(history)) {
    findings.required("shared_handle",
                      "openIndex gave one handle for indexes of different types, so no call can "
                      "tell which of them is meant");
    return false;
  }
  const Certification result = certify(history, {.strict = strict});
  for (const Violation& violation : result.violations) {
    if (findings.count(violation.name) > 0) continue;  // one witness of each kind is enough
    findings.add({.suite = "",
                  .name = violation.name,
                  .severity = violation.severity,
                  .detail = violation.detail,
                  .witness = witness_json(history, violation)});
  }
  if (has_no_verdict(result.verdict)) {
    findings.not_judged(result.reason);
  } else if (result.verdict == Verdict::kViolation && has_no_verdict(result.without_real_time)) {
    // Whoever forgives stale reads must know that nothing is known of the rest.
    findings.required("could_not_judge", "stale reads apart: " + result.reason);
  }
  return findings.list().size() < kViolationsMax;
}

}  // namespace

uint64_t ticks_per_s() {
  static const uint64_t rate = [] {
    const TickClock clock;
    return static_cast<uint64_t>(static_cast<double>(kCalibrationTicks) * kNsPerSecond /
                                 static_cast<double>(clock.to_ns(kCalibrationTicks)));
  }();
  return rate;
}

void for_each_history(const Script& script, const Outcome& outcome,
                      const std::function<bool(const std::string& name, History history)>& visit) {
  if (!is_recorded(script)) return;
  const uint64_t rate = ticks_per_s();
  std::size_t first = 0;
  for (std::size_t end = 1; end <= outcome.phases.size(); ++end) {
    if (end < outcome.phases.size() && !begins_anew(script.phases[end])) continue;
    History history = history_of(script, outcome, first, end);
    history.ticks_per_s = rate;
    if (!visit(script.phases[first].name, std::move(history))) return;
    first = end;
  }
}

void judge_recorded(const Script& script, const Outcome& outcome, bool strict, Findings& findings) {
  for_each_history(script, outcome, [&](const std::string&, History history) {
    return judge_history(std::move(history), strict, findings);
  });
}

}  // namespace keydrome
