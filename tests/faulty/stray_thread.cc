// Not a fault by itself: a thread of the library spins on after everything is closed.
// Must pass, be frozen between phases, and leave no process behind.
#include <atomic>
#include <thread>

#include "tests/faulty/honest.h"

namespace {

std::atomic<bool> started{false};

void spin() {
  while (started.load(std::memory_order_relaxed)) {  // for ever: nothing ever clears it
  }
}

}  // namespace

extern "C" ErrCode create(KeyType type, char* name) {
  if (!started.exchange(true)) std::thread(spin).detach();
  return honest::create(type, name);
}
