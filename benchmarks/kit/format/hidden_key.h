// Hidden keys: keys of gets that a library can compute only from its right answer to an earlier
// get.
//
// The player, the process that calls the library, gets the next operations of a thread in advance
// (piece.h), in memory that the library can read. So a library could look up many of the next keys
// at once, which a real client never allows. To prevent this, a piece contains each hidden key
// XORed with bits of an evidence word (evidence_word.h): the right word of the thread's previous
// hidden get. The player XORs the key with the same bits of the word that this get really left. So
// after a wrong answer, the following keys are wrong, too.
//
// Only bits that differ at random from key to key are hidden (Script::hidden_bits). If a hidden bit
// were 0 in all keys, it would reveal a bit of the answer. If all combinations of the hidden bits
// are equally likely, a hidden key reveals nothing. If some are twice as likely as others, it
// reveals a fraction of a bit.
//
// The first hidden key of a thread in a phase is XORed with bits of the word 0, so the library can
// compute it. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace keydrome::format {

// Returns the bits that are XORed into a hidden key. `word` is the word of the thread's previous
// hidden get. Every bit of the result depends on all bits of the word.
inline uint32_t hiding_bits(uint64_t word) { return static_cast<uint32_t>(hash_mix(word, 0)); }

}  // namespace keydrome::format
