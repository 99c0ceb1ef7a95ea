// Implements PhaseWatch: samples the counters that the player's threads write into the outcome
// memfd.
#include "harness/referee/hang/phase_watch.h"

#include <cstring>

#include "benchmarks/kit/format/outcome.h"
#include "harness/calls.h"

namespace keydrome {

PhaseWatch::PhaseWatch(const script::OutcomeLayout& layout, std::span<const std::byte> image,
                       std::span<const std::byte> slots)
    : image_(image),
      slots_(slots),
      thread_offset_(layout.header.thread_offset),
      threads_(layout.header.threads, ThreadProgress{}) {}

template <typename Value>
Value PhaseWatch::read(std::size_t thread, std::size_t offset) const {
  Value value{};
  std::memcpy(&value,
              image_.data() + thread_offset_ + thread * sizeof(format::ThreadOutcome) + offset,
              sizeof value);
  return value;
}

void PhaseWatch::sample(uint64_t now_ns) {
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    ThreadProgress& thread = threads_[t];
    const auto progress = read<uint64_t>(t, offsetof(format::ThreadOutcome, progress_op));
    const auto words = read<uint64_t>(t, offsetof(format::ThreadOutcome, words));
    if (thread.since_ns != 0 && thread.progress == progress && thread.words == words) continue;
    thread = {.progress = progress, .words = words, .since_ns = now_ns};
  }
}

uint32_t PhaseWatch::thread_id(std::size_t number) const {
  if (!slots_.empty()) {
    uint32_t id = 0;
    std::memcpy(&id, slots_.data() + number * sizeof(CallSlot) + offsetof(CallSlot, thread_id),
                sizeof id);
    return id;
  }
  return read<uint32_t>(number, offsetof(format::ThreadOutcome, thread_id));
}

}  // namespace keydrome
