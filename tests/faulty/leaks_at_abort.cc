// A library with one fault, for tests: every abortTransaction allocates a string of 40 characters
// that is never freed. The instance `extremes` of the benchmark `scenarios` must report the warning
// `memory_growth`, and name transactions that abort.
#include <atomic>
#include <string>

#include "tests/faulty/honest.h"

namespace {
std::atomic<std::string*> newest = nullptr;  // keeps the compiler from removing the allocation
}  // namespace

extern "C" ErrCode abortTransaction(TxnState* txn) {
  newest = new std::string(40, 'x');
  return honest::abortTransaction(txn);
}
