// Fault: an exception crosses the C boundary.
// Must be found by: the violation "exception"; the player survives it.
#include <stdexcept>

#include "tests/faulty/honest.h"

extern "C" ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) {
  throw std::runtime_error("the contract forbids this");
}
