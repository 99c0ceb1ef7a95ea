// Implements PieceSupply: makes the pieces of a phase, i.e. the portions of the threads' lists of
// operations, if possible before the time of the phase is measured. Copies the pieces one by one
// into the ring, the memory that the referee (this process) shares with the player, the jailed
// process.
#include "harness/referee/memory/piece_supply.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"

namespace keydrome {
namespace {

// begin() makes pieces until the unpublished ones have this many bytes. If a phase needs no more,
// all its pieces are made before GO, the message that starts the phase. During the measured time
// the referee then only copies.
constexpr uint64_t kReadyBytesMax = uint64_t{512} << 20;

}  // namespace

PiecePlan plan_pieces(const script::PieceWriter& writer, const script::PhaseScript& phase,
                      uint64_t bytes) {
  PiecePlan plan;
  for (const std::vector<format::Op>& ops : phase.threads) {
    std::vector<uint64_t> cuts{0};
    uint64_t bytes_max = 0;
    do {
      const uint64_t from = cuts.back(), end = writer.cut(ops, from, bytes);
      bytes_max = std::max(bytes_max, writer.size_bytes(std::span(ops).subspan(from, end - from)));
      cuts.push_back(end);
    } while (cuts.back() < ops.size());
    plan.cuts.push_back(std::move(cuts));
    plan.bytes_max.push_back(bytes_max);
  }
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
  for (bool more = true; more;) {
    more = false;
    for (uint32_t t = 0; t < threads(); ++t) {
      if (built_[t] == pieces(t)) continue;
      if (built_[t] > 0 && ready_bytes_ >= kReadyBytesMax) continue;
      build(t);
      more = true;
    }
  }
  for (uint32_t t = 0; t < threads(); ++t) publish(t);
}

void PieceSupply::publish(uint32_t thread) {
  KEYDROME_CHECK(published(thread) < pieces(thread));
  if (ready_[thread].empty()) build(thread);
  ring_.publish(thread, ready_[thread].front());
  ready_bytes_ -= ready_[thread].front().size();
  ready_[thread].pop_front();
  if (built_[thread] < pieces(thread) && ready_bytes_ < kReadyBytesMax) build(thread);
}

void PieceSupply::build(uint32_t thread) {
  const std::vector<uint64_t>& cuts = plan_.cuts[thread];
  const uint64_t from = cuts[built_[thread]], end = cuts[built_[thread] + std::size_t{1}];
  const bool last = end == phase_.threads[thread].size();
  ready_[thread].push_back(
      writer_.write(std::span(phase_.threads[thread]).subspan(from, end - from), last));
  ready_bytes_ += ready_[thread].back().size();
  ++built_[thread];
}

}  // namespace keydrome
