// The floor of a call: its smallest possible cost, i.e. the time of a loop that only calls a
// library that does nothing (indexes/null). The programs in this folder compare the cost of the
// harness with this floor.
//
// Thread safety: the functions share no state.
#pragma once

#include <cstdint>
#include <ctime>
#include <span>

#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/player/index_api.h"

namespace keydrome {

inline double thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

struct CallFloor {
  double ns;        // CPU time of the whole loop
  uint32_t misses;  // calls that failed; more than 0 shows that the library is not indexes/null
};

// Loops over the operations and calls get for each kGet. Does not set the key, which indexes/null
// ignores.
inline CallFloor call_floor(const player::IndexApi& api, std::span<const format::Op> ops) {
  Record record{};
  uint32_t misses = 0;
  const double start = thread_cpu_ns();
  for (const format::Op& op : ops) {
    if (op.code == format::OpCode::kGet && api.get(nullptr, nullptr, &record) != SUCCESS) ++misses;
  }
  return {thread_cpu_ns() - start, misses};
}

}  // namespace keydrome
