// Bodies: what the transactions of the isolation workloads do.
//
// A body writes the calls of one transaction, without its begin and end.
// Everything is drawn from the Rng it is given, so the same seed gives the same
// program. Each body exists to make one kind of mistake likely (README.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"

namespace keydrome::isolation {

// The keys of one index in ascending order, as numbers of the pool. All
// transactions of a round draw from the same few, so that they meet.
struct Arena {
  uint8_t slot = 0;
  std::vector<uint32_t> keys;
};

// Where a body writes. Lives for one thread of one round.
class BodyWriter {
 public:
  BodyWriter(ScriptBuilder& script, ThreadBuilder& out, std::span<const Arena> arenas,
             std::span<const uint32_t> texts, Rng& rng)
      : script_(&script), out_(&out), arenas_(arenas), texts_(texts), rng_(&rng) {}

  Rng& rng() { return *rng_; }
  bool chance(uint32_t one_in) { return rng_->below(one_in) == 0; }

  std::size_t arenas() const { return arenas_.size(); }
  const Arena& any_arena() { return arenas_[rng_->below(arenas_.size())]; }
  const Arena& arena(std::size_t number) const { return arenas_[number]; }
  // Low numbers more often than high ones: some keys are hot.
  uint32_t any_key(const Arena& arena);
  // Number of a key in [low, high) of the arena's order.
  uint32_t key_between(const Arena& arena, std::size_t low, std::size_t high);

  void get(const Arena& arena, uint32_t key);
  void next(const Arena& arena, uint32_t calls);
  void insert(const Arena& arena, uint32_t key);
  void erase_read(const Arena& arena);
  void erase_key(const Arena& arena, uint32_t key);

 private:
  void pause();

  ScriptBuilder* script_;
  ThreadBuilder* out_;
  std::span<const Arena> arenas_;
  std::span<const uint32_t> texts_;
  Rng* rng_;
};

// A kind of round: what its transactions do, and the arena in which they meet.
struct RoundKind {
  std::string_view name;
  // Writes a transaction of about `operations` calls; `read_only` asks for one without changes.
  void (*body)(BodyWriter& out, uint32_t operations, bool read_only);
  uint32_t indexes;
  uint32_t keys;        // of each index
  uint32_t operations;  // calls of a transaction on average
  uint32_t percent;     // transactions, of what the parameters say
};

// All of them; rounds take turns.
std::span<const RoundKind> round_kinds();

}  // namespace keydrome::isolation
