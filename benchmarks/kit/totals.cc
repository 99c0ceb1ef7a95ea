#include "benchmarks/kit/totals.h"

#include <algorithm>

#include "benchmarks/kit/evidence.h"

namespace keydrome {
namespace {

void add_counters(const ThreadOutcome& counters, Totals& sum) {
  sum.deadlocks += counters.deadlocks;
  sum.client_context_switches += counters.context_switches;
  sum.calls += counters.calls;
  sum.gets += counters.gets;
  sum.get_hits += counters.get_hits;
  for (std::size_t c = 0; c < kTransactionClasses; ++c) {
    sum.committed[c] += counters.committed[c];
    for (std::size_t b = 0; b < kHistogramBuckets; ++b)
      sum.latency[c][b] += counters.histogram[c][b];
  }
}

void add_transactions(std::span<const Op> ops, const ThreadResult& result, Totals& sum) {
  walk_program(ops, [&](const Step& step) {
    if (ops[step.op].code != OpCode::kBegin || step.kind != Kind::kStream) return;
    ++sum.transactions_planned;
    if (ended_as_programmed(result, step.transaction)) ++sum.transactions_completed;
  });
}

// How many records the phases before `end` left, when they only inserted.
std::optional<uint64_t> records_before(const Script& script, const Outcome& outcome,
                                       std::size_t end) {
  uint64_t records = 0;
  bool known = true;
  for (std::size_t p = 0; p < end; ++p) {
    for (std::size_t t = 0; t < script.phases[p].threads.size(); ++t) {
      const std::vector<Op>& ops = script.phases[p].threads[t];
      const ThreadResult& result = outcome.phases[p].threads[t];
      walk_program(ops, [&](const Step& step) {
        const OpCode code = ops[step.op].code;
        if (code == OpCode::kDeleteKey || code == OpCode::kDeletePair ||
            code == OpCode::kDeleteRead || code == OpCode::kRun) {
          known = false;
        }
        if (code == OpCode::kInsert && result.ends[step.transaction] == TransactionEnd::kCommitted)
          ++records;
      });
    }
  }
  return known ? std::optional(records) : std::nullopt;
}

uint64_t records_read(const PhaseScript& phase, const PhaseOutcome& outcome) {
  uint64_t records = 0;
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    for_each_evidence(phase.threads[t], outcome.threads[t],
                      [&](const Step&, std::span<const Evidence> evidence) {
                        records += static_cast<uint64_t>(
                            std::count_if(evidence.begin(), evidence.end(),
                                          [](const Evidence& e) { return e.code == SUCCESS; }));
                      });
  }
  return records;
}

}  // namespace

Totals totals(const Script& script, const Outcome& outcome) {
  Totals sum;
  for (std::vector<uint64_t>& histogram : sum.latency) histogram.assign(kHistogramBuckets, 0);
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const PhaseScript& phase = script.phases[p];
    const PhaseOutcome& results = outcome.phases[p];
    const uint64_t completed_before = sum.transactions_completed;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      sum.transactions_failed += results.threads[t].counters->failed;
      if (!phase.timed) continue;
      add_counters(*results.threads[t].counters, sum);
      add_transactions(phase.threads[t], results.threads[t], sum);
    }
    if (phase.timed) {
      sum.completed_in_last_phase = sum.transactions_completed - completed_before;
      sum.records_start = records_before(script, outcome, p);
    }
    if (phase.verifies) sum.records_end = records_read(phase, results);
  }
  return sum;
}

std::vector<uint64_t> thread_windows(const ThreadOutcome& counters, uint32_t shift) {
  std::vector<uint64_t> windows(kWindows);
  const uint32_t merge = shift - counters.window_shift;
  for (std::size_t i = 0; i < kWindows; ++i) {
    windows[merge < 32 ? i >> merge : 0] += counters.windows[i];
  }
  return windows;
}

Throughput phase_throughput(const PhaseOutcome& outcome) {
  uint32_t shift = kWindowShiftMin;
  for (const ThreadResult& thread : outcome.threads)
    shift = std::max(shift, thread.counters->window_shift);
  Throughput throughput{.window_ns = uint64_t{1} << shift,
                        .committed = std::vector<uint64_t>(kWindows)};
  for (const ThreadResult& thread : outcome.threads) {
    const std::vector<uint64_t> windows = thread_windows(*thread.counters, shift);
    for (std::size_t i = 0; i < kWindows; ++i) throughput.committed[i] += windows[i];
  }
  while (!throughput.committed.empty() && throughput.committed.back() == 0)
    throughput.committed.pop_back();
  return throughput;
}

}  // namespace keydrome
