// A library with one fault, for tests: every commit that fails allocates 4 KiB that are never
// freed. To have commits that fail, the library answers DEADLOCK to every third commit, and rolls
// the transaction back. The instance `extremes` of the benchmark `scenarios` must report the
// warning `memory_growth`.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/faulty/honest.h"

namespace {
std::atomic<unsigned> commits = 0;
std::atomic<void*> newest = nullptr;  // keeps the compiler from removing the allocation
}  // namespace

extern "C" ErrCode commitTransaction(TxnState* txn) {
  constexpr std::size_t kBytes = 4096;
  if (txn == nullptr || ++commits % 3 != 0) return honest::commitTransaction(txn);
  if (void* lost = std::malloc(kBytes)) newest = std::memset(lost, 1, kBytes);
  const ErrCode code = honest::abortTransaction(txn);
  return code == SUCCESS ? DEADLOCK : code;
}
