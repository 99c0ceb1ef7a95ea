// A library with one fault, for tests: of every hundred inserts of positive keys, one returns
// SUCCESS, but stores its record only when a later transaction begins with a scan. The final scan,
// which reads all records after the timed phases, is such a transaction. It finds all records, so
// it cannot find the fault. The extra reads at the end of a phase that only inserts must find it.
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/faulty/honest.h"

namespace {

struct PutOff {
  Key key;
  std::string payload;
};

std::atomic<uint64_t> inserts{0};  // relaxed order, because it protects no other data
std::mutex mutex;
std::vector<PutOff> put_off;  // guarded by the mutex; the benchmark has only one index
thread_local bool has_read = false;

void store_all(IdxState* index, TxnState* txn) {
  const std::scoped_lock lock(mutex);
  for (PutOff& record : std::exchange(put_off, {}))
    honest::insertRecord(index, txn, &record.key, record.payload.c_str());
}

}  // namespace

extern "C" {

ErrCode beginTransaction(TxnState** txn) {
  has_read = false;
  return honest::beginTransaction(txn);
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  has_read = true;
  return honest::get(idxState, txn, record);
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (!std::exchange(has_read, true)) store_all(idxState, txn);
  return honest::getNext(idxState, txn, record);
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  const bool forget =
      k->keyval.intkey > 0 && inserts.fetch_add(1, std::memory_order_relaxed) % 100 == 99;
  if (!forget) return honest::insertRecord(idxState, txn, k, payload);
  const std::scoped_lock lock(mutex);
  put_off.push_back({*k, payload});
  return SUCCESS;
}

}  // extern "C"
