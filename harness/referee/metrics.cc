#include "harness/referee/metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/histogram.h"
#include "benchmarks/kit/totals.h"
#include "checker/calls.h"

namespace keydrome {
namespace {

constexpr double kNsPerSecond = 1e9;

// The last timed phase, which is the one that throughput is about; nothing when the session did not
// get to its end.
std::optional<size_t> main_phase(const Script& script, const RunFacts& facts) {
  std::optional<size_t> found;
  for (size_t i = 0; i < script.phases.size(); ++i) {
    if (script.phases[i].timed) found = i;
  }
  return found && *found < facts.phases.size() ? found : std::nullopt;
}

void add_times(const RunFacts& facts, const Totals& sums, Json& metrics) {
  uint64_t wall_ns = 0;
  uint64_t cpu_us = 0;
  double thread_ns = 0;
  bool cpu_known = true;
  for (const PhaseFacts& phase : facts.phases) {
    if (!phase.timed) continue;
    wall_ns += phase.wall_ns;
    thread_ns += static_cast<double>(phase.wall_ns) * phase.threads;
    cpu_us += phase.cpu_us.value_or(0);
    cpu_known = cpu_known && phase.cpu_us.has_value();
  }
  metrics["total_ms"] = static_cast<double>(wall_ns) / static_cast<double>(kNsPerMs);
  if (cpu_known) metrics["cpu_us"] = cpu_us;
  if (sums.calls > 0) metrics["ns_per_call"] = thread_ns / static_cast<double>(sums.calls);
}

struct CounterMetric {
  keydrome_jail_counter counter;
  const char* name;
  bool per_call;
};

constexpr CounterMetric kCounterMetrics[] = {
    {KEYDROME_JAIL_CYCLES, "cycles_per_call", true},
    {KEYDROME_JAIL_INSTRUCTIONS, "instructions_per_call", true},
    {KEYDROME_JAIL_CACHE_MISSES, "cache_misses_per_call", true},
    {KEYDROME_JAIL_BRANCH_MISSES, "branch_misses_per_call", true},
    {KEYDROME_JAIL_STALLED_FRONTEND, "stalled_frontend_per_call", true},
    {KEYDROME_JAIL_STALLED_BACKEND, "stalled_backend_per_call", true},
    {KEYDROME_JAIL_PAGE_FAULTS, "page_faults", false},
    {KEYDROME_JAIL_CONTEXT_SWITCHES, "context_switches", false},
    {KEYDROME_JAIL_MIGRATIONS, "migrations", false},
};

// What was counted in all timed phases together; absent where one of them lacks it.
std::optional<double> counted(const RunFacts& facts, keydrome_jail_counter counter) {
  double sum = 0;
  for (const PhaseFacts& phase : facts.phases) {
    if (!phase.timed) continue;
    if (!phase.counters[counter]) return std::nullopt;
    sum += static_cast<double>(*phase.counters[counter]);
  }
  return sum;
}

void add_counters(const RunFacts& facts, const Totals& sums, Json& metrics) {
  for (const auto& [counter, name, per_call] : kCounterMetrics) {
    const std::optional<double> sum = counted(facts, counter);
    if (!sum || (per_call && sums.calls == 0)) continue;
    metrics[name] = per_call ? *sum / static_cast<double>(sums.calls) : *sum;
  }
}

void add_counts(const Totals& sums, uint64_t main_wall_ns, Json& metrics) {
  metrics["transactions_planned"] = sums.transactions_planned;
  metrics["transactions_completed"] = sums.transactions_completed;
  metrics["transactions_failed"] = sums.transactions_failed;
  metrics["deadlocks"] = sums.deadlocks;
  metrics["calls"] = sums.calls;
  metrics["client_context_switches"] = static_cast<double>(sums.client_context_switches);
  if (main_wall_ns > 0 && sums.transactions_planned > 0) {
    metrics["throughput_tps"] = static_cast<double>(sums.completed_in_last_phase) * kNsPerSecond /
                                static_cast<double>(main_wall_ns);
  }
  if (sums.gets > 0) {
    metrics["hit_ratio"] = static_cast<double>(sums.get_hits) / static_cast<double>(sums.gets);
  }
  if (sums.records_start) metrics["records_start"] = *sums.records_start;
}

// Transactions that committed and were recorded, auto-committed calls included.
uint64_t recorded_transactions(const Outcome& outcome) {
  const auto commits = [](const Event& event) {
    if (!is_auto_commit(event)) return call_of(event) == EventCall::kCommit && succeeded(event);
    return event.code != DEADLOCK && event.code != TXN_DNE && event.code != FAILURE &&
           event.code != DB_DNE;
  };
  uint64_t count = 0;
  for (const PhaseOutcome& phase : outcome.phases) {
    for (const ThreadResult& thread : phase.threads) {
      count +=
          static_cast<uint64_t>(std::count_if(thread.events.begin(), thread.events.end(), commits));
    }
  }
  return count;
}

// What the jail held more after the last phase that changes something than before the first.
std::optional<uint64_t> filled_bytes(const Script& script, const RunFacts& facts) {
  std::optional<uint64_t> bytes;
  for (size_t i = 0; i < facts.phases.size(); ++i) {
    if (!script.phases[i].verifies) bytes = facts.phases[i].memory_bytes;
  }
  if (!bytes || !facts.memory_loaded_bytes || *bytes <= *facts.memory_loaded_bytes) return {};
  return *bytes - *facts.memory_loaded_bytes;
}

void add_memory(const Script& script, const RunFacts& facts, const Totals& sums, Json& metrics) {
  if (const auto peak = facts.jail.number("memory_peak_bytes"))
    metrics["memory_peak_bytes"] = *peak;
  if (!sums.records_end) return;
  metrics["records_end"] = *sums.records_end;
  const std::optional<uint64_t> bytes = filled_bytes(script, facts);
  if (bytes && *sums.records_end > 0) {
    metrics["bytes_per_record"] =
        static_cast<double>(*bytes) / static_cast<double>(*sums.records_end);
  }
}

Json latency_entry(const std::string& name, const std::vector<uint64_t>& counts) {
  uint64_t total = 0;
  Json buckets = Json::Array{};
  for (uint32_t b = 0; b < counts.size(); ++b) {
    if (counts[b] == 0) continue;
    total += counts[b];
    buckets.push_back(Json::Array{histogram_upper_bound_ns(b), counts[b]});
  }
  if (total == 0) return {};
  Json entry;
  entry["class"] = name;
  entry["count"] = total;
  entry["p50_ns"] = histogram_quantile_ns(counts, 0.5);
  entry["p90_ns"] = histogram_quantile_ns(counts, 0.9);
  entry["p99_ns"] = histogram_quantile_ns(counts, 0.99);
  entry["p999_ns"] = histogram_quantile_ns(counts, 0.999);
  entry["max_ns"] = histogram_quantile_ns(counts, 1.0);
  entry["buckets"] = std::move(buckets);
  return entry;
}

Json latency_of(const Script& script, const Totals& sums) {
  Json latency = Json::Array{};
  for (size_t c = 0; c < std::min<size_t>(script.class_names.size(), kTransactionClasses); ++c) {
    Json entry = latency_entry(script.class_names[c], sums.latency[c]);
    if (!entry.is_null()) latency.push_back(std::move(entry));
  }
  return latency;
}

Json throughput_of(const std::string& phase, const PhaseOutcome& outcome) {
  const Throughput windows = phase_throughput(outcome);
  Json committed = Json::Array{};
  for (const uint64_t count : windows.committed) committed.push_back(count);
  Json throughput;
  throughput["phase"] = phase;
  throughput["window_ns"] = std::min<uint64_t>(windows.window_ns, INT64_MAX);
  throughput["committed"] = std::move(committed);
  return throughput;
}

void add_own(const Script& script, const Workload& workload, const RunFacts& facts, Json& metrics) {
  std::vector<PhaseMeasures> phases;
  for (const PhaseFacts& phase : facts.phases) {
    phases.push_back({.wall_ns = phase.wall_ns, .memory_bytes = phase.memory_bytes});
  }
  Metrics own;
  workload.measure(script, facts.outcome, phases, own);
  for (const auto& [name, value] : own) {
    if (std::isfinite(value)) metrics[name] = value;
  }
}

}  // namespace

void add_metrics(const Script& script, const Workload* workload, const RunFacts& facts,
                 Json& report) {
  Json metrics = Json::Object{};
  Json latency = Json::Array{};
  const Totals sums = totals(script, facts.outcome);
  add_memory(script, facts, sums, metrics);
  if (const std::optional<size_t> phase = main_phase(script, facts)) {
    add_times(facts, sums, metrics);
    add_counts(sums, facts.phases[*phase].wall_ns, metrics);
    add_counters(facts, sums, metrics);
    latency = latency_of(script, sums);
    report["throughput"] = throughput_of(facts.phases[*phase].name, facts.outcome.phases[*phase]);
  }
  const uint64_t recorded = recorded_transactions(facts.outcome);
  if (recorded > 0) metrics["transactions_recorded"] = recorded;
  if (workload != nullptr && facts.stop == Stop::kNone) add_own(script, *workload, facts, metrics);
  report["metrics"] = std::move(metrics);
  report["latency"] = std::move(latency);
}

}  // namespace keydrome
