#include "harness/referee/phase_watch.h"

#include <cstring>

#include "benchmarks/kit/outcome.h"
#include "harness/calls.h"

namespace keydrome {

PhaseWatch::PhaseWatch(const OutcomeLayout& layout, std::span<const std::byte> image,
                       std::span<const std::byte> slots)
    : image_(image),
      slots_(slots),
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
  if (!slots_.empty()) {
    uint32_t id = 0;
    std::memcpy(&id, slots_.data() + thread * sizeof(CallSlot) + offsetof(CallSlot, thread_id),
                sizeof id);
    return id;
  }
  return read<uint32_t>(thread, offsetof(ThreadOutcome, thread_id));
}

}  // namespace keydrome
