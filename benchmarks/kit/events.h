// Events: the counters behind kSignal and kWait, shared by the threads of a phase.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "benchmarks/kit/program.h"

namespace keydrome {

// Thread-safe. signal() releases and wait() acquires: what happened before a signal is visible
// after the wait that it ends.
class Events {
 public:
  void signal(uint32_t event) {
    counters_[event % kEvents].fetch_add(
        1, std::memory_order_release);  // pairs with the acquire in wait()
    counters_[event % kEvents].notify_all();
  }

  // Whether the event was signalled `count` times.
  bool reached(uint32_t event, uint32_t count) const {
    return counters_[event % kEvents].load(std::memory_order_acquire) >=
           count;  // pairs with signal()
  }

  // Blocks until the event was signalled `count` times in all.
  void wait(uint32_t event, uint32_t count) {
    std::atomic<uint32_t>& counter = counters_[event % kEvents];
    uint32_t seen = counter.load(std::memory_order_acquire);  // pairs with the release in signal()
    while (seen < count) {
      counter.wait(seen, std::memory_order_acquire);
      seen = counter.load(std::memory_order_acquire);
    }
  }

 private:
  std::array<std::atomic<uint32_t>, kEvents> counters_{};
};

}  // namespace keydrome
