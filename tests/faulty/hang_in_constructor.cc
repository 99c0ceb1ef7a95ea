// Fault: the constructor never returns.
// Must be found by: the deadline for loading; verdict timed_out, with the stack of the thread.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" void wait_for_ever() {
  for (;;) pause();
}

namespace {

[[gnu::constructor]] void hang() { wait_for_ever(); }

}  // namespace
