// Implements history_judge.h: joins the events (recorded calls) of phases into histories, lets the
// checker search for a serial order of each history, and turns violations into findings of the
// report.
#include "benchmarks/kit/judge/recorded/history_judge.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "benchmarks/kit/script/word_events.h"
#include "checker/certify/certify.h"
#include "checker/history/calls.h"
#include "checker/witness/witness.h"

namespace keydrome::judge {

using certify::Certification;
using certify::Verdict;
using certify::Violation;
using history::Event;
using history::EventCall;
using history::History;
using history::UnknownKey;

namespace {

constexpr uint64_t kCalibrationTicks = 1'000'000'000;
constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kViolationsMax = 5;  // with this many findings, no further history is judged

bool has_events(const script::PhaseOutcome& phase) {
  return phase.events != script::EventSource::kNone;
}

// Appends the events of a phase to the history, thread by thread.
void append_phase(const script::PhaseOutcome& phase, History& history) {
  history.threads.resize(std::max(history.threads.size(), phase.threads.size()));
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    const script::ThreadResult& thread = phase.threads[t];
    std::vector<Event>& to = history.threads[t];
    to.insert(to.end(), thread.events.begin(), thread.events.end());
    history.timestamp_slack =
        std::max<uint64_t>(history.timestamp_slack, thread.reported->timestamp_slack);
    if (thread.reported->events_full != 0)
      history.truncated_threads.push_back(static_cast<uint32_t>(t));
  }
}

// Sets the keys of events that have only a payload. Each gets the key of the insert with the same
// payload. If there is no such insert, the key stays 0. `phases` are those of the history.
void resolve_keys(std::span<const script::PhaseOutcome> phases, History& history) {
  std::unordered_map<uint64_t, uint64_t> keys;
  for (const std::vector<Event>& events : history.threads) {
    for (const Event& event : events) {
      if (call_of(event) == EventCall::kInsert) keys.emplace(event.payload, event.key);
    }
  }
  std::vector<std::size_t> first(history.threads.size());  // by thread: the phase's first event
  for (const script::PhaseOutcome& phase : phases) {
    if (phase.events != script::EventSource::kWords) continue;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      for (const uint32_t position : phase.threads[t].unresolved) {
        Event& event = history.threads[t][first[t] + position];
        const auto found = keys.find(event.payload);
        if (found != keys.end()) event.key = found->second;
      }
      first[t] += phase.threads[t].events.size();
    }
  }
}

// Appends to `keys` the string keys that a phase uses. The history needs these keys, because a log
// contains only hashes.
void collect_keys(const script::Script& script, const script::PhaseScript& phase,
                  std::vector<std::string>& keys) {
  bool computes = false;
  for (const std::vector<format::Op>& ops : phase.threads) {
    std::array<KeyType, format::kSlots> types{};
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) types[op.slot] = script.indexes[op.argument].type;
      const bool has_key = op.code == format::OpCode::kGet || op.code == format::OpCode::kInsert ||
                           op.code == format::OpCode::kDeleteKey ||
                           op.code == format::OpCode::kDeletePair;
      if (has_key && types[op.slot] == VARCHAR)
        keys.emplace_back(script.pools.varchar_keys[op.key]);
      computes = computes || op.code == format::OpCode::kRun;
    }
  }
  // A procedure computes its keys, so it may use any string key of the pool.
  const script::Strings& all = script.pools.varchar_keys;
  if (!computes) return;
  for (const std::string_view key : all) keys.emplace_back(key);
}

// Returns true if the phase opens only indexes that it creates, so that no earlier phase affects
// its results.
bool starts_new_history(const script::PhaseScript& phase) {
  std::set<uint32_t> created, opened;
  for (const std::vector<format::Op>& ops : phase.threads) {
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kCreate) created.insert(op.argument);
      if (op.code == format::OpCode::kOpen) opened.insert(op.argument);
    }
  }
  return std::includes(created.begin(), created.end(), opened.begin(), opened.end());
}

// Returns the history of the recorded phases in [first, end).
History history_of(const script::Script& script, const script::Outcome& outcome, std::size_t first,
                   std::size_t end) {
  History history;
  for (const script::IndexSpec& index : script.indexes) {
    history.indexes.push_back({.type = index.type, .name = index.name});
  }
  // Stop after a phase in which a log became full, because later reads could refer to writes that
  // are missing from the log.
  for (std::size_t p = first; p < end && history.truncated_threads.empty(); ++p) {
    if (!has_events(outcome.phases[p])) continue;
    collect_keys(script, script.phases[p], history.varchar_keys);
    append_phase(outcome.phases[p], history);
    if (outcome.phases[p].events == script::EventSource::kWords) {
      // The events come from words, the player's 8-byte reports of calls. Words have no times
      // inside transactions, so the checker must not use the times of calls in a transaction.
      history.timestamp_slack = UINT64_MAX;
    }
  }
  resolve_keys(std::span(outcome.phases).subspan(first, end - first), history);
  std::vector<std::string>& keys = history.varchar_keys;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return history;
}

bool has_no_verdict(Verdict verdict) {
  return verdict == Verdict::kCouldNotJudge || verdict == Verdict::kUndecided;
}

// Returns true if the log shows an insert into a string index under a key that is no string of the
// script. The program contains no such insert, and the log has been checked against the program
// (log_judge.h). So the insert went to another index. A recording identifies an index only by its
// handle. Therefore the library must have returned the same handle for both indexes, which have
// different types.
bool shares_handles(const History& history) {
  return std::any_of(history.unknown_arguments.begin(), history.unknown_arguments.end(),
                     [&](const UnknownKey& at) {
                       const Event& event = history.threads[at.thread][at.position];
                       return call_of(event) == EventCall::kInsert;
                     });
}

// Certifies one history: lets the checker prove that a serial order gives all results. Returns
// false if the remaining histories of the run need not be judged.
bool judge_history(History history, bool strict, Findings& findings) {
  const Result<void> ranked = rank_varchar_keys(history);
  if (!ranked) {
    findings.not_judged(ranked.error().message);
    return false;
  }
  if (shares_handles(history)) {
    findings.required("shared_handle",
                      "openIndex returned the same handle for indexes of different types, so the "
                      "library cannot know which index a call means: return a different handle for "
                      "each index");
    return false;
  }
  const Certification result = certify::certify(history, {.strict = strict});
  for (const Violation& violation : result.violations) {
    if (findings.count(violation.name) > 0) continue;  // one proof for each name is enough
    findings.add({.suite = "",
                  .name = violation.name,
                  .severity = violation.severity,
                  .detail = violation.detail,
                  .witness = witness::witness_json(history, violation)});
  }
  if (has_no_verdict(result.verdict)) {
    findings.not_judged(result.reason);
  } else if (result.verdict == Verdict::kViolation && has_no_verdict(result.without_real_time)) {
    // A board (ranking) that accepts stale reads (reads of old data) must know that the other rules
    // were not judged.
    findings.required(
        "could_not_judge",
        "it is unknown whether all violations are only stale reads (reads of old data): " +
            result.reason + ". First correct the violations that the other findings show");
  }
  return findings.list().size() < kViolationsMax;
}

}  // namespace

uint64_t ticks_per_s() {
  static const uint64_t rate = [] {
    const TickClock& clock = script::referee_clock();
    return static_cast<uint64_t>(static_cast<double>(kCalibrationTicks) * kNsPerSecond /
                                 static_cast<double>(clock.to_ns(kCalibrationTicks)));
  }();
  return rate;
}

void for_each_history(const script::Script& script, const script::Outcome& outcome,
                      const std::function<bool(const std::string& name, History history)>& visit) {
  if (std::none_of(outcome.phases.begin(), outcome.phases.end(), has_events)) return;
  const bool words = outcome.phases.front().events == script::EventSource::kWords;
  const uint64_t rate = words ? ticks_per_s() >> script::kTimeShift : ticks_per_s();
  std::size_t first = 0;
  for (std::size_t end = 1; end <= outcome.phases.size(); ++end) {
    if (end < outcome.phases.size() && !starts_new_history(script.phases[end])) continue;
    History history = history_of(script, outcome, first, end);
    history.ticks_per_s = rate;
    if (!visit(script.phases[first].name, std::move(history))) return;
    first = end;
  }
}

void judge_recorded(const script::Script& script, const script::Outcome& outcome, bool strict,
                    Findings& findings) {
  for_each_history(script, outcome, [&](const std::string&, History history) {
    return judge_history(std::move(history), strict, findings);
  });
}

}  // namespace keydrome::judge
