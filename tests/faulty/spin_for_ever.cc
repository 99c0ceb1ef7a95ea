// Fault: the 100th insert never returns, and burns a core.
// Must be found by: the phase deadline; verdict timed_out, with how far each thread got.
#include <atomic>

#include "tests/faulty/honest.h"

namespace {
std::atomic<uint64_t> inserts{0};  // a counter only: relaxed
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (inserts.fetch_add(1, std::memory_order_relaxed) == 99) {
    for (volatile bool spin = true; spin;) {
    }
  }
  return honest::insertRecord(idxState, txn, k, payload);
}
