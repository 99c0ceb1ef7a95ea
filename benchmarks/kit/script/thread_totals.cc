// Implements thread_totals.h: puts commits into buckets of latency and windows of time.
#include "benchmarks/kit/script/thread_totals.h"

namespace keydrome::script {

Timings::Timings(const TickClock& clock, const Schedule& schedule, ThreadTotals& totals)
    : clock_(clock), schedule_(schedule), totals_(totals) {
  if (schedule.window_ns > 0) totals.scheduled.resize(schedule.end_ns / schedule.window_ns);
}

void Timings::committed(uint32_t class_number, uint64_t begin, uint64_t end) {
  ++totals_.committed[class_number];
  std::vector<uint32_t>& latency = totals_.latency[class_number];
  if (latency.empty()) latency.resize(kHistogramBuckets);
  ++latency[histogram_bucket(clock_.to_ns(end > begin ? end - begin : 0))];
  const uint64_t end_ns = clock_.to_ns(end);
  if (end_ns > schedule_.end_ns) ++totals_.late[class_number];
  if (schedule_.window_ns > 0) {
    const uint64_t window = end_ns / schedule_.window_ns;
    if (window < totals_.scheduled.size()) ++totals_.scheduled[window];
  }
  count_in_window(end_ns, pending_ + 1);
  pending_ = 0;
}

void Timings::finish(uint64_t end) {
  if (pending_ > 0) count_in_window(clock_.to_ns(end), pending_);
  pending_ = 0;
}

void Timings::count_in_window(uint64_t ns, uint64_t count) {
  std::array<uint64_t, kWindows>& windows = totals_.windows;
  for (; (ns >> totals_.window_shift) >= kWindows; ++totals_.window_shift) {
    for (uint32_t i = 0; i < kWindows / 2; ++i) windows[i] = windows[2 * i] + windows[2 * i + 1];
    for (uint32_t i = kWindows / 2; i < kWindows; ++i) windows[i] = 0;
  }
  windows[ns >> totals_.window_shift] += count;
}

}  // namespace keydrome::script
