// Replay: the calls of a minimal history as something that a C program can play again.
#pragma once

#include <optional>

#include "checker/c_program.h"
#include "checker/minimal.h"
#include "checker/words.h"

namespace keydrome {

// Nothing where no client can ask for the answers: a call that was answered DEADLOCK or by a code
// that the contract does not know, a key or payload that nobody passed, a transaction that never
// ended; and where there are hundreds of records or calls. Thread safety: pure function.
std::optional<Play> replay_of(const MinimalHistory& small, const Words& words);

}  // namespace keydrome
