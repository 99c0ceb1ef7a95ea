#include "benchmarks/kit/event_clock.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace keydrome {
namespace {

constexpr uint64_t kProbeNs = 2'000'000;
constexpr unsigned kProbeThreadsMax = 64;

// Threads on all processors pass the highest stamp seen from one to another; a thread that then
// reads a lower one has a counter that lags behind.
bool counters_disagree() {
  std::atomic<uint64_t> highest{0};
  std::atomic<bool> disagree{false};
  const uint64_t end_ns = now_ns() + kProbeNs;
  EventClock clock(EventClock::Source::kTimeStampCounter);
  const auto probe = [&] {
    while (now_ns() < end_ns && !disagree.load(std::memory_order_relaxed)) {
      uint64_t seen = highest.load();
      const uint64_t mine = clock.after();  // before() may be taken ahead of the load above
      if (mine < seen) disagree.store(true, std::memory_order_relaxed);
      while (seen < mine && !highest.compare_exchange_weak(seen, mine)) {
      }
    }
  };
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, kProbeThreadsMax);
  std::vector<std::jthread> others;
  others.reserve(threads - 1);
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(probe);
  probe();
  others.clear();
  return disagree.load();
}

}  // namespace

EventClock::Source EventClock::trustworthy_source() {
  return TickClock::counter_is_constant() && !counters_disagree() ? Source::kTimeStampCounter
                                                                  : Source::kSharedCounter;
}

}  // namespace keydrome
