// A library with one fault, for tests: the first get in any transaction makes a copy of the index,
// which is never updated. All scans that follow a get in their transaction return the records of
// this copy. Gets see all records. Scans in transactions without a get see them too, for example
// the final scan that checks all records. The extra short scans that benchmarks make in phases that
// insert must find the fault.
#include <map>
#include <mutex>
#include <string>

#include "tests/faulty/honest.h"

namespace {

using Copy = std::multimap<honest::OrderedKey, std::string>;

std::mutex mutex;
std::map<KeyType, Copy> copies;  // guarded by the mutex; one index of each type
thread_local bool has_read = false;
thread_local honest::OrderedKey last_key;
thread_local KeyType type = INT;

// Copies all records of the index, with a scan in the transaction of the caller.
void copy_all(IdxState* index, TxnState* txn, Copy& copy) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.key.type = type;
  while (honest::getNext(index, txn, &record) == SUCCESS)
    copy.emplace(honest::to_ordered(record.key), record.payload);
}

}  // namespace

extern "C" {

ErrCode beginTransaction(TxnState** txn) {
  has_read = false;
  return honest::beginTransaction(txn);
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  type = record->key.type;
  last_key = honest::to_ordered(record->key);
  if (txn != nullptr && !has_read) {
    const std::scoped_lock lock(mutex);
    if (!copies.contains(type)) copy_all(idxState, txn, copies[type]);
  }
  has_read = true;
  return honest::get(idxState, txn, record);
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (!has_read) return honest::getNext(idxState, txn, record);
  const std::scoped_lock lock(mutex);
  const auto next = copies[type].upper_bound(last_key);
  if (next == copies[type].end()) return DB_END;
  last_key = next->first;
  record->key = honest::to_key(next->first, type);
  std::strcpy(record->payload, next->second.c_str());
  return SUCCESS;
}

}  // extern "C"
