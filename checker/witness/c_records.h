// Writes the records of a Reproducer (c_program.h) as C text. Thread safety: pure functions.
#pragma once

#include <string>

#include "checker/witness/c_program.h"

namespace keydrome::witness {

std::string type_name(KeyType type);

// Returns a C expression for the record.
std::string make(const Reproducer& reproducer, const ReproducerRecord& record);

// Returns C functions that say whether the program inserts a payload or a key, or "" if
// the failed run returned no unknown payload or key.
std::string inserted_functions(const Reproducer& reproducer);

// Returns a C condition: `record`, which a call on the index returned, has the unknown parts of a
// result of the failed run. `result` must have an unknown part.
std::string is_unknown(const ReproducerRecord& result);

}  // namespace keydrome::witness
