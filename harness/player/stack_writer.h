// The player's part of a stack page (harness/stacks.h).
#pragma once

#include "harness/stacks.h"

namespace keydrome {

// From now on kStackSignal makes the thread that gets it write its stack into `page`, which lives
// for ever. Before the library is loaded: its constructors may hang too. Once.
void install_stack_writer(StackPage* page);

}  // namespace keydrome
