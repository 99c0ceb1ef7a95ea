// Helpers for code that several threads run at the same time: Padded keeps the data of two threads
// on different cache lines, and cpu_relax() is the pause instruction for spin loops.
#pragma once

#include <cstddef>

namespace keydrome {

inline constexpr std::size_t kCacheLine = 64;

// Puts a value on cache lines of its own. Threads that write other data then do not slow down
// access to the value.
template <typename T>
struct alignas(kCacheLine) Padded {
  T value{};
};

// Informs the CPU that the caller is in a spin loop. The CPU then saves power and leaves the core's
// resources to its other hardware thread.
inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace keydrome
