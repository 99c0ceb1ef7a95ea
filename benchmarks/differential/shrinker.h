// Reduces a failing session (a sequence of API calls) to a small session that still fails in the
// same way.
//
// The method is that of A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing
// input", 2002. Some steps use the structure of calls: they remove at once all calls of one kind or
// on one key, or simplify keys, payloads and types. The result is the smallest failing session that
// was tried. A smaller one may exist. If time runs out (Answer::kNoTime), shrinking ends with the
// smallest session found so far.
#pragma once

#include <cstdint>
#include <functional>

#include "benchmarks/differential/calls.h"

namespace keydrome::differential {

// The result of trying a session.
enum class Answer : uint8_t { kFails, kPasses, kNoTime };

// Tries a session. Returns kFails if the session fails in the same way as the original session.
// Callers pass only sessions in which a client can make all calls (playable()).
using Fails = std::function<Answer(const Case&)>;

// Returns the smallest failing session found. Precondition: `session` fails. Thread-safe if `fails`
// is.
Case shrink(Case session, const Fails& fails);

// Removes only the calls after the failure, and returns the shorter session.
Case shorten(Case session, const Fails& fails);

}  // namespace keydrome::differential
