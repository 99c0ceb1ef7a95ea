// A library with one fault, for tests: abortTransaction undoes nothing, so the writes of aborted
// transactions remain. Canaries (extra transactions that look for aborted data) or the final scan
// of all records must find the fault.
#include "tests/faulty/honest.h"

extern "C" ErrCode abortTransaction(TxnState* txn) {
  if (txn != nullptr) honest::forget_undo();
  return honest::abortTransaction(txn);
}
