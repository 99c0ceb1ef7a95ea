// Fault: commitTransaction(NULL) aborts the process.
// Must be found by: the instance `misuse` of the benchmark scenarios, as a warning only, because no
// client of the contest of 2009 made such a call.
#include <cstdlib>

#include "tests/faulty/honest.h"

extern "C" ErrCode commitTransaction(TxnState* txn) {
  if (txn == nullptr) abort();
  return honest::commitTransaction(txn);
}
