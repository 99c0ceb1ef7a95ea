// Attack: stores only the tag of each payload and the length of its text, and returns a text of the
// right length for it. The library hopes that only tags are compared.
// Must be found by: the results of reads, because the evidence word has four bytes of the text, at a
// place that the referee chooses; and by the final scan.
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
