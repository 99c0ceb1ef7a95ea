// A correct library for tests: one of its threads still spins after the last index was closed. It
// must pass. The jail (its sandbox) must freeze the thread between phases, and at the end no
// process may remain.
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
