// Fault: the constructor starts a thread and waits for it. The thread writes to an invalid address.
// Must be found by: loading the library, as a crash. Here the player's signal handler cannot find
// the names of the functions on the stack, because the dynamic loader holds its lock. The handler
// must not wait for this lock for ever.
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
