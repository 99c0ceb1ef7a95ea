// ThreadTotals: the counts, latencies and throughput of one thread in one phase. The referee, which
// judges the run, computes them when it replays the thread's program with the results that the
// thread reported (word_follower.h).
//
// Thread safety: ThreadTotals is plain data, and only one thread may use a Timings object.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/script/histogram.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// How a transaction ended.
enum class TransactionEnd : uint8_t {
  kNotRun = 0,
  kCommitted,
  kAborted,
  kFailed,
  kDeadlocked,  // did not commit, which kOneAttempt or kAnyCode permitted (format/program.h)
};

// Throughput over time: committed transactions are counted in windows of equal width, initially
// 2^14 ns. When the phase outgrows the array, every pair of adjacent windows is merged and the
// width doubles. So a phase of more than 2.1 ms fills between 128 and 256 windows.
inline constexpr uint32_t kWindows = 256;
inline constexpr uint32_t kWindowShiftMin = 14;

struct ThreadTotals {
  // Transactions by how they ended. Auto-commit ops (operations) are transactions too.
  std::array<uint64_t, format::kTransactionClasses> committed{};
  uint64_t aborted = 0, failed = 0, deadlocked = 0;
  // Transactions with known times that committed after the scheduled end of the phase, by class.
  std::array<uint64_t, format::kTransactionClasses> late{};
  // Calls to the library. Does not contain the calls of a failed attempt whose words later words
  // have overwritten (format/control_word.h).
  uint64_t calls = 0;
  // Gets that kRun ops (procedures) make in transactions of the workload itself, and how many of
  // them found a record.
  uint64_t gets = 0, get_hits = 0;
  // Latencies by transaction class: kHistogramBuckets counts, or none.
  std::array<std::vector<uint32_t>, format::kTransactionClasses> latency;
  uint32_t window_shift = kWindowShiftMin;  // a window is 2^window_shift ns wide
  std::array<uint64_t, kWindows> windows{};
  // Commits with known times before the scheduled end of the phase, in windows of the width that
  // the schedule asks for. Empty if it asks for none.
  std::vector<uint64_t> scheduled;
};

// Counts commits with their times in the latencies and windows of a ThreadTotals.
class Timings {
 public:
  Timings(const TickClock& clock, const Schedule& schedule, ThreadTotals& totals);

  // Counts a transaction that began and committed at these ticks since GO, the start of the phase.
  void committed(uint32_t class_number, uint64_t begin, uint64_t end);
  // Counts an auto-commit op without times. The commit is added to the window of the next known
  // time.
  void committed_untimed(uint32_t class_number) {
    ++totals_.committed[class_number];
    ++pending_;
  }
  // Ends the thread's program at this time. Adds the commits that are in no window yet to the
  // window of this time.
  void finish(uint64_t end);

 private:
  void count_in_window(uint64_t ns, uint64_t count);

  const TickClock& clock_;
  const Schedule schedule_;
  ThreadTotals& totals_;
  uint64_t pending_ = 0;  // commits that are not yet in a window
};

}  // namespace keydrome::script
