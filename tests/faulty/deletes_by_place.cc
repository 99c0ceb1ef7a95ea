// A library with one fault, for tests: deleteRecord outside of a transaction finds the place of its
// key in the index before it waits for the lock. When it has the lock, it deletes the record that
// is then at this place. Meanwhile another transaction may have put another key there. The script
// S25c of the benchmark `scenarios` must find the fault.
#include <iterator>

#include "tests/faulty/honest.h"

extern "C" ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr || txn != nullptr) return honest::deleteRecord(idxState, txn, record);
  const auto& records = honest::index_of(idxState).records;
  const auto found = records.find(honest::to_ordered(record->key));
  const auto place = std::distance(records.begin(), found);
  TxnState* own = nullptr;
  const ErrCode begun = honest::beginTransaction(&own);
  if (begun != SUCCESS) return begun == TXN_EXISTS ? DEADLOCK : begun;
  Record victim = *record;
  if (place < static_cast<std::ptrdiff_t>(records.size())) {
    victim.key = honest::to_key(std::next(records.begin(), place)->first, record->key.type);
  }
  const ErrCode code = honest::deleteRecord(idxState, own, &victim);
  honest::commitTransaction(own);
  return code;
}
