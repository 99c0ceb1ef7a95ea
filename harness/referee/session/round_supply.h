// Supplies the rounds of one phase as sealed memfds, and builds them before they are needed.
//
// A program is the list of operations of one thread. A round is a portion of every program. The
// player gets round n + 1 when its first thread enters round n, so the untrusted library cannot
// read far ahead.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>

#include "base/result.h"
#include "base/unique_fd.h"
#include "benchmarks/kit/script/images.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome {

class RoundSupply {
 public:
  // Borrows both.
  RoundSupply(const script::PieceWriter& writer, const script::PhaseScript& phase);

  uint32_t rounds() const { return plan_.rounds(); }
  uint32_t sent() const { return sent_; }

  // Builds rounds until the unsent ones have at least 512 MiB together, or all rounds are built. If
  // no built round is waiting, builds at least one.
  Result<void> build_ahead();
  // Returns the next round to send. Builds the round if necessary.
  Result<UniqueFd> take();

 private:
  struct Ready {
    UniqueFd fd;
    uint64_t bytes;
  };

  Result<void> build_one();

  const script::PieceWriter& writer_;
  const script::PhaseScript& phase_;
  script::RoundPlan plan_;
  std::deque<Ready> ready_;
  uint64_t ready_bytes_ = 0;
  uint32_t built_ = 0;
  uint32_t sent_ = 0;
};

}  // namespace keydrome
