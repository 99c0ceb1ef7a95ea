// Implements session_memory.h: computes the sizes of the memory that is shared with the player, the
// jailed process. Before each phase, prepares two parts of it: the ring for the operations, and the
// outcome for the results.
#include "harness/referee/memory/session_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "benchmarks/kit/script/images.h"
#include "harness/stacks.h"

namespace keydrome {
namespace {

// Size of a piece, the part of a program (list of operations) that a thread receives at a time. A
// piece is larger only if the program cannot be cut. The player's memory contains at most two
// pieces of each thread, so a library that searches this memory cannot see further ahead. Two
// pieces contain about 21,000 reads of 24 bytes, which take 1 to 4 ms. With smaller pieces,
// requesting and copying them would slow down each call more (harness/bench measures this).
constexpr uint64_t kPieceBytes = uint64_t{256} << 10;

}  // namespace

uint32_t threads_max(const script::Script& script) {
  std::size_t threads = 1;
  for (const script::PhaseScript& phase : script.phases)
    threads = std::max(threads, phase.threads.size());
  return static_cast<uint32_t>(threads);
}

Result<void> SessionMemory::create() {
  std::vector<uint64_t> half_bytes(threads_max(script_));
  uint64_t outcome_bytes = sizeof(format::OutcomeHeader);
  uint64_t before_scan_bytes = 0;  // largest outcome of a phase that does not scan all records
  for (const script::PhaseScript& phase : script_.phases) {
    plans_.push_back(plan_pieces(writer_, phase, kPieceBytes));
    for (std::size_t t = 0; t < phase.threads.size(); ++t)
      half_bytes[t] = std::max(half_bytes[t], plans_.back().bytes_max[t]);
    const uint64_t bytes = script::outcome_layout(phase, script_.pools).size_bytes;
    outcome_bytes = std::max(outcome_bytes, bytes);
    scans_ = scans_ || phase.verifies;
    if (!phase.verifies) before_scan_bytes = std::max(before_scan_bytes, bytes);
  }
  session_image_ = script::pools_image(script_);
  Result<InputRing> ring = InputRing::create(session_image_.size(), half_bytes);
  if (!ring) return ring.error();
  ring_.emplace(std::move(*ring));
  Result<SharedRegion> outcome =
      SharedRegion::create(outcome_bytes, SharedRegion::Others::kMayWrite, before_scan_bytes);
  if (!outcome) return outcome.error();
  outcome_.emplace(std::move(*outcome));
  Result<SharedRegion> stacks = SharedRegion::create(sizeof(StackPage));
  if (!stacks) return stacks.error();
  stacks_.emplace(std::move(*stacks));
  return {};
}

SharedMemory SessionMemory::descriptors() const {
  return {.stack_page = stacks_->fd(), .ring = ring_->fd(), .outcome = outcome_->fd()};
}

Result<std::span<std::byte>> SessionMemory::begin_outcome(uint32_t phase,
                                                          const script::OutcomeLayout& layout) {
  const std::span<std::byte> outcome = outcome_->bytes().first(layout.size_bytes);
  if (scans_) {
    std::ranges::fill(outcome_->before_rest(), std::byte{0});
  } else {
    script::clear_outcome(layout, outcome);
  }
  if (const Result<void> emptied = outcome_->empty_rest(); !emptied) return emptied.error();
  if (script_.phases[phase].verifies) {
    if (const Result<void> touched = outcome_->touch_rest(); !touched) return touched.error();
  }
  script::write_outcome_header(layout, outcome);
  return outcome;
}

PieceSupply SessionMemory::begin_pieces(uint32_t phase) {
  if (phase == 0) ring_->write_session(session_image_);
  PieceSupply pieces(writer_, script_.phases[phase], plans_[phase], *ring_);
  pieces.begin();
  return pieces;
}

}  // namespace keydrome
