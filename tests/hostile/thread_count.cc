// D50: right while few threads call, as in a test; when there are more than two, every tenth
// insertion is forgotten.
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
