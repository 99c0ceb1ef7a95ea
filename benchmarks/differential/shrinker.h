// Shrinking: the smallest session found that still fails in the same way (A. Zeller and R.
// Hildebrandt, "Simplifying and isolating failure-inducing input", 2002, and some steps that know
// what calls are: all calls of a kind or on a key at once, simpler keys, payloads and types).
//
// A minimum only of what was tried. Whoever bounds the time answers kNoTime: the smallest session
// found so far is the result then, and nothing more is asked.
#pragma once

#include <cstdint>
#include <functional>

#include "benchmarks/differential/calls.h"

namespace keydrome::differential {

enum class Answer : uint8_t { kFails, kPasses, kNoTime };

// Whether a session fails in the way that is looked for. Its calls are playable().
using Fails = std::function<Answer(const Case&)>;

// `session` fails. Not thread-safe where `fails` is not.
Case shrink(Case session, const Fails& fails);

// Only the calls up to the fault: what comes behind it does not matter.
Case shorten(Case session, const Fails& fails);

}  // namespace keydrome::differential
