// No fault: a thread of the library still spins after the last index was closed.
// Must pass: the thread is frozen between phases, and no process remains.
#include <atomic>
#include <thread>

#include "tests/faulty/honest.h"

namespace {

std::atomic<bool> started{false};

void spin() {
  while (started.load(std::memory_order_relaxed)) {  // for ever: nothing clears it
  }
}

}  // namespace

extern "C" ErrCode create(KeyType type, char* name) {
  if (!started.exchange(true)) std::thread(spin).detach();
  return honest::create(type, name);
}
