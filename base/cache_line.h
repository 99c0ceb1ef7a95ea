// The distance that keeps two threads' data from sharing a cache line, and the pause of a spinning
// core.
#pragma once

#include <cstddef>

namespace keydrome {

inline constexpr std::size_t kCacheLine = 64;

// A value alone on its cache lines.
template <typename T>
struct alignas(kCacheLine) Padded {
  T value{};
};

// Tells the core that this is a spin loop.
inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace keydrome
