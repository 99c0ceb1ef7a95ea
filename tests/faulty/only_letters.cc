// A library with one fault, for tests: it knows only keys like those of the contest of 2009. A
// string key with a byte that is neither a letter nor an underscore ends the process, and so does a
// negative integer. The instance `keys` of the benchmark `scenarios` must find the fault. The
// benchmarks that repeat the contest do not find it.
#include <cctype>
#include <cstdlib>

#include "tests/faulty/honest.h"

namespace {

void check(const Key& key) {
  if (key.type == SHORT && key.keyval.shortkey < 0) std::abort();
  if (key.type == INT && key.keyval.intkey < 0) std::abort();
  if (key.type != VARCHAR) return;
  for (const char* byte = key.keyval.charkey; *byte != '\0'; ++byte) {
    if (std::isalpha(static_cast<unsigned char>(*byte)) == 0 && *byte != '_') std::abort();
  }
}

}  // namespace

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  check(record->key);
  return honest::get(idxState, txn, record);
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  check(*k);
  return honest::insertRecord(idxState, txn, k, payload);
}

extern "C" ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  check(record->key);
  return honest::deleteRecord(idxState, txn, record);
}
