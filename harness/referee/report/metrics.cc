// Implements add_metrics(): computes the metrics, latencies and throughput of a report from the
// result of a session (one repetition of a benchmark with one library). The library runs in a jail
// (sandbox), so its CPU time and memory are those of the jail.
#include "harness/referee/report/metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/script/histogram.h"
#include "checker/history/calls.h"
#include "harness/referee/session/setup.h"

namespace keydrome {

using history::Event;
using history::EventCall;

namespace {

constexpr double kNsPerSecond = 1e9;

// Returns the last timed phase, whose throughput is reported. Returns nothing if the session
// stopped before this phase ended.
std::optional<size_t> main_phase(const script::Script& script, const SessionResult& result) {
  std::optional<size_t> found;
  for (size_t i = 0; i < script.phases.size(); ++i) {
    if (script.phases[i].timed) found = i;
  }
  return found && *found < result.phases.size() ? found : std::nullopt;
}

void add_times(const SessionResult& result, const judge::Totals& sums, Json& metrics) {
  uint64_t wall_ns = 0;
  uint64_t cpu_us = 0;
  double thread_ns = 0;
  bool cpu_known = true;
  for (const PhaseResult& phase : result.phases) {
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

// Returns the sum of a counter over all timed phases, or nothing if a phase lacks the counter.
std::optional<double> counted(const SessionResult& result, keydrome_jail_counter counter) {
  double sum = 0;
  for (const PhaseResult& phase : result.phases) {
    if (!phase.timed) continue;
    if (!phase.counters[counter]) return std::nullopt;
    sum += static_cast<double>(*phase.counters[counter]);
  }
  return sum;
}

void add_counters(const SessionResult& result, const judge::Totals& sums, Json& metrics) {
  for (const auto& [counter, name, per_call] : kCounterMetrics) {
    const std::optional<double> sum = counted(result, counter);
    if (!sum || (per_call && sums.calls == 0)) continue;
    metrics[name] = per_call ? *sum / static_cast<double>(sums.calls) : *sum;
  }
}

void add_counts(const judge::Totals& sums, uint64_t main_wall_ns, Json& metrics) {
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

// Counts the committed transactions in the logs of calls. A call without a transaction
// (auto-commit) is a transaction of its own. It commits unless its code is one of the four codes
// that mean failure.
uint64_t recorded_transactions(const script::Outcome& outcome) {
  const auto commits = [](const Event& event) {
    if (!is_auto_commit(event)) return call_of(event) == EventCall::kCommit && succeeded(event);
    return event.code != DEADLOCK && event.code != TXN_DNE && event.code != FAILURE &&
           event.code != DB_DNE;
  };
  uint64_t count = 0;
  for (const script::PhaseOutcome& phase : outcome.phases) {
    for (const script::ThreadResult& thread : phase.threads) {
      count +=
          static_cast<uint64_t>(std::count_if(thread.events.begin(), thread.events.end(), commits));
    }
  }
  return count;
}

// Adds the memory that the library held at one moment. If the number of records is known, also adds
// the memory per record. `bytes` is the memory that was charged to the jail's cgroup at that
// moment. Adds nothing if `bytes` is unknown, or no larger than before the library was loaded.
void add_held_memory(const SessionResult& result, std::optional<uint64_t> bytes,
                     std::optional<uint64_t> records, const std::string& memory_name,
                     const std::string& per_record_name, Json& metrics) {
  const uint64_t held = growth(result.memory_before_loading_bytes, bytes).value_or(0);
  if (held == 0) return;
  metrics[memory_name] = held;
  if (records.value_or(0) > 0) {
    metrics[per_record_name] = static_cast<double>(held) / static_cast<double>(*records);
  }
}

void add_setup(const SessionResult& result, Json& metrics) {
  const Setup setup = setup_of(result);
  if (setup.cpu_us) metrics["setup_cpu_us"] = *setup.cpu_us;
  if (setup.memory_bytes) metrics["setup_bytes"] = *setup.memory_bytes;
}

// Adds two numbers about the library's own threads. library_threads is the largest number of them
// that lived at the beginning or at the end of a timed phase. library_cpu_us is their CPU time in
// all timed phases. Adds nothing if these numbers are unknown for a timed phase.
void add_library_threads(const SessionResult& result, Json& metrics) {
  uint32_t threads = 0;
  uint64_t cpu_us = 0;
  for (const PhaseResult& phase : result.phases) {
    if (!phase.timed) continue;
    if (!phase.threads_used) return;
    threads = std::max(threads, phase.threads_used->library_threads);
    cpu_us += phase.threads_used->library_us;
  }
  metrics["library_threads"] = threads;
  metrics["library_cpu_us"] = cpu_us;
}

// Adds the CPU time of the last phase if it scans all records to verify them. This phase is not
// timed, so the metric shows work that a library has put off until then.
void add_final_scan(const script::Script& script, const SessionResult& result, Json& metrics) {
  if (result.phases.empty() || result.phases.size() != script.phases.size()) return;
  const std::optional<uint64_t>& cpu_us = result.phases.back().cpu_us;
  if (script.phases.back().verifies && cpu_us) metrics["final_scan_cpu_us"] = *cpu_us;
}

void add_memory(const script::Script& script, const SessionResult& result,
                const judge::Totals& sums, Json& metrics) {
  if (const auto peak = result.jail.number("memory_peak_bytes"))
    metrics["memory_peak_bytes"] = *peak;
  std::optional<uint64_t> charge;
  // Memory before the last timed phase, and after the last phase that changes data.
  std::optional<uint64_t> at_start, at_end;
  for (size_t i = 0; i < result.phases.size(); ++i) {
    if (script.phases[i].timed) at_start = charge;
    charge = result.phases[i].memory_bytes;
    if (!script.phases[i].verifies) at_end = charge;
  }
  add_held_memory(result, at_start, sums.records_start, "memory_start_bytes",
                  "bytes_per_record_start", metrics);
  if (!sums.records_end) return;
  metrics["records_end"] = *sums.records_end;
  add_held_memory(result, at_end, sums.records_end, "memory_end_bytes", "bytes_per_record",
                  metrics);
}

Json latency_entry(const std::string& name, const std::vector<uint64_t>& counts) {
  uint64_t total = 0;
  Json buckets = Json::Array{};
  for (uint32_t b = 0; b < counts.size(); ++b) {
    if (counts[b] == 0) continue;
    total += counts[b];
    buckets.push_back(Json::Array{script::histogram_upper_bound_ns(b), counts[b]});
  }
  if (total == 0) return {};
  Json entry;
  entry["class"] = name;
  entry["count"] = total;
  entry["p50_ns"] = script::histogram_quantile_ns(counts, 0.5);
  entry["p90_ns"] = script::histogram_quantile_ns(counts, 0.9);
  entry["p99_ns"] = script::histogram_quantile_ns(counts, 0.99);
  entry["p999_ns"] = script::histogram_quantile_ns(counts, 0.999);
  entry["max_ns"] = script::histogram_quantile_ns(counts, 1.0);
  entry["buckets"] = std::move(buckets);
  return entry;
}

Json latency_of(const script::Script& script, const judge::Totals& sums) {
  Json latency = Json::Array{};
  for (size_t c = 0; c < std::min<size_t>(script.class_names.size(), format::kTransactionClasses);
       ++c) {
    Json entry = latency_entry(script.class_names[c], sums.latency[c]);
    if (!entry.is_null()) latency.push_back(std::move(entry));
  }
  return latency;
}

// Returns the throughput over time. A workload, the code of a benchmark, may compute its own.
// Otherwise the result is the throughput of the phase.
Json throughput_of(const script::Script& script, const workload::Workload* workload,
                   const SessionResult& result, std::size_t phase) {
  std::optional<judge::Throughput> own;
  if (workload != nullptr) own = workload->throughput(script, result.outcome);
  const judge::Throughput windows =
      own ? *own : judge::phase_throughput(result.outcome.phases[phase]);
  Json committed = Json::Array{};
  for (const uint64_t count : windows.committed) committed.push_back(count);
  Json throughput;
  throughput["phase"] = own ? "the run" : result.phases[phase].name;
  throughput["window_ns"] = std::min<uint64_t>(windows.window_ns, INT64_MAX);
  throughput["committed"] = std::move(committed);
  return throughput;
}

void add_own(const script::Script& script, const workload::Workload& workload,
             const SessionResult& result, Json& metrics) {
  workload::Metrics own;
  workload.measure(script, result.outcome, measures_of(result), own);
  for (const auto& [name, value] : own) {
    if (std::isfinite(value)) metrics[name] = value;
  }
}

}  // namespace

void add_metrics(const script::Script& script, const workload::Workload* workload,
                 const SessionResult& result, Json& report) {
  Json metrics = Json::Object{};
  Json latency = Json::Array{};
  const judge::Totals sums = judge::totals(script, result.outcome);
  add_memory(script, result, sums, metrics);
  if (const std::optional<size_t> phase = main_phase(script, result)) {
    add_times(result, sums, metrics);
    add_counts(sums, result.phases[*phase].wall_ns, metrics);
    add_counters(result, sums, metrics);
    add_setup(result, metrics);
    add_library_threads(result, metrics);
    add_final_scan(script, result, metrics);
    latency = latency_of(script, sums);
    report["throughput"] = throughput_of(script, workload, result, *phase);
  }
  const uint64_t recorded = recorded_transactions(result.outcome);
  if (recorded > 0) metrics["transactions_recorded"] = recorded;
  if (workload != nullptr && result.stop == StopReason::kNone)
    add_own(script, *workload, result, metrics);
  report["metrics"] = std::move(metrics);
  report["latency"] = std::move(latency);
}

}  // namespace keydrome
