#include "harness/referee/round_supply.h"

#include <utility>
#include <vector>

#include "harness/referee/memfd.h"

namespace keydrome {
namespace {

// A library can look ahead by at most two rounds; a round of this size takes a thread several
// milliseconds.
constexpr uint64_t kOpsPerRound = 1 << 16;
// Rounds are built before GO as far as this reaches, so that the referee is idle while the clock
// runs.
constexpr uint64_t kReadyBytesMax = uint64_t{512} << 20;

}  // namespace

RoundSupply::RoundSupply(const PhaseScript& phase)
    : phase_(phase), plan_(plan_rounds(phase, kOpsPerRound)) {}

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
  const std::vector<std::byte> image = round_image(phase_, plan_, built_);
  Result<UniqueFd> fd = sealed_input(image);
  if (!fd) return fd.error();
  ready_.push_back({std::move(*fd), image.size()});
  ready_bytes_ += image.size();
  ++built_;
  return {};
}

}  // namespace keydrome
