// Implements totals.h: adds up the totals of all threads, and counts transactions and records by
// following the programs.
#include "benchmarks/kit/judge/totals.h"

#include <algorithm>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/words.h"

namespace keydrome::judge {
namespace {

void add_thread(const script::ThreadResult& thread, Totals& sum) {
  const script::ThreadTotals& totals = thread.totals;
  sum.deadlocks += thread.reported->deadlocks;
  sum.client_context_switches += thread.reported->context_switches;
  sum.calls += totals.calls;
  sum.gets += totals.gets;
  sum.get_hits += totals.get_hits;
  for (std::size_t c = 0; c < format::kTransactionClasses; ++c) {
    sum.committed[c] += totals.committed[c];
    for (std::size_t b = 0; b < totals.latency[c].size(); ++b)
      sum.latency[c][b] += totals.latency[c][b];
  }
}

void add_transactions(std::span<const format::Op> ops, const script::ThreadResult& result,
                      Totals& sum) {
  format::walk_program(ops, [&](const format::Step& step) {
    if (ops[step.op].code != format::OpCode::kBegin || step.kind != format::Kind::kStream) return;
    ++sum.transactions_planned;
    if (ended_as_programmed(result, step.transaction)) ++sum.transactions_completed;
  });
}

// Counts the gets that belong to the workload (kStream), and how many of them found a record.
void add_gets(std::span<const format::Op> ops, const script::ThreadResult& result, Totals& sum) {
  for_each_words(
      ops, result,
      [&](const format::Step& step, std::span<const uint64_t> words,
          std::span<const uint64_t> /*rest*/) -> uint64_t {
        if (ops[step.op].code == format::OpCode::kGet && step.kind == format::Kind::kStream) {
          ++sum.gets;
          if (format::code_of_word(words[0]) == SUCCESS) ++sum.get_hits;
        }
        return 0;
      });
}

// Returns how many records are stored when phase `end` starts. Returns nothing if an earlier phase
// contains deletes, or procedures (which compute their writes from reads), because their effect on
// the number is unknown.
std::optional<uint64_t> records_before(const script::Script& script, const script::Outcome& outcome,
                                       std::size_t end) {
  uint64_t records = 0;
  bool known = true;
  for (std::size_t p = 0; p < end; ++p) {
    for (std::size_t t = 0; t < script.phases[p].threads.size(); ++t) {
      const std::vector<format::Op>& ops = script.phases[p].threads[t];
      const script::ThreadResult& result = outcome.phases[p].threads[t];
      format::walk_program(ops, [&](const format::Step& step) {
        const format::OpCode code = ops[step.op].code;
        if (code == format::OpCode::kDeleteKey || code == format::OpCode::kDeletePair ||
            code == format::OpCode::kDeleteRead || code == format::OpCode::kRun) {
          known = false;
        }
        if (code == format::OpCode::kInsert &&
            result.ends[step.transaction] == script::TransactionEnd::kCommitted)
          ++records;
      });
    }
  }
  return known ? std::optional(records) : std::nullopt;
}

// Returns how many records the final scan, which reads all records, returned. Its trace is the list
// of its results, and every SUCCESS in the trace is one record.
uint64_t records_read(const script::PhaseOutcome& outcome) {
  uint64_t records = 0;
  for (const script::ThreadResult& thread : outcome.threads) {
    records += thread.trace.inserted.size();
    script::TraceReader trace(thread.trace.bytes);
    for (script::Evidence record; trace.next(record);) records += record.code == SUCCESS ? 1 : 0;
  }
  return records;
}

}  // namespace

Totals totals(const script::Script& script, const script::Outcome& outcome) {
  Totals sum;
  for (std::vector<uint64_t>& histogram : sum.latency)
    histogram.assign(script::kHistogramBuckets, 0);
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const script::PhaseScript& phase = script.phases[p];
    const script::PhaseOutcome& results = outcome.phases[p];
    const uint64_t completed_before = sum.transactions_completed;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      sum.transactions_failed += results.threads[t].totals.failed;
      if (!phase.timed) continue;
      add_thread(results.threads[t], sum);
      add_transactions(phase.threads[t], results.threads[t], sum);
      add_gets(phase.threads[t], results.threads[t], sum);
    }
    if (phase.timed) {
      sum.completed_in_last_phase = sum.transactions_completed - completed_before;
      sum.records_start = records_before(script, outcome, p);
    }
    if (phase.verifies) sum.records_end = records_read(results);
  }
  return sum;
}

std::vector<uint64_t> thread_windows(const script::ThreadTotals& totals, uint32_t shift) {
  std::vector<uint64_t> windows(script::kWindows);
  const uint32_t merge = shift - totals.window_shift;
  for (std::size_t i = 0; i < script::kWindows; ++i) {
    windows[merge < 32 ? i >> merge : 0] += totals.windows[i];
  }
  return windows;
}

Throughput phase_throughput(const script::PhaseOutcome& outcome) {
  uint32_t shift = script::kWindowShiftMin;
  for (const script::ThreadResult& thread : outcome.threads)
    shift = std::max(shift, thread.totals.window_shift);
  Throughput throughput{.window_ns = uint64_t{1} << shift,
                        .committed = std::vector<uint64_t>(script::kWindows)};
  for (const script::ThreadResult& thread : outcome.threads) {
    const std::vector<uint64_t> windows = thread_windows(thread.totals, shift);
    for (std::size_t i = 0; i < script::kWindows; ++i) throughput.committed[i] += windows[i];
  }
  while (!throughput.committed.empty() && throughput.committed.back() == 0)
    throughput.committed.pop_back();
  return throughput;
}

}  // namespace keydrome::judge
