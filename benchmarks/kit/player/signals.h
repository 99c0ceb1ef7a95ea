// Signals: the event counters with which the threads of a phase wait for each other. The operations
// kSignal, kWait and kYield of their programs use the counters (format/program.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "benchmarks/kit/format/program.h"

namespace keydrome::player {

// Thread-safe. Everything that a thread did before signal() is visible to a thread after the wait()
// that this signal() ended.
//
// A signal wakes threads only if one of them may have waited for this count. Without this rule, a
// barrier of n threads would wake each thread n times.
class Signals {
 public:
  // Adds 1 to the counter of the event and wakes the threads that wait for the event. No wake-up is
  // lost: signal() adds and then reads `awaited`; wait() writes `awaited` and then reads `count`.
  // All four accesses are sequentially consistent, so at least one thread sees what the other
  // wrote.
  void signal(uint32_t event) {
    Counter& counter = counters_[event % format::kEvents];
    const uint32_t count = counter.count.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (count >= counter.awaited.load(std::memory_order_seq_cst)) counter.count.notify_all();
  }

  // Returns true if the event has been signalled at least `count` times.
  bool reached(uint32_t event, uint32_t count) const {
    return counters_[event % format::kEvents].count.load(std::memory_order_acquire) >=
           count;  // pairs with signal()
  }

  // Blocks until the event has been signalled at least `count` times.
  void wait(uint32_t event, uint32_t count) {
    Counter& counter = counters_[event % format::kEvents];
    uint32_t awaited = counter.awaited.load(std::memory_order_seq_cst);
    while (count < awaited && !counter.awaited.compare_exchange_weak(awaited, count)) {
    }
    uint32_t seen = counter.count.load(std::memory_order_seq_cst);
    while (seen < count) {
      counter.count.wait(seen, std::memory_order_seq_cst);
      seen = counter.count.load(std::memory_order_seq_cst);
    }
  }

 private:
  struct Counter {
    std::atomic<uint32_t> count{0};
    std::atomic<uint32_t> awaited{UINT32_MAX};  // the smallest count that a thread has waited for
  };

  std::array<Counter, format::kEvents> counters_{};
};

}  // namespace keydrome::player
