// A library with one fault, for tests: its constructor starts a thread and waits for it, and the
// thread writes to an invalid address. The report must say that the process crashed while the
// library was loaded. At this time the signal handler of the player, the process that calls the
// library, cannot find the names of the functions on the stack. The reason is that the dynamic
// loader holds its lock. The handler must not wait for this lock for ever.
#include <thread>

#include "tests/faulty/honest.h"

namespace {

[[gnu::constructor]] void crash() {
  std::thread([] {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }).join();
}

}  // namespace
