// A library with one fault, for tests: every call sleeps for 1 ms. Its results are right. The time
// limits of the gate (all correctness tests) must refuse the library, and the gate must end within
// a minute.
#include <time.h>

#include "tests/faulty/honest.h"

namespace {

template <class Call>
ErrCode slowly(Call&& call) {
  constexpr long kDozeNs = 1'000'000;
  const timespec time{0, kDozeNs};
  nanosleep(&time, nullptr);
  return call();
}

}  // namespace

extern "C" {

ErrCode create(KeyType type, char* name) {
  return slowly([=] { return honest::create(type, name); });
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  return slowly([=] { return honest::openIndex(name, idxState); });
}

ErrCode closeIndex(IdxState* idxState) {
  return slowly([=] { return honest::closeIndex(idxState); });
}

ErrCode beginTransaction(TxnState** txn) {
  return slowly([=] { return honest::beginTransaction(txn); });
}

ErrCode abortTransaction(TxnState* txn) {
  return slowly([=] { return honest::abortTransaction(txn); });
}

ErrCode commitTransaction(TxnState* txn) {
  return slowly([=] { return honest::commitTransaction(txn); });
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  return slowly([=] { return honest::get(idxState, txn, record); });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  return slowly([=] { return honest::getNext(idxState, txn, record); });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  return slowly([=] { return honest::insertRecord(idxState, txn, k, payload); });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  return slowly([=] { return honest::deleteRecord(idxState, txn, record); });
}

}  // extern "C"
