// Where everything stands in the outcome memfd of a phase (outcome.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/kit/outcome.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// Chosen by the referee before GO; the player reads the header, the referee never does.
struct OutcomeLayout {
  OutcomeHeader header{};
  std::vector<uint64_t> transactions;  // how many each thread's program has
  uint64_t size_bytes = 0;
};

OutcomeLayout outcome_layout(const PhaseScript& phase);

// Writes the header into a fresh, zeroed image of layout.size_bytes.
void write_outcome_header(const OutcomeLayout& layout, std::span<std::byte> image);

}  // namespace keydrome
