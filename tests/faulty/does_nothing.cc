// The source of two libraries, which differ in KEYDROME_OTHER_CALLS. Fault of not_found_only: every
// call returns KEY_NOTFOUND and stores nothing. Fault of stores_nothing: gets, scans and deletes
// return KEY_NOTFOUND, the other calls return SUCCESS, and nothing is stored.
// Must be found by: every correctness benchmark, in a short time. Early builds of real entries of
// the contest were like this.
#include "keydrome/index.h"

extern "C" {

ErrCode create(KeyType, char*) { return KEYDROME_OTHER_CALLS; }
ErrCode openIndex(const char*, IdxState** state) {
  static char handle;
  *state = reinterpret_cast<IdxState*>(&handle);
  return KEYDROME_OTHER_CALLS;
}
ErrCode closeIndex(IdxState*) { return KEYDROME_OTHER_CALLS; }
ErrCode beginTransaction(TxnState** transaction) {
  static char handle;
  *transaction = reinterpret_cast<TxnState*>(&handle);
  return KEYDROME_OTHER_CALLS;
}
ErrCode abortTransaction(TxnState*) { return KEYDROME_OTHER_CALLS; }
ErrCode commitTransaction(TxnState*) { return KEYDROME_OTHER_CALLS; }
ErrCode get(IdxState*, TxnState*, Record*) { return KEY_NOTFOUND; }
ErrCode getNext(IdxState*, TxnState*, Record*) { return KEY_NOTFOUND; }
ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) { return KEYDROME_OTHER_CALLS; }
ErrCode deleteRecord(IdxState*, TxnState*, Record*) { return KEY_NOTFOUND; }

}  // extern "C"
