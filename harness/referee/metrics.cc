#include "harness/referee/metrics.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "benchmarks/kit/histogram.h"
#include "benchmarks/kit/program_walk.h"
#include "keydrome/index.h"

namespace keydrome {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerSecond = 1e9;
constexpr uint32_t kWindowShiftMax = 48;  // windows of three days: beyond this the player lies

// The last timed phase, if the session got to its end.
std::optional<size_t> main_phase(const Script& script, const RunFacts& facts) {
  std::optional<size_t> found;
  for (size_t i = 0; i < script.phases.size(); ++i) {
    if (script.phases[i].timed) found = i;
  }
  return found && *found < facts.phases.size() ? found : std::nullopt;
}

struct Totals {
  uint64_t committed = 0, aborted = 0, failed = 0, deadlocks = 0, calls = 0, gets = 0, hits = 0;
};

Totals totals_of(const PhaseOutcome& phase) {
  Totals totals;
  for (const ThreadResult& thread : phase.threads) {
    const ThreadOutcome& counters = *thread.counters;
    for (const uint64_t committed : counters.committed) totals.committed += committed;
    totals.aborted += counters.aborted;
    totals.failed += counters.failed;
    totals.deadlocks += counters.deadlocks;
    totals.calls += counters.calls;
    totals.gets += counters.gets;
    totals.hits += counters.get_hits;
  }
  return totals;
}

// Records that the phases before `end` insert, if they only insert and everything in them succeeded.
std::optional<uint64_t> records_before(const Script& script, const RunFacts& facts, size_t end) {
  uint64_t records = 0;
  bool only_inserts = true;
  for (size_t i = 0; i < end; ++i) {
    if (totals_of(facts.outcome.phases[i]).failed > 0) return std::nullopt;
    for (const std::vector<Op>& ops : script.phases[i].threads) {
      walk_program(ops, [&](const Step& step) {
        const OpCode code = ops[step.op].code;
        if (code == OpCode::kInsert) ++records;
        if (code == OpCode::kDeleteKey || code == OpCode::kDeletePair || code == OpCode::kAbort) {
          only_inserts = false;
        }
      });
    }
  }
  return only_inserts ? std::optional(records) : std::nullopt;
}

// Records that the verifying scan read.
std::optional<uint64_t> records_at_end(const Script& script, const RunFacts& facts) {
  std::optional<uint64_t> records;
  for (size_t i = 0; i < facts.outcome.phases.size(); ++i) {
    if (!script.phases[i].verifies) continue;
    uint64_t count = 0;
    for (size_t t = 0; t < facts.outcome.phases[i].threads.size(); ++t) {
      const std::vector<Op>& ops = script.phases[i].threads[t];
      TraceReader trace(facts.outcome.phases[i].threads[t].trace);
      for (Evidence evidence{}; trace.next(evidence);) {
        const bool scans = evidence.op < ops.size() && ops[evidence.op].code == OpCode::kNextToEnd;
        if (scans && evidence.code == SUCCESS) ++count;
      }
    }
    records = records.value_or(0) + count;
  }
  return records;
}

void add_times(const RunFacts& facts, Json& metrics) {
  uint64_t wall_ns = 0;
  uint64_t cpu_us = 0;
  bool cpu_known = true;
  bool timed = false;
  for (const PhaseFacts& phase : facts.phases) {
    if (!phase.timed) continue;
    timed = true;
    wall_ns += phase.wall_ns;
    cpu_us += phase.cpu_us.value_or(0);
    cpu_known = cpu_known && phase.cpu_us.has_value();
  }
  if (!timed) return;
  metrics["total_ms"] = static_cast<double>(wall_ns) / kNsPerMs;
  if (cpu_known) metrics["cpu_us"] = cpu_us;
}

void add_memory(const Script& script, const RunFacts& facts, Json& metrics) {
  if (const auto peak = facts.jail.number("memory_peak_bytes")) metrics["memory_peak_bytes"] = *peak;
  const std::optional<uint64_t> records = records_at_end(script, facts);
  if (!records) return;
  metrics["records_end"] = *records;
  std::optional<uint64_t> filled_bytes;  // after the last phase that changes something
  for (size_t i = 0; i < facts.phases.size(); ++i) {
    if (!script.phases[i].verifies) filled_bytes = facts.phases[i].memory_bytes;
  }
  if (filled_bytes && facts.memory_loaded_bytes && *filled_bytes > *facts.memory_loaded_bytes &&
      *records > 0) {
    metrics["bytes_per_record"] = static_cast<double>(*filled_bytes - *facts.memory_loaded_bytes) /
                                  static_cast<double>(*records);
  }
}

}  // namespace

Json metrics_of(const Script& script, const RunFacts& facts) {
  Json metrics = Json::Object{};
  add_memory(script, facts, metrics);
  const std::optional<size_t> phase = main_phase(script, facts);
  if (!phase) return metrics;
  add_times(facts, metrics);
  const Totals totals = totals_of(facts.outcome.phases[*phase]);
  const auto wall_ns = static_cast<double>(facts.phases[*phase].wall_ns);
  uint64_t planned = 0;
  for (const std::vector<Op>& ops : script.phases[*phase].threads) planned += count_transactions(ops);
  metrics["transactions_planned"] = planned;
  metrics["transactions_completed"] = totals.committed + totals.aborted;
  metrics["transactions_failed"] = totals.failed;
  metrics["deadlocks"] = totals.deadlocks;
  metrics["calls"] = totals.calls;
  if (wall_ns > 0) {
    metrics["throughput_tps"] = static_cast<double>(totals.committed) * kNsPerSecond / wall_ns;
  }
  if (totals.calls > 0) {
    metrics["ns_per_call"] = wall_ns * facts.phases[*phase].threads / static_cast<double>(totals.calls);
  }
  if (totals.gets > 0) {
    metrics["hit_ratio"] = static_cast<double>(totals.hits) / static_cast<double>(totals.gets);
  }
  if (const auto records = records_before(script, facts, *phase)) metrics["records_start"] = *records;
  return metrics;
}

Json latency_of(const Script& script, const RunFacts& facts) {
  Json latency = Json::Array{};
  const std::optional<size_t> phase = main_phase(script, facts);
  if (!phase) return latency;
  for (size_t number = 0; number < std::min<size_t>(script.class_names.size(), kTransactionClasses);
       ++number) {
    std::vector<uint64_t> counts(kHistogramBuckets);
    for (const ThreadResult& thread : facts.outcome.phases[*phase].threads) {
      for (uint32_t b = 0; b < kHistogramBuckets; ++b) {
        counts[b] += thread.counters->histogram[number][b];
      }
    }
    uint64_t total = 0;
    Json buckets = Json::Array{};
    for (uint32_t b = 0; b < kHistogramBuckets; ++b) {
      if (counts[b] == 0) continue;
      total += counts[b];
      buckets.push_back(Json::Array{histogram_upper_bound_ns(b), counts[b]});
    }
    if (total == 0) continue;
    Json entry;
    entry["class"] = script.class_names[number];
    entry["count"] = total;
    entry["p50_ns"] = histogram_quantile_ns(counts, 0.5);
    entry["p90_ns"] = histogram_quantile_ns(counts, 0.9);
    entry["p99_ns"] = histogram_quantile_ns(counts, 0.99);
    entry["p999_ns"] = histogram_quantile_ns(counts, 0.999);
    entry["max_ns"] = histogram_quantile_ns(counts, 1.0);
    entry["buckets"] = std::move(buckets);
    latency.push_back(std::move(entry));
  }
  return latency;
}

// Threads may have stopped widening their windows at different widths: all are brought to the widest.
Json throughput_of(const Script& script, const RunFacts& facts) {
  const std::optional<size_t> phase = main_phase(script, facts);
  if (!phase) return {};
  uint32_t shift = kWindowShiftMin;
  for (const ThreadResult& thread : facts.outcome.phases[*phase].threads) {
    shift = std::max(shift, std::min(thread.counters->window_shift, kWindowShiftMax));
  }
  std::array<uint64_t, kWindows> windows{};
  for (const ThreadResult& thread : facts.outcome.phases[*phase].threads) {
    const uint32_t merge = shift - std::min(thread.counters->window_shift, kWindowShiftMax);
    for (uint32_t w = 0; w < kWindows; ++w) {
      windows[merge < 32 ? w >> merge : 0] += thread.counters->windows[w];
    }
  }
  const uint64_t width_ns = uint64_t{1} << shift;
  const uint64_t used = facts.phases[*phase].wall_ns / width_ns + 1;
  Json committed = Json::Array{};
  for (uint32_t w = 0; w < std::min<uint64_t>(used, kWindows); ++w) committed.push_back(windows[w]);
  Json throughput;
  throughput["phase"] = facts.phases[*phase].name;
  throughput["window_ns"] = width_ns;
  throughput["committed"] = std::move(committed);
  return throughput;
}

}  // namespace keydrome
