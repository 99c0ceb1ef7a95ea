// Fault: deleteRecord deletes the record but returns KEY_NOTFOUND. Stripes, extra transactions of
// the benchmark with known results, cannot find the fault, because the result for their keys is
// right.
// Must be found by: the results of all other deletions.
#include "tests/faulty/honest.h"

namespace {

bool in_stripes(const Key& key) {
  const honest::OrderedKey ordered = honest::to_ordered(key);
  return ordered.first < 0 || ordered.second.starts_with('!');
}

}  // namespace

extern "C" ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  const ErrCode code = honest::deleteRecord(idxState, txn, record);
  return code == SUCCESS && !in_stripes(record->key) ? KEY_NOTFOUND : code;
}
