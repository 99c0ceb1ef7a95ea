// A library that attacks the measurement: it stores only the tag of each payload (the unique number
// at its beginning) and the length of its text, and returns another text of this length. The
// library hopes that only tags are compared.
//
// The results of reads, or the final scan of all records, must show the attack. Each read leaves a
// word for the referee, the process that judges. The word has four bytes of the text, from a place
// that the referee chooses.
#include <algorithm>
#include <string>

#include "benchmarks/kit/format/program.h"
#include "tests/faulty/attacks/fast_reads.h"

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  std::string text = payload;
  const size_t tag = std::min<size_t>(text.size(), keydrome::format::kTagBytes);
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(tag), text.end(), 'x');
  return honest::insertRecord(idxState, txn, k, text.c_str());
}
