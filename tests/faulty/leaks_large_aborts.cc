// A library with one fault, for tests: an abort of 32 or more inserts undoes nothing, so the next
// transaction finds the records. The script S95b of the benchmark `scenarios` must find the fault,
// and the library must fail.
#include "tests/faulty/honest.h"

namespace {
constexpr unsigned kLarge = 32;
thread_local unsigned inserts = 0;
}  // namespace

extern "C" ErrCode beginTransaction(TxnState** txn) {
  inserts = 0;
  return honest::beginTransaction(txn);
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  ++inserts;
  return honest::insertRecord(idxState, txn, k, payload);
}

extern "C" ErrCode abortTransaction(TxnState* txn) {
  if (inserts >= kLarge) honest::forget_undo();
  return honest::abortTransaction(txn);
}
