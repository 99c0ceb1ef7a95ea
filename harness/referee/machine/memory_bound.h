// Bounds the memory of the referee, the process that plays and judges a session of a benchmark.
//
// The referee's arrays grow with the session. The estimate of their size (session/memory_fit.h) may
// be too low, or other programs may use the machine's memory. When no memory is left, the kernel
// kills a process. With a bound, an allocation fails before that (std::bad_alloc), and the session
// ends with a report.
//
// The bound is a limit of the address space (RLIMIT_AS). Memory that is only reserved and not used
// counts in this limit, too. Therefore the limit is 512 MiB higher than the memory that the referee
// may use.
//
// Not thread-safe.
#pragma once

#include <cstdint>

namespace keydrome {

// Makes all threads of the process allocate from one heap, in which memory that one thread has
// freed can be used by another. By default, threads have heaps of their own. The peak of the
// referee's memory then depended on which thread took which part of a computation. It varied by
// 15 % from run to run, and was up to 9 % higher than with one heap. Call this function before the
// first thread starts.
void share_heap();

// Bounds the referee's memory to `bytes`. If the referee's parent process has set a lower limit,
// that limit stays. Returns the smaller of the two.
uint64_t bound_memory(uint64_t bytes);

// While an object of this class exists, the referee's soft limit is as high as its hard limit. The
// referee starts child processes in this time, so that they do not inherit the bound. A library may
// reserve much more address space than it uses, which the bound would prevent.
class MemoryUnbound {
 public:
  MemoryUnbound();
  MemoryUnbound(const MemoryUnbound&) = delete;
  MemoryUnbound& operator=(const MemoryUnbound&) = delete;
  ~MemoryUnbound();
};

// Returns the memory that programs could allocate now without swapping, or 0 if it is unknown.
uint64_t available_memory_bytes();

// Returns the largest resident memory of the referee so far, including the memory that it shares
// with the player (the jailed process), or 0 if it is unknown. Does not use getrusage(), because
// its value may come from the program that started the referee.
uint64_t peak_memory_bytes();

}  // namespace keydrome
