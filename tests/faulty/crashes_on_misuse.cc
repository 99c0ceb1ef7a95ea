// A library with one fault, for tests: commitTransaction(NULL) aborts the process. The instance
// `misuse` of the benchmark `scenarios` must report the fault. The report is only a warning,
// because no client of the contest of 2009 made such a call.
#include <cstdlib>

#include "tests/faulty/honest.h"

extern "C" ErrCode commitTransaction(TxnState* txn) {
  if (txn == nullptr) abort();
  return honest::commitTransaction(txn);
}
