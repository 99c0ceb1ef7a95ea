// Measures the latency of the memory for structure_bench, the program that times data structures.
// No lookup in a data structure can be faster than the loads that depend on each other in it.
#pragma once

#include <cstdint>

#include "structures/bench/mapped_array.h"

namespace keydrome::bench {

// A cache line that contains the number of the next line of a chase.
struct alignas(64) ChaseLine {
  uint64_t next;
  uint64_t unused[7];
};

// Returns `count` lines that form one random cycle: a chase from any line visits all of them. Equal
// counts give equal cycles. `count` is at least 1.
MappedArray<ChaseLine> make_cycle(uint64_t count);

// Returns how many ns a load takes whose address is the result of the previous load, in a random
// cycle of `bytes` bytes on pages of 4 KiB. This is the fastest of several chases, because other
// programs on the machine can only make a chase slower.
double ns_per_load(uint64_t bytes);

}  // namespace keydrome::bench
