// Fault: abortTransaction forgets to undo, so aborted writes stay.
// Must be found by: canaries or the final scan.
#include "tests/faulty/honest.h"

extern "C" ErrCode abortTransaction(TxnState* txn) {
  if (txn != nullptr) honest::forget_undo();
  return honest::abortTransaction(txn);
}
