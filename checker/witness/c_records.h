// Writes the records of a Reproducer (c_program.h) as C text. Thread safety: pure functions.
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

// Returns a C condition on the C variable `record`, which the program has read. If the key of
// `result` is unknown, the program must not insert the key of `record`. The same applies to the
// payload. Returns "" if neither is unknown.
std::string is_unknown(const ReproducerRecord& result);

}  // namespace keydrome::witness
