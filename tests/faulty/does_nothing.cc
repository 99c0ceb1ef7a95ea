// The source of two faulty libraries for tests, which differ in KEYDROME_OTHER_CALLS. The library
// not_found_only returns KEY_NOTFOUND from every call. The library stores_nothing returns
// KEY_NOTFOUND from gets, scans and deletes, and SUCCESS from the other calls. Both store nothing.
// Every correctness benchmark must find these faults in a short time. Early builds of real entries
// of the contest were like this.
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
