// A library with one fault, for tests: insertRecord inserts the record, but then returns 77, which
// is no value of ErrCode. The checks of result codes must report the finding undocumented_code.
#include <cstring>

#include "tests/faulty/honest.h"

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  const ErrCode code = honest::insertRecord(idxState, txn, k, payload);
  if (code != SUCCESS) return code;
  constexpr uint32_t kNoSuchCode = 77;
  ErrCode garbage = SUCCESS;
  std::memcpy(&garbage, &kNoSuchCode, sizeof garbage);
  return garbage;
}
