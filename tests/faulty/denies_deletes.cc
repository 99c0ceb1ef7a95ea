// Fault: deleteRecord deletes and answers KEY_NOTFOUND, except under keys that only stripes have.
// Must be found by: the evidence of deletes.
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
