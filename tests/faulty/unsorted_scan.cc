// A library with one fault, for tests: every tenth getNext skips a record, and the getNext after it
// returns the skipped record. The checks of the order of scans must find the fault.
#include <optional>

#include "tests/faulty/honest.h"

namespace {
thread_local uint64_t calls = 0;
thread_local std::optional<Record> held_back;
}  // namespace

extern "C" {

ErrCode beginTransaction(TxnState** txn) {
  held_back.reset();
  return honest::beginTransaction(txn);
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  held_back.reset();
  return honest::get(idxState, txn, record);
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (held_back) {
    *record = *held_back;
    held_back.reset();
    return SUCCESS;
  }
  const ErrCode code = honest::getNext(idxState, txn, record);
  if (code != SUCCESS || txn == nullptr || ++calls % 10 != 0) return code;
  const Record first = *record;
  if (honest::getNext(idxState, txn, record) == SUCCESS) {
    held_back = first;
  } else {
    *record = first;
  }
  return SUCCESS;
}

}  // extern "C"
