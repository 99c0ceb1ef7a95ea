// A library with one fault, for tests: the 100th insert never returns, and uses a whole CPU. At the
// deadline of the phase, the verdict must be timed_out. Its reason must name the operation of each
// thread that still runs.
#include <atomic>

#include "tests/faulty/honest.h"

namespace {
std::atomic<uint64_t> inserts{0};  // relaxed order, because it protects no other data
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (inserts.fetch_add(1, std::memory_order_relaxed) == 99) {
    for (volatile bool spin = true; spin;) {
    }
  }
  return honest::insertRecord(idxState, txn, k, payload);
}
