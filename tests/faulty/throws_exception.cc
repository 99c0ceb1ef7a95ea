// Fault: an exception leaves a function of the C interface.
// Must be found by: the player, the program that calls the library. It catches the exception and
// reports the finding "exception".
#include <stdexcept>

#include "tests/faulty/honest.h"

extern "C" ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) {
  throw std::runtime_error("the contract forbids this");
}
