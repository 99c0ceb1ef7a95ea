// Totals: the counts and latencies of a session (one repetition of a benchmark), which the report
// of the session shows. They are computed from the script (the operations) and the outcome (the
// results of the calls).
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

// The throughput of a phase: the number of transactions that committed in each time window since
// GO, the start of the phase. The windows have equal width. Auto-commit calls count as
// transactions.
struct Throughput {
  uint64_t window_ns = 0;
  std::vector<uint64_t> committed;
};

// The counts of a session. Each counter covers all threads.
struct Totals {
  // The explicit transactions of the workload itself (Kind::kStream) in timed phases: how many the
  // script contains, and how many ended as programmed. So a programmed abort counts as completed.
  // For the benchmark sigmod2009, which repeats the contest of 2009, transactions_planned is the
  // number of threads times the number of tests.
  uint64_t transactions_planned = 0;
  uint64_t transactions_completed = 0;
  uint64_t completed_in_last_phase = 0;  // transactions completed in the last timed phase
  // Failed transactions in all phases. Extra checks and auto-commit calls count, too.
  uint64_t transactions_failed = 0;
  uint64_t deadlocks = 0;                // calls that returned DEADLOCK in timed phases
  uint64_t calls = 0;                    // calls to the library in timed phases
  uint64_t client_context_switches = 0;  // of the calling threads in timed phases
  // The gets of the workload itself in timed phases, and those of them that found a record.
  uint64_t gets = 0, get_hits = 0;
  // The number of stored records before the last timed phase and at the end. The first number is
  // known only if no earlier phase contains a delete or a procedure (whose writes depend on its
  // reads). The second number is known only if a verify phase scanned every index.
  std::optional<uint64_t> records_start, records_end;
  // Commits and latencies of each transaction class in all timed phases.
  std::array<uint64_t, format::kTransactionClasses> committed{};
  std::array<std::vector<uint64_t>, format::kTransactionClasses> latency;  // kHistogramBuckets each
};

// Computes the totals of a session.
Totals totals(const script::Script& script, const script::Outcome& outcome);

// Returns the throughput windows of one thread, merged to a width of 2^shift ns. REQUIRES: `shift`
// is at least the thread's own window_shift.
std::vector<uint64_t> thread_windows(const script::ThreadTotals& totals, uint32_t shift);

// Returns the sum of the windows of all threads of a phase. Narrower windows are merged to the
// width of the widest windows first.
Throughput phase_throughput(const script::PhaseOutcome& outcome);

}  // namespace keydrome::judge
