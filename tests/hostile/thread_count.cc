// Case D50: a library that works correctly while at most two threads insert, as in a small test.
// With more threads it loses every tenth insertion.
#include <atomic>

#include "tests/faulty/honest.h"

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  static std::atomic<int> threads{0};
  static std::atomic<unsigned> insertions{0};
  static thread_local const int kMine = ++threads;
  const bool is_measured = kMine > 2 || threads.load() > 2;
  if (is_measured && ++insertions % 10 == 0) return SUCCESS;
  return honest::insertRecord(idxState, txn, k, payload);
}
