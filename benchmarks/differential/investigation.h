// Investigation: from what a session showed to findings that a person can follow: which answer was
// wrong, and the smallest session, found by playing others again, in which it still is.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/differential/generator.h"
#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/replay.h"

namespace keydrome::differential {

std::span<const Call> calls_of(const Case& session, const Round& range);

// Judges the phases that ended and, where one was broken off, what broke it off. Plays again for
// `shrink_ms` at most, and not much longer. `phases`: what was asked in each phase. False: nothing
// was wrong.
bool investigate(const Generated& generated, std::span<const Round> phases, const Played& played,
                 uint64_t shrink_ms, Findings& findings);

}  // namespace keydrome::differential
