// Fault: every data call in a transaction answers DEADLOCK, so no transaction ever commits.
// Must be found by: no_progress, long before the phase's deadline.
#include "tests/faulty/honest.h"

extern "C" {

ErrCode get(IdxState*, TxnState*, Record*) { return DEADLOCK; }

ErrCode getNext(IdxState*, TxnState*, Record*) { return DEADLOCK; }

ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) { return DEADLOCK; }

ErrCode deleteRecord(IdxState*, TxnState*, Record*) { return DEADLOCK; }

}  // extern "C"
