// Fault: every data call in a transaction returns DEADLOCK, so no transaction ever commits.
// Must be found by: the player, the program that calls the library. The player gives up long before
// the deadline of the phase; finding no_progress.
#include "tests/faulty/honest.h"

extern "C" {

ErrCode get(IdxState*, TxnState*, Record*) { return DEADLOCK; }

ErrCode getNext(IdxState*, TxnState*, Record*) { return DEADLOCK; }

ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) { return DEADLOCK; }

ErrCode deleteRecord(IdxState*, TxnState*, Record*) { return DEADLOCK; }

}  // extern "C"
