// A library with one fault, for tests: one read in ten returns a payload with its first byte
// changed. The checks of the results of reads, or the final scan of all records, must find the
// fault.
#include <atomic>

#include "tests/faulty/honest.h"

namespace {

std::atomic<uint64_t> reads{0};  // relaxed order, because it protects no other data

ErrCode tamper(ErrCode code, Record* record) {
  if (code != SUCCESS || reads.fetch_add(1, std::memory_order_relaxed) % 10 != 9) return code;
  record->payload[0] = record->payload[0] == 'x' ? 'y' : 'x';
  return code;
}

}  // namespace

extern "C" {

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  return tamper(honest::get(idxState, txn, record), record);
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  return tamper(honest::getNext(idxState, txn, record), record);
}

}  // extern "C"
