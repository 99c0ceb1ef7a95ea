// A library with one fault, for tests: every 1000th insert returns SUCCESS and stores nothing. The
// benchmark's final scan, which reads all records, must find the fault.
#include <atomic>

#include "tests/faulty/honest.h"

namespace {
std::atomic<uint64_t> inserts{0};  // relaxed order, because it protects no other data
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (inserts.fetch_add(1, std::memory_order_relaxed) % 1000 == 999) return SUCCESS;
  return honest::insertRecord(idxState, txn, k, payload);
}
