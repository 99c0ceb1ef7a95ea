// Fault: abortTransaction undoes nothing, so the writes of aborted transactions remain.
// Must be found by: canaries (extra transactions that look for aborted data) or the final scan.
#include "tests/faulty/honest.h"

extern "C" ErrCode abortTransaction(TxnState* txn) {
  if (txn != nullptr) honest::forget_undo();
  return honest::abortTransaction(txn);
}
