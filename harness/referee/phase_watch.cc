#include "harness/referee/phase_watch.h"

#include <cstring>

#include "benchmarks/kit/outcome.h"

namespace keydrome {

PhaseWatch::PhaseWatch(const OutcomeLayout& layout, std::span<const std::byte> image)
    : image_(image),
      thread_offset_(layout.header.thread_offset),
      stands_(layout.header.threads, Stand{}) {}

template <typename Value>
Value PhaseWatch::read(std::size_t thread, std::size_t offset) const {
  Value value{};
  std::memcpy(&value, image_.data() + thread_offset_ + thread * sizeof(ThreadOutcome) + offset,
              sizeof value);
  return value;
}

void PhaseWatch::look(uint64_t now_ns) {
  for (std::size_t t = 0; t < stands_.size(); ++t) {
    Stand& stand = stands_[t];
    const auto progress = read<uint64_t>(t, offsetof(ThreadOutcome, progress_op));
    const auto calls = read<uint64_t>(t, offsetof(ThreadOutcome, calls));
    if (stand.since_ns != 0 && stand.progress == progress && stand.calls == calls) continue;
    stand = {.progress = progress, .calls = calls, .since_ns = now_ns};
  }
}

uint32_t PhaseWatch::thread_id(std::size_t thread) const {
  return read<uint32_t>(thread, offsetof(ThreadOutcome, thread_id));
}

}  // namespace keydrome
