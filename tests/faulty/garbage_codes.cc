// Fault: insertRecord answers numbers that are no ErrCode, though it does its work.
// Must be found by: code violations.
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
