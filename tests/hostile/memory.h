// Looking through the memory of the process that the library shares with the player.
#pragma once

#include <cstdint>

#include "harness/protocol.h"

namespace hostile {

// The last message that the player received, in its own memory: there is its nonce. nullptr: none
// of this type.
const keydrome::Message* find_message(keydrome::MessageType type);

// How often the eight bytes `masked` ^ `mask` stand somewhere in readable memory, at an address
// that eight divides. The caller keeps them in two parts, so that the search does not find itself.
int count_in_memory(uint64_t masked, uint64_t mask);

}  // namespace hostile
