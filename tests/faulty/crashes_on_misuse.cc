// Fault: ending a transaction that is NULL ends the process.
// Must be found by: the instance `misuse` of the scenarios, as a warning only; no client of 2009
// did it.
#include <cstdlib>

#include "tests/faulty/honest.h"

extern "C" ErrCode commitTransaction(TxnState* txn) {
  if (txn == nullptr) abort();
  return honest::commitTransaction(txn);
}
