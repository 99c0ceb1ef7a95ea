// A library with one fault, for tests: a get returns payloads of more than 12 bytes with the high
// half of byte 12 inverted. The stored payloads and the results of scans are right. The judge must
// find the fault in the results of reads.
//
// Each read leaves a word of 8 bytes for the judge (benchmarks/kit/format/evidence_word.h). The
// word has the result code, the payload's tag (its unique number), and four bytes of the payload at
// some position, the window. Byte 12 can be the first byte of the window. The high half of this
// byte has no bits of its own in the word, because the result code uses them. Instead, it is XORed
// into the bits of the second byte, so the fault changes the word.
#include <cstring>

#include "tests/faulty/honest.h"

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  constexpr size_t kByte = 12;
  const ErrCode code = honest::get(idxState, txn, record);
  if (code != SUCCESS || std::strlen(record->payload) <= kByte) return code;
  record->payload[kByte] = static_cast<char>(record->payload[kByte] ^ 0xf0);
  return code;
}
