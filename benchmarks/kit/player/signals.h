// Signals: the event counters with which the threads of a phase wait for each other. The ops
// kSignal, kWait and kYield (format/program.h) use them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "benchmarks/kit/format/program.h"

namespace keydrome::player {

// Thread-safe. Everything that a thread did before signal() is visible to a thread after the wait()
// that this signal() ended.
class Signals {
 public:
  // Adds 1 to the counter of the event and wakes the threads that wait for it.
  void signal(uint32_t event) {
    counters_[event % format::kEvents].fetch_add(
        1, std::memory_order_release);  // pairs with the acquire in wait()
    counters_[event % format::kEvents].notify_all();
  }

  // Returns true if the event has been signalled at least `count` times.
  bool reached(uint32_t event, uint32_t count) const {
    return counters_[event % format::kEvents].load(std::memory_order_acquire) >=
           count;  // pairs with signal()
  }

  // Blocks until the event has been signalled at least `count` times.
  void wait(uint32_t event, uint32_t count) {
    std::atomic<uint32_t>& counter = counters_[event % format::kEvents];
    uint32_t seen = counter.load(std::memory_order_acquire);  // pairs with the release in signal()
    while (seen < count) {
      counter.wait(seen, std::memory_order_acquire);
      seen = counter.load(std::memory_order_acquire);
    }
  }

 private:
  std::array<std::atomic<uint32_t>, format::kEvents> counters_{};
};

}  // namespace keydrome::player
