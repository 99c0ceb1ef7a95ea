// Fault: every beginTransaction allocates 1 KiB that is never freed.
// Must be found by: the instance `extremes` of the benchmark scenarios, as the warning
// `memory_growth`.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/faulty/honest.h"

namespace {
std::atomic<void*> newest = nullptr;  // keeps the compiler from removing the allocation
}  // namespace

extern "C" ErrCode beginTransaction(TxnState** txn) {
  constexpr std::size_t kBytes = 1024;
  if (void* lost = std::malloc(kBytes)) newest = std::memset(lost, 1, kBytes);
  return honest::beginTransaction(txn);
}
