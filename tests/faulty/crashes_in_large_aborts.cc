// A library with one fault, for tests: the process ends when a transaction undoes 8,000 or more
// changes. The script S95b of the benchmark `scenarios` must find the fault, and the library must
// fail with the verdict crashed.
#include <cstdlib>

#include "tests/faulty/honest.h"

namespace {
constexpr unsigned kLarge = 8'000;
thread_local unsigned changes = 0;
}  // namespace

extern "C" ErrCode beginTransaction(TxnState** txn) {
  changes = 0;
  return honest::beginTransaction(txn);
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  ++changes;
  return honest::insertRecord(idxState, txn, k, payload);
}

extern "C" ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  ++changes;
  return honest::deleteRecord(idxState, txn, record);
}

extern "C" ErrCode abortTransaction(TxnState* txn) {
  if (changes >= kLarge) abort();
  return honest::abortTransaction(txn);
}
