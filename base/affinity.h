// Binding a thread to a CPU.
#pragma once

#include "base/result.h"

namespace keydrome {

// Binds the calling thread to one CPU. The error says why it could not be (not allowed, no such
// CPU).
Result<void> pin_this_thread(int cpu);

}  // namespace keydrome
