// A library with one fault, for tests: the constructor never returns. At the deadline for loading,
// the verdict must be timed_out, and the report must show the stack of the thread.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" void wait_for_ever() {
  for (;;) pause();
}

namespace {

[[gnu::constructor]] void hang() { wait_for_ever(); }

}  // namespace
