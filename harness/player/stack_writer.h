// Writes the stacks of the player's threads into the stack page, memory shared with the referee
// (harness/stacks.h). The referee is the process that runs the benchmark, and the player is the
// jailed process with the library. When a run hangs, the referee sends a signal to the player's
// threads, which then write their stacks. A thread that crashes writes its stack before the process
// ends. The referee shows the stacks in its report.
#pragma once

#include "harness/stacks.h"

namespace keydrome {

// Installs the handlers of kStackSignal and of the signals of crashes. A thread that receives one
// of them writes its stack into `page`, which must never be unmapped. A signal of a crash then ends
// the process, as it would without a handler. A library may install its own handlers. Call this
// function once before loading the library, because the library's constructors may hang or crash
// too.
void install_stack_writer(StackPage* page);

}  // namespace keydrome
