// Case D33: a library that returns SUCCESS when a record that already exists is inserted again.
#include "tests/faulty/honest.h"

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  const ErrCode code = honest::insertRecord(idxState, txn, k, payload);
  return code == ENTRY_EXISTS ? SUCCESS : code;
}
