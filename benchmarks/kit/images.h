// Images: the bytes that the referee puts into memfds for the player (program.h describes them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/kit/workload.h"

namespace keydrome {

// Index table and pools of a script. Equal scripts give equal bytes.
std::vector<std::byte> pools_image(const Script& script);

// How a phase is cut into rounds: round r of thread t has the ops from cuts[r][t] to cuts[r +
// 1][t].
struct RoundPlan {
  std::vector<std::vector<uint64_t>> cuts;
  uint32_t rounds() const { return static_cast<uint32_t>(cuts.size()) - 1; }
};

// Cuts at ops with kUnitStart, so that each thread has about `ops_per_round` ops in a round; a
// thread without such ops has everything in round 0. At least one round. `ops_per_round` > 0.
RoundPlan plan_rounds(const PhaseScript& phase, uint64_t ops_per_round);

// One round of the plan, ready to be sealed; `round` < plan.rounds().
std::vector<std::byte> round_image(const PhaseScript& phase, const RoundPlan& plan, uint32_t round);

}  // namespace keydrome
