// Functions with which hostile libraries search the memory of the player, the program that calls
// them in its own process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/protocol.h"

namespace hostile {

// Finds a message of this type that the player has received, in the writable data of the player.
// The message contains the phase's nonce, a random number without which the referee, the process
// that judges, accepts no reply. Returns nullptr if no message is found.
const keydrome::Message* find_message(keydrome::MessageType type);

// Finds the outcome, the memory to which the player writes the results of a phase, in readable
// memory. Returns its address, or nullptr if it is not found.
std::byte* find_outcome_memory();

// Returns the memory from `begin`, rounded up to a page, to the first page that is not writable or
// not zero.
std::span<std::byte> writable_zeros(std::byte* begin);

// Counts the occurrences of the eight bytes `masked` ^ `mask` in readable memory, at addresses that
// are multiples of eight. The bytes are passed in two parts, so that the search does not find its
// own arguments.
int count_in_memory(uint64_t masked, uint64_t mask);

}  // namespace hostile
