// The runtime over the B+-tree under one control (KEYDROME_MUTANT_CONTROL): the body of every
// mutant.
#pragma once

#include <memory>

#include "runtime/runtime.h"

namespace keydrome::testing {

// Ends the process when it cannot be made.
std::unique_ptr<runtime::Runtime> make_mutant_runtime();

}  // namespace keydrome::testing
