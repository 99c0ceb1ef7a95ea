// A library with one fault, for tests: every read and write sleeps for 2 ms. Its results are right.
// The time limits of the gate (all correctness tests) must refuse the library, and the gate must
// end within a minute.
#include <time.h>

#include "tests/faulty/honest.h"

namespace {

void doze() {
  constexpr long kDozeNs = 2'000'000;
  const timespec time{0, kDozeNs};
  nanosleep(&time, nullptr);
}

}  // namespace

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  doze();
  return honest::get(idxState, txn, record);
}

extern "C" ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  doze();
  return honest::getNext(idxState, txn, record);
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  doze();
  return honest::insertRecord(idxState, txn, k, payload);
}

extern "C" ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  doze();
  return honest::deleteRecord(idxState, txn, record);
}
