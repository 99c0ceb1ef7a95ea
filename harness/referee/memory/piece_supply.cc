// Implements PieceSupply: makes the pieces of a phase, i.e. the portions of the threads' lists of
// operations. If possible, all pieces are made before the clock of the phase starts. Copies the
// pieces one by one into the ring, the memory that the referee (this process) shares with the
// player, the jailed process.
#include "harness/referee/memory/piece_supply.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"

namespace keydrome {
namespace {

// begin() makes pieces until the unpublished ones have this many bytes. If a phase needs no more,
// all its pieces are made before GO, the message that starts the phase. During the measured time
// the referee then only copies.
constexpr uint64_t kReadyBytesMax = uint64_t{512} << 20;

}  // namespace

PiecePlan plan_pieces(const script::PieceWriter& writer, const script::PhaseScript& phase,
                      uint64_t bytes) {
  const std::size_t threads = phase.threads.size();
  PiecePlan plan{.cuts = std::vector<std::vector<uint64_t>>(threads, {0}),
                 .bytes = std::vector<std::vector<uint64_t>>(threads),
                 .bytes_max = std::vector<uint64_t>(threads)};
  in_parallel(threads, [&](std::size_t t) {
    const std::span<const format::Op> ops = phase.threads[t];
    std::vector<uint64_t>& cuts = plan.cuts[t];
    do {
      const uint64_t from = cuts.back(), end = writer.cut(ops, from, bytes);
      plan.bytes[t].push_back(writer.size_bytes(ops.subspan(from, end - from)));
      cuts.push_back(end);
    } while (cuts.back() < ops.size());
    plan.bytes_max[t] = std::ranges::max(plan.bytes[t]);
  });
  return plan;
}

PieceSupply::PieceSupply(const script::PieceWriter& writer, const script::PhaseScript& phase,
                         const PiecePlan& plan, InputRing& ring)
    : writer_(writer),
      phase_(phase),
      plan_(plan),
      ring_(ring),
      ready_(phase.threads.size()),
      built_(phase.threads.size()) {}

void PieceSupply::begin() {
  ring_.clear();
  const std::vector<uint32_t> counts = count_first();
  in_parallel(threads(), [&](std::size_t t) {
    while (built_[t] < counts[t]) build(static_cast<uint32_t>(t));
  });
  for (uint32_t t = 0; t < threads(); ++t) publish(t);
}

// Gives one piece to each thread in turn, so that no thread waits for pieces at the beginning of
// the phase.
std::vector<uint32_t> PieceSupply::count_first() {
  std::vector<uint32_t> counts(threads());
  for (bool more = true; more;) {
    more = false;
    for (uint32_t t = 0; t < threads(); ++t) {
      if (counts[t] == pieces(t)) continue;
      if (counts[t] > 0 && ready_bytes_ >= kReadyBytesMax) continue;
      ready_bytes_ += plan_.bytes[t][counts[t]++];
      more = true;
    }
  }
  return counts;
}

void PieceSupply::publish(uint32_t thread) {
  KEYDROME_CHECK(published(thread) < pieces(thread));
  const auto build_one = [&] {
    ready_bytes_ += plan_.bytes[thread][built_[thread]];
    build(thread);
  };
  if (ready_[thread].empty()) build_one();
  ring_.publish(thread, ready_[thread].front());
  ready_bytes_ -= ready_[thread].front().size();
  ready_[thread].pop_front();
  if (built_[thread] < pieces(thread) && ready_bytes_ < kReadyBytesMax) build_one();
}

void PieceSupply::build(uint32_t thread) {
  const std::vector<uint64_t>& cuts = plan_.cuts[thread];
  const uint64_t from = cuts[built_[thread]], end = cuts[built_[thread] + std::size_t{1}];
  const bool last = end == phase_.threads[thread].size();
  ready_[thread].push_back(
      writer_.write(std::span(phase_.threads[thread]).subspan(from, end - from), last));
  ++built_[thread];
}

}  // namespace keydrome
