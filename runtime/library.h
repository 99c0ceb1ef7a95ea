// How a library with a structure built in gets its runtime, instead of by keydrome_configure.
#pragma once

#include <memory>

#include "runtime/runtime.h"

namespace keydrome::runtime {

// Before the first call, and only once.
void install(std::unique_ptr<Runtime> runtime);

}  // namespace keydrome::runtime
