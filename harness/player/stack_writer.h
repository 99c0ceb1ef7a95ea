// Writes the stacks of the player's threads into the stack page, memory shared with the referee
// (harness/stacks.h). The referee is the process that runs the benchmark, and the player is the
// jailed process with the library. When a run hangs, the referee sends a signal to the player's
// threads, which then write their stacks. The referee shows them in its report.
#pragma once

#include "harness/stacks.h"

namespace keydrome {

// Installs the handler of kStackSignal. A thread that receives the signal writes its stack into
// `page`, which must never be unmapped. Call this function once before loading the library, because
// the library's constructors may hang too.
void install_stack_writer(StackPage* page);

}  // namespace keydrome
