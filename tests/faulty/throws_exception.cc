// A library with one fault, for tests: an exception leaves a function of the C interface. The
// player, the program that calls the library, must catch it and report the finding "exception".
#include <stdexcept>

#include "tests/faulty/honest.h"

extern "C" ErrCode insertRecord(IdxState*, TxnState*, Key*, const char*) {
  throw std::runtime_error("the contract forbids this");
}
