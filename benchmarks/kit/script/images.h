// Images: turns a script into the bytes that the referee passes to the player in memfds.
// format/program.h describes the layout of these bytes.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/kit/script/piece_writer.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// Returns the session's image of a script: its index names and procedures, and its payload texts if
// texts_in_session() (piece_writer.h). It has no keys but Pools::computed_keys. Equal scripts give equal bytes.
std::vector<std::byte> pools_image(const Script& script);

// How a phase is cut into rounds, the parts that the referee sends one after another. In round r,
// thread t executes its ops [cuts[r][t], cuts[r + 1][t]).
struct RoundPlan {
  std::vector<std::vector<uint64_t>> cuts;
  uint32_t rounds() const { return static_cast<uint32_t>(cuts.size()) - 1; }
};

// Cuts a phase at ops with kUnitStart, so that each thread has about `ops_per_round` ops in a
// round. A thread without such ops has all its ops in round 0. A phase has at least one round.
// REQUIRES: ops_per_round > 0.
RoundPlan plan_rounds(const PhaseScript& phase, uint64_t ops_per_round);

// Returns the bytes of one round: a piece for each thread. REQUIRES: round < plan.rounds().
std::vector<std::byte> round_image(const PieceWriter& writer, const PhaseScript& phase,
                                   const RoundPlan& plan, uint32_t round);

}  // namespace keydrome::script
