// The rounds of one phase as sealed memfds, built ahead of their use.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>

#include "base/result.h"
#include "benchmarks/kit/images.h"
#include "benchmarks/kit/workload.h"
#include "harness/unique_fd.h"

namespace keydrome {

class RoundSupply {
 public:
  // Borrows the phase.
  explicit RoundSupply(const PhaseScript& phase);

  uint32_t rounds() const { return plan_.rounds(); }
  uint32_t sent() const { return sent_; }

  // Builds until the budget of bytes is used up, at least one round if there is any left.
  Result<void> build_ahead();
  // The next round to send.
  Result<UniqueFd> take();

 private:
  struct Ready {
    UniqueFd fd;
    uint64_t bytes;
  };

  Result<void> build_one();

  const PhaseScript& phase_;
  RoundPlan plan_;
  std::deque<Ready> ready_;
  uint64_t ready_bytes_ = 0;
  uint32_t built_ = 0;
  uint32_t sent_ = 0;
};

}  // namespace keydrome
