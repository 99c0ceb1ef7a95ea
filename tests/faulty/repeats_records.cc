// A library with one fault, for tests: the second getNext of a scan returns the record of the first
// getNext again. The report must call the fault `duplicate_record`, and must not report an anomaly
// between transactions.
#include "tests/faulty/honest.h"

namespace {

// The scan that the thread reads: its handle and transaction, the number of records that it has
// returned, and its first record.
struct Scan {
  IdxState* handle = nullptr;
  TxnState* transaction = nullptr;
  unsigned records = 0;
  Record first{};
};
thread_local Scan scan;

}  // namespace

extern "C" ErrCode beginTransaction(TxnState** txn) {
  scan = {};
  return honest::beginTransaction(txn);
}

extern "C" ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (txn == nullptr) return honest::getNext(idxState, txn, record);
  if (scan.handle != idxState || scan.transaction != txn) scan = {idxState, txn, 0, {}};
  if (scan.records == 1) {
    ++scan.records;
    *record = scan.first;
    return SUCCESS;
  }
  const ErrCode code = honest::getNext(idxState, txn, record);
  if (code == SUCCESS && ++scan.records == 1) scan.first = *record;
  return code;
}
