// Fault: a get returns payloads of more than 12 bytes with the high half of byte 12 inverted. What is
// stored, and what scans return, is right.
// Must be found by: the results of reads. Byte 12 is the first byte of a window of the evidence word
// (benchmarks/kit/format/evidence_word.h), and the word has the code in the place of its high half.
#include <cstring>

#include "tests/faulty/honest.h"

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  constexpr size_t kByte = 12;
  const ErrCode code = honest::get(idxState, txn, record);
  if (code != SUCCESS || std::strlen(record->payload) <= kByte) return code;
  record->payload[kByte] = static_cast<char>(record->payload[kByte] ^ 0xf0);
  return code;
}
