// Hidden keys: keys that a library cannot know before it has answered the question before.
//
// The player, the process that calls the library, gets the next operations of a thread in advance
// (piece.h), in memory that the library can read. So a library can look up many of the next keys at
// once, which a real client never allows. To prevent this, a piece contains a hidden key XORed with
// bits of the right evidence word (evidence_word.h) of the thread's hidden get before. The player
// XORs the key with the same bits of the word that this get really left. So after a wrong answer,
// the following keys are wrong, too.
//
// Only bits that are random are hidden (Script::hidden_bits): for each combination of these bits,
// there is a key that the thread asks for with the same probability. Otherwise the hidden key would
// show something about the answer. With 1,000 keys in the upper half of 2^11, for example, the
// highest hidden bit would show the highest bit of the word.
//
// The first hidden get of a thread in a phase is hidden by the word 0, so the library can know its
// key. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace keydrome::format {

// Returns the bits with which a get that left this word hides the next hidden key. All of them
// depend on all bits of the word.
inline uint32_t hiding_bits(uint64_t word) { return static_cast<uint32_t>(hash_mix(word, 0)); }

}  // namespace keydrome::format
