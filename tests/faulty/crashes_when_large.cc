// A library with one fault, for tests: the process writes to an invalid address during the 500th
// insert. Every benchmark that makes 500 inserts must report a crash. The finding has a C program
// that repeats the calls; this program must crash too.
#include <atomic>

#include "tests/faulty/honest.h"

namespace {
constexpr unsigned kLarge = 500;
std::atomic<unsigned> inserts{0};
volatile int* volatile nowhere = nullptr;
}  // namespace

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  // Relaxed, because the number orders nothing.
  if (inserts.fetch_add(1, std::memory_order_relaxed) + 1 == kLarge) *nowhere = 1;
  return honest::insertRecord(idxState, txn, k, payload);
}
