// Writes records as C text, for a C program that repeats the calls of a failed run. A Reproducer
// (c_program.h) describes this program. Thread safety: pure functions.
#pragma once

#include <string>

#include "checker/witness/c_program.h"

namespace keydrome::witness {

std::string type_name(KeyType type);

// Returns a C expression for the record.
std::string make(const Reproducer& reproducer, const ReproducerRecord& record);

// Returns C functions that say whether the program inserts a given payload or key. Returns "" if
// the failed run returned no unknown payload and no unknown key.
std::string inserted_functions(const Reproducer& reproducer);

// Returns a C condition that compares `record`, a variable of the C program, with the unknown parts
// of `result`. An unknown key matches every key that the program does not insert. An unknown
// payload matches every payload that the program does not insert. Returns "" if no part is unknown.
std::string is_unknown(const ReproducerRecord& result);

}  // namespace keydrome::witness
