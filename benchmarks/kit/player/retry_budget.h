// RetryBudget: decides when the player, the process that calls the library under test, stops
// retrying a transaction after DEADLOCK. One object serves all threads and phases of the player.
//
// At first each transaction may take many attempts, because on a busy machine every other thread
// may need a turn in between. If several transactions have used up their attempts, the run fails in
// any case. Each later transaction then has only as many attempts as the index API allows for a
// transaction that runs alone. So a library that commits nothing fails within seconds, before the
// time limit of the phase.
//
// Thread-safe. The counter is only a hint, so its accesses are relaxed.
#pragma once

#include <atomic>
#include <cstdint>

#include "benchmarks/kit/format/legal_answers.h"

namespace keydrome::player {

// A transaction or auto-commit call fails with kCodeNoProgress when it has received DEADLOCK
// kAttemptsMax times (format/legal_answers.h) and kRetryBudgetNs have passed. The time counts from
// the begin of the transaction, or from the first DEADLOCK of the call. If the time has not passed,
// it is checked again after each further kAttemptsMax DEADLOCKs. After kLossesMax such failures, a
// later transaction or call fails when it has received DEADLOCK kAttemptsAfterwards times.
inline constexpr uint64_t kRetryBudgetNs = 2'000'000'000;
static_assert(format::kAttemptsMax % format::kAttemptsAfterwards == 0);

class RetryBudget {
 public:
  // Returns true if the caller must give up after it has received DEADLOCK `attempts` times.
  // `elapsed_ns()` returns how much of the time kRetryBudgetNs has passed. The function is called
  // rarely, because it reads the clock.
  template <typename ElapsedNs>
  bool ends(uint32_t attempts, ElapsedNs&& elapsed_ns) {
    if (attempts % format::kAttemptsAfterwards != 0) [[likely]]
      return false;
    if (losses_.load(std::memory_order_relaxed) >= format::kLossesMax) return true;
    if (attempts % format::kAttemptsMax != 0 || elapsed_ns() < kRetryBudgetNs) return false;
    losses_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<uint32_t> losses_ = 0;
};

}  // namespace keydrome::player
