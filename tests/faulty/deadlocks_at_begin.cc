// A correct library: every second beginTransaction of a thread returns DEADLOCK, which the contract
// permits. The gate, the tests that a library must pass, must accept it in the usual time.
#include "tests/faulty/honest.h"

extern "C" ErrCode beginTransaction(TxnState** txn) {
  thread_local bool refuse = false;
  refuse = !refuse;
  return refuse ? DEADLOCK : honest::beginTransaction(txn);
}
