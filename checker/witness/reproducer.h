// reproducer_of(): turns a minimal history into the input of c_program(). A minimal history
// contains the few calls that prove a violation (minimise.h). c_program() writes a C program that
// makes the same calls.
#pragma once

#include <optional>

#include "checker/witness/c_program.h"
#include "checker/witness/minimise.h"
#include "checker/witness/wording.h"

namespace keydrome::witness {

// `words` names the records of the program, such as r1 (wording.h). Returns nothing in any of these
// cases:
// - A call returned DEADLOCK, FAILURE, an undocumented code, or a code for misuse, such as TXN_DNE.
// - The violation is that a call returned a key or payload that no call passed.
// - The violation is delete_code, which is only a warning: a serialisable library may return the
//   same results.
// - A transaction never ended, or contains a create, openIndex or closeIndex.
// - The duration of a call is unknown, or there is no call on records.
// - There are more than 200 initial records (which existed before these calls), or 200 calls.
// Thread safety: pure function.
std::optional<Reproducer> reproducer_of(const MinimalHistory& small, const Wording& words);

}  // namespace keydrome::witness
