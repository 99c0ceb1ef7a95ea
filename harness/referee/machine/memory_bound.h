// Bounds the memory of the referee itself.
//
// The referee's arrays grow with the session. An estimate (session/memory_fit.h) may be too low, or
// other programs may use the machine's memory. When the memory is used up, the kernel kills a process.
// With a bound, an allocation fails first (std::bad_alloc), and the session ends with a report.
//
// The bound is RLIMIT_AS, the address space. It also counts memory that is reserved and not used, so it
// leaves some room for that.
//
// Not thread-safe.
#pragma once

#include <cstdint>

namespace keydrome {

// Bounds the referee's memory to `bytes`. A lower limit that the referee got from its parent stays.
// Returns the bound that holds, or 0 if there is none.
uint64_t bound_memory(uint64_t bytes);

// While an object exists, the referee has no bound but the hard limit. A child process that is started
// meanwhile inherits that. Otherwise the bound would hold for jail and player, and libraries may
// reserve much more address space than they use.
class MemoryUnbound {
 public:
  MemoryUnbound();
  MemoryUnbound(const MemoryUnbound&) = delete;
  MemoryUnbound& operator=(const MemoryUnbound&) = delete;
  ~MemoryUnbound();
};

// Returns the memory that programs could allocate now without swapping, or 0 if it is unknown.
uint64_t available_memory_bytes();

// Returns the largest resident memory of the referee so far, the memory that it shares with the player
// included, or 0 if it is unknown. (getrusage() counts memory of the program that started the referee.)
uint64_t peak_memory_bytes();

}  // namespace keydrome
