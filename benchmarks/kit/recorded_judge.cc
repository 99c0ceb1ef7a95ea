#include "benchmarks/kit/recorded_judge.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "checker/certify.h"
#include "checker/witness.h"

namespace keydrome {
namespace {

constexpr uint64_t kCalibrationTicks = 1'000'000'000;

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

}  // namespace

double ticks_per_us() {
  const TickClock clock;
  return static_cast<double>(kCalibrationTicks) * 1000.0 /
         static_cast<double>(clock.to_ns(kCalibrationTicks));
}

Result<History> recorded_history(const Script& script, const Outcome& outcome) {
  History history;
  for (const IndexSpec& index : script.indexes) {
    history.indexes.push_back({.type = index.type, .name = index.name});
  }
  history.varchar_keys = script.pools.varchar_keys;
  std::sort(history.varchar_keys.begin(), history.varchar_keys.end());
  history.varchar_keys.erase(std::unique(history.varchar_keys.begin(), history.varchar_keys.end()),
                             history.varchar_keys.end());
  // A thread whose log was full ends the history: what came later hangs in the air.
  for (std::size_t p = 0; p < outcome.phases.size() && history.cut_threads.empty(); ++p) {
    if (!script.phases[p].log_capacity.empty()) append_phase(outcome.phases[p], history);
  }
  const Result<void> ranked = rank_varchar_keys(history);
  if (!ranked) return ranked.error();
  return history;
}

void judge_recorded(const Script& script, const Outcome& outcome, bool strict, Findings& findings) {
  if (!is_recorded(script)) return;
  const Result<History> history = recorded_history(script, outcome);
  if (!history) return findings.not_judged(history.error().message);
  const Certification result = certify(*history, {.strict = strict});
  const double rate = ticks_per_us();
  for (const Violation& violation : result.violations) {
    Json witness = witness_json(*history, violation, rate);
    findings.add({.suite = "",
                  .name = violation.name,
                  .severity = violation.severity,
                  .detail = violation.detail,
                  .witness = std::move(witness)});
  }
  if (result.verdict == Verdict::kCouldNotJudge || result.verdict == Verdict::kUndecided) {
    findings.not_judged(result.reason);
  }
}

}  // namespace keydrome
