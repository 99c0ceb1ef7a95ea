// Fault: while the constructor waits for a thread, this thread writes to an invalid address.
// Must be found by: loading the library, as a crash. A thread that crashes here cannot find the
// names of the functions on its stack, because the dynamic loader holds its lock.
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
