// A library with one fault, for tests: getNext outside of a transaction does not wait for the lock,
// so it returns records of transactions that have not committed. The script S4b of the benchmark
// `scenarios` must find the fault.
#include "tests/faulty/honest.h"

extern "C" ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr || txn != nullptr) return honest::getNext(idxState, txn, record);
  const honest::Index& index = honest::index_of(idxState);
  if (index.records.empty()) return DB_END;
  const auto first = index.records.begin();
  record->key = honest::to_key(first->first, index.type);
  std::strcpy(record->payload, first->second.begin()->c_str());
  return SUCCESS;
}
