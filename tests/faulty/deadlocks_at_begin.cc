// A correct library for tests: every second beginTransaction of a thread returns DEADLOCK, which
// the contract permits. The gate, i.e. all correctness tests, must accept the library in the usual
// time.
#include "tests/faulty/honest.h"

extern "C" ErrCode beginTransaction(TxnState** txn) {
  thread_local bool refuse = false;
  refuse = !refuse;
  return refuse ? DEADLOCK : honest::beginTransaction(txn);
}
