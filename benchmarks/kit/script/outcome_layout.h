// OutcomeLayout: computes the offsets and sizes of all parts of a phase's outcome memfd. The
// player, the process that calls the library, writes its results there. The referee, which judges
// them, shares the memory (format/outcome.h).
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// The layout of one phase. The referee chooses it before the phase begins and writes it into the
// header of the memfd. The player reads the header. The referee never reads the header back,
// because the library could have changed it.
struct OutcomeLayout {
  format::OutcomeHeader header{};
  uint64_t size_bytes = 0;
};

// Returns the layout for a phase of a script. `pools` are those of the script.
OutcomeLayout outcome_layout(const PhaseScript& phase, const Pools& pools);

// Clears the memfd's bytes except the traces (lists of whole results), which are most of the memfd.
// A trace need not be cleared, because the referee reads it only up to the length that the thread
// has reported, and checks both.
void clear_outcome(const OutcomeLayout& layout, std::span<std::byte> image);

// Writes the header into the memfd's bytes. REQUIRES: the image is cleared and has
// layout.size_bytes bytes.
void write_outcome_header(const OutcomeLayout& layout, std::span<std::byte> image);

}  // namespace keydrome::script
