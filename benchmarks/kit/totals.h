// Totals: the numbers of a session that are shown, from script and outcome.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// Throughput of a phase: committed transactions and auto-commit calls in windows of equal width
// since GO.
struct Throughput {
  uint64_t window_ns = 0;
  std::vector<uint64_t> committed;
};

struct Totals {
  // The workload's own explicit transactions (Kind::kStream) in timed phases; one that is
  // programmed to abort is completed by that. For sigmod2009 it is what the contest counted:
  // threads x tests.
  uint64_t transactions_planned = 0;
  uint64_t transactions_completed = 0;
  uint64_t completed_in_last_phase = 0;  // of them, in the last timed phase
  // Whatever failed in any phase, checks and auto-commit calls included.
  uint64_t transactions_failed = 0;
  uint64_t deadlocks = 0;                // DEADLOCK answers in timed phases
  uint64_t calls = 0;                    // API calls in timed phases
  uint64_t client_context_switches = 0;  // of the threads that made them
  uint64_t gets = 0, get_hits = 0;
  // Records before the last timed phase and at the end; the first only when nothing was deleted
  // until then, the second only when a verify phase read every index.
  std::optional<uint64_t> records_start, records_end;
  // Per transaction class, over all timed phases.
  std::array<uint64_t, kTransactionClasses> committed{};
  std::array<std::vector<uint64_t>, kTransactionClasses> latency;  // kHistogramBuckets each
};

Totals totals(const Script& script, const Outcome& outcome);

// A thread's windows, brought to the width 2^shift ns, which is not less than its own.
std::vector<uint64_t> thread_windows(const ThreadOutcome& counters, uint32_t shift);

// Sums the windows of a phase's threads, all brought to the widest width among them.
Throughput phase_throughput(const PhaseOutcome& outcome);

}  // namespace keydrome
