// A library with one fault, for tests: every beginTransaction allocates 56 bytes that are never
// freed, for which malloc takes 64 bytes. The instance `extremes` of the benchmark `scenarios` must
// report the warning `memory_growth`.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/faulty/honest.h"

namespace {
std::atomic<void*> newest = nullptr;  // keeps the compiler from removing the allocation
}  // namespace

extern "C" ErrCode beginTransaction(TxnState** txn) {
  constexpr std::size_t kBytes = 56;
  if (void* lost = std::malloc(kBytes)) newest = std::memset(lost, 1, kBytes);
  return honest::beginTransaction(txn);
}
