// Implements the choice of EventClock's time source: decides once per process whether the
// processors' time-stamp counters agree.
#include "benchmarks/kit/player/event_clock.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace keydrome::player {
namespace {

constexpr uint64_t kProbeNs = 2'000'000;
constexpr unsigned kProbeThreadsMax = 64;

// Returns true if the time-stamp counters of two processors were seen to disagree. Many threads
// share the highest timestamp seen so far. If a thread then reads a lower timestamp, the counter of
// its processor lags.
bool counters_disagree() {
  std::atomic<uint64_t> highest{0};
  std::atomic<bool> disagree{false};
  const uint64_t end_ns = now_ns() + kProbeNs;
  EventClock clock(EventClock::Source::kTimeStampCounter);
  const auto probe = [&] {
    while (now_ns() < end_ns && !disagree.load(std::memory_order_relaxed)) {
      uint64_t seen = highest.load();
      const uint64_t mine = clock.after();  // before() might read the clock before the load above
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

}  // namespace keydrome::player
