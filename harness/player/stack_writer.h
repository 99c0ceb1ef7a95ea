// Writes the stacks of the player's threads into the stack page, memory shared with the referee
// (harness/stacks.h), when the referee sends a signal. The referee does so when a session hangs,
// and shows the stacks in its report.
#pragma once

#include "harness/stacks.h"

namespace keydrome {

// Installs the handler of kStackSignal. A thread that receives the signal writes its stack into
// `page`, which must never be unmapped. Call this function once before loading the library, because
// the library's constructors may hang too.
void install_stack_writer(StackPage* page);

}  // namespace keydrome
