// Makes the runtime of a mutant, which is a library with one deliberate fault. The runtime adds
// transactions to a data structure, here the B+-tree. It isolates them by the concurrency control
// KEYDROME_MUTANT_CONCURRENCY. The fault is in another source, which the mutant links (mutants/).
#pragma once

#include <memory>

#include "runtime/runtime.h"

namespace keydrome::testing {

// Returns the runtime; aborts the process if the runtime cannot be made.
std::unique_ptr<runtime::Runtime> make_mutant_runtime();

}  // namespace keydrome::testing
