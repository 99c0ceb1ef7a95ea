// A library with one fault, for tests: every call returns FAILURE. Every correctness benchmark must
// find the fault in a short time.
#include "keydrome/index.h"

extern "C" {

ErrCode create(KeyType, char*) { return FAILURE; }
ErrCode openIndex(const char*, IdxState**) { return FAILURE; }
ErrCode closeIndex(IdxState*) { return FAILURE; }
ErrCode beginTransaction(TxnState**) { return FAILURE; }
ErrCode abortTransaction(TxnState*) { return FAILURE; }
ErrCode commitTransaction(TxnState*) { return FAILURE; }
ErrCode get(IdxState*, TxnState*, Record*) { return FAILURE; }
ErrCode getNext(IdxState*, TxnState*, Record*) { return FAILURE; }
ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) { return FAILURE; }
ErrCode deleteRecord(IdxState*, TxnState*, Record*) { return FAILURE; }

}  // extern "C"
