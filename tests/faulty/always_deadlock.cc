// A library with one fault, for tests: every data call in a transaction returns DEADLOCK, so no
// transaction ever commits. The player, the program that calls the library, must give up long
// before the deadline of the phase. The report must then have the finding no_progress.
#include "tests/faulty/honest.h"

extern "C" {

ErrCode get(IdxState*, TxnState*, Record*) { return DEADLOCK; }

ErrCode getNext(IdxState*, TxnState*, Record*) { return DEADLOCK; }

ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) { return DEADLOCK; }

ErrCode deleteRecord(IdxState*, TxnState*, Record*) { return DEADLOCK; }

}  // extern "C"
