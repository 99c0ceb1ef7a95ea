// cpu_ns: the clock of the timed loops of structure_bench.
#pragma once

#include <cstdint>
#include <ctime>

namespace keydrome::bench {

// Returns the CPU time of the calling thread in nanoseconds. Thread-safe.
inline uint64_t cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace keydrome::bench
