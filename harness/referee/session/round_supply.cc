// Implements RoundSupply: builds the rounds of a phase before the player requests them.
#include "harness/referee/session/round_supply.h"

#include <utility>
#include <vector>

#include "harness/referee/session/memfd.h"

namespace keydrome {
namespace {

// Approximate number of operations of each thread in a round. A thread takes several milliseconds
// to play them. The player has the current round and the next one, so a library cannot see further
// ahead.
constexpr uint64_t kOpsPerRound = 1 << 16;
// build_ahead() stops when the built, unsent rounds have at least this many bytes. With so many
// rounds in stock before GO, the referee has little to do during the measured time.
constexpr uint64_t kReadyBytesMax = uint64_t{512} << 20;

}  // namespace

RoundSupply::RoundSupply(const script::PieceWriter& writer, const script::PhaseScript& phase)
    : writer_(writer), phase_(phase), plan_(script::plan_rounds(phase, kOpsPerRound)) {}

Result<void> RoundSupply::build_ahead() {
  while (built_ < plan_.rounds() && (ready_.empty() || ready_bytes_ < kReadyBytesMax)) {
    if (Result<void> built = build_one(); !built) return built;
  }
  return {};
}

Result<UniqueFd> RoundSupply::take() {
  if (ready_.empty()) {
    if (Result<void> built = build_one(); !built) return built.error();
  }
  Ready round = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= round.bytes;
  ++sent_;
  return std::move(round.fd);
}

Result<void> RoundSupply::build_one() {
  const std::vector<std::byte> image = script::round_image(writer_, phase_, plan_, built_);
  Result<UniqueFd> fd = sealed_input(image);
  if (!fd) return fd.error();
  ready_.push_back({std::move(*fd), image.size()});
  ready_bytes_ += image.size();
  ++built_;
  return {};
}

}  // namespace keydrome
