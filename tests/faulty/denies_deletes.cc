// A library with one fault, for tests: deleteRecord deletes the record but returns KEY_NOTFOUND. It
// makes an exception for keys of stripes, which are extra transactions of the benchmark with known
// results. So stripes cannot find the fault. The judge must find it in the results of all other
// deletions.
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
