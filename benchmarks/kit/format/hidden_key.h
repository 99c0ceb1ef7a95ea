// Hidden keys: keys that a library cannot know before it has answered the question before.
//
// The player, the process that calls the library, gets the next operations of a thread in advance
// (piece.h), in memory that the library can read. So a library can look up many of the next keys at
// once, which a real client never allows. To prevent this, a piece contains a hidden key XORed with
// bits of the right evidence word (evidence_word.h) of the thread's hidden get before. The player
// XORs the key with the same bits of the word that this get really left. So after a wrong answer,
// the following keys are wrong, too.
//
// Only bits that differ at random from key to key are hidden (Script::hidden_bits). A hidden bit
// that is 0 in all keys would show a bit of the answer. If all combinations of the hidden bits are
// equally likely, a hidden key shows nothing. If some are twice as likely as others, it shows a
// fraction of a bit.
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
