// Sorts numbered entries by 64-bit values. The judge sorts the keys and the writes of a script (the
// operations of a session) with it.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace keydrome::judge {

// An entry to sort: the number of an object, and the value by which the object is sorted. For a
// string, the value is eight of its bytes, the first byte highest, with zeros after its end.
struct Note {
  uint64_t head;
  uint32_t number;
};

// Sorts the notes by their heads. If the notes are in the order of their numbers before the call,
// notes with equal heads keep this order. `spare` is memory that the function may use.
void sort_notes(std::span<Note> notes, std::vector<Note>& spare);

}  // namespace keydrome::judge
