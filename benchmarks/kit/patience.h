// Patience: for how long DEADLOCK is put up with, over all threads and phases of a player.
//
// While transactions get through, each may take many attempts over a time in which every other
// thread had its turn on a busy machine. When some did not, the library has failed, and the rest
// needs no more attempts than the contract grants a transaction that is alone: so a library in
// which nothing gets through is told in seconds, not by the phase's time limit.
//
// Thread safety: any thread; a hint, which orders nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace keydrome {

// A transaction or auto-commit call that was answered DEADLOCK that often, for at least two
// seconds, counts as failed with kCodeNoProgress; after four such ones, ten times are enough.
inline constexpr uint32_t kAttemptsMax = 10'000;
inline constexpr uint64_t kPatienceNs = 2'000'000'000;
inline constexpr uint32_t kLossesMax = 4;
inline constexpr uint32_t kAttemptsAfterwards = 10;
static_assert(kAttemptsMax % kAttemptsAfterwards == 0);

class Patience {
 public:
  // Whether to give up after `attempts` DEADLOCKs. `elapsed_ns()` is the time since the first one.
  template <typename ElapsedNs>
  bool ends(uint32_t attempts, ElapsedNs&& elapsed_ns) {
    if (attempts % kAttemptsAfterwards != 0) [[likely]]
      return false;
    if (losses_.load(std::memory_order_relaxed) >= kLossesMax) return true;
    if (attempts % kAttemptsMax != 0 || elapsed_ns() < kPatienceNs) return false;
    losses_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<uint32_t> losses_ = 0;
};

}  // namespace keydrome
