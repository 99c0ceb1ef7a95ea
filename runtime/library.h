// install(): sets the runtime that the exported calls of this library use. Only a library with a
// built-in data structure calls it, such as the libraries with deliberate faults in tests/faulty.
// In all other cases, the program that has loaded the library calls keydrome_configure instead.
#pragma once

#include <memory>

#include "runtime/runtime.h"

namespace keydrome::runtime {

// Call it once, before the first call of index.h.
void install(std::unique_ptr<Runtime> runtime);

}  // namespace keydrome::runtime
