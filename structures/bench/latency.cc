// Implements latency.h: chases through random cycles of cache lines.
#include "structures/bench/latency.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "structures/bench/cpu_clock.h"
#include "structures/bench/keys.h"

namespace keydrome::bench {
namespace {

constexpr uint64_t kLoads = 300'000;
constexpr int kChases = 15;

// Follows the cycle `loads` times from `line` on, and returns the line that it reaches.
uint64_t chase(const MappedArray<ChaseLine>& lines, uint64_t line, uint64_t loads) {
  for (; loads > 0; --loads) line = lines[line].next;
  return line;
}

}  // namespace

// Sattolo's algorithm: a shuffle whose result is a single cycle.
MappedArray<ChaseLine> make_cycle(uint64_t count) {
  MappedArray<ChaseLine> lines(count);
  for (uint64_t i = 0; i < count; ++i) lines[i].next = i;
  for (uint64_t i = count - 1; i > 0; --i) std::swap(lines[i].next, lines[mix(i) % i].next);
  return lines;
}

double ns_per_load(uint64_t bytes) {
  const uint64_t count = std::max<uint64_t>(bytes / sizeof(ChaseLine), 1);
  const MappedArray<ChaseLine> lines = make_cycle(count);
  uint64_t line = chase(lines, 0, count);  // fills the caches
  uint64_t fastest = UINT64_MAX;
  for (int i = 0; i < kChases; ++i) {
    const uint64_t begin = cpu_ns();
    line = chase(lines, line, kLoads);
    fastest = std::min(fastest, cpu_ns() - begin);
  }
  // The store of the last line keeps the compiler from removing the chases.
  static std::atomic<uint64_t> sink;
  sink.store(line, std::memory_order_relaxed);
  return static_cast<double>(fastest) / static_cast<double>(kLoads);
}

}  // namespace keydrome::bench
