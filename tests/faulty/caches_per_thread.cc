// A library with one fault, for tests: in transactions, each thread answers gets from what it has
// read or written itself, although another thread may have changed the key since. The benchmark
// `scenarios` must find the fault. Timed runs do not find it
// (docs/decisions/0024-shared-reads-without-times.md).
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "tests/faulty/honest.h"

namespace {

using Place = std::pair<const honest::Index*, honest::OrderedKey>;

thread_local std::map<Place, std::string> seen;

Place place_of(const IdxState* idxState, const Key& key) {
  return {&honest::index_of(idxState), honest::to_ordered(key)};
}

// REQUIRES: the transaction holds the lock of all data.
bool has_one_payload(const Place& place) {
  const auto found = place.first->records.find(place.second);
  return found == place.first->records.end() || found->second.size() == 1;
}

}  // namespace

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  const ErrCode code = honest::get(idxState, txn, record);
  if (txn == nullptr || (code != SUCCESS && code != KEY_NOTFOUND)) return code;
  const Place place = place_of(idxState, record->key);
  if (!has_one_payload(place)) return code;
  const auto found = seen.find(place);
  if (found == seen.end()) {
    if (code == SUCCESS) seen[place] = record->payload;
    return code;
  }
  std::strcpy(record->payload, found->second.c_str());
  return SUCCESS;
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  const ErrCode code = honest::insertRecord(idxState, txn, k, payload);
  if (code == SUCCESS) seen[place_of(idxState, *k)] = payload;
  return code;
}

extern "C" ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  const Place place = place_of(idxState, record->key);
  const ErrCode code = honest::deleteRecord(idxState, txn, record);
  if (code == SUCCESS) seen.erase(place);
  return code;
}

extern "C" ErrCode abortTransaction(TxnState* txn) {
  seen.clear();
  return honest::abortTransaction(txn);
}
