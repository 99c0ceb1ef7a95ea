// A library with one fault, for tests: for 64 calls after a thread has deleted a key, later
// transactions of this thread still read the old payload. Benchmarks must find the fault, because
// they read keys that the thread has changed within its last 64 calls.
#include <array>
#include <string>

#include "tests/faulty/honest.h"

namespace {

constexpr uint64_t kCalls = 64;

// A record that the thread deleted.
struct Deleted {
  IdxState* index = nullptr;
  honest::OrderedKey key;
  std::string payload;
  uint64_t call = 0, transaction = 0;
};

struct Thread {
  uint64_t calls = 0, transactions = 0, deletes = 0;
  std::array<Deleted, kCalls> deleted;
};
thread_local Thread self;

}  // namespace

extern "C" {

ErrCode beginTransaction(TxnState** txn) {
  ++self.calls;
  ++self.transactions;
  return honest::beginTransaction(txn);
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  ++self.calls;
  Record old = *record;
  const bool found = record->payload[0] == '\0' && honest::get(idxState, txn, &old) == SUCCESS;
  const ErrCode code = honest::deleteRecord(idxState, txn, record);
  if (found && code == SUCCESS) {
    self.deleted[self.deletes++ % kCalls] = {idxState, honest::to_ordered(record->key), old.payload,
                                             self.calls, self.transactions};
  }
  return code;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  ++self.calls;
  const ErrCode code = honest::get(idxState, txn, record);
  if (code == DEADLOCK) return code;
  for (const Deleted& old : self.deleted) {
    const bool recent = old.index == idxState && old.call + kCalls >= self.calls &&
                        old.transaction < self.transactions;
    if (!recent || old.key != honest::to_ordered(record->key)) continue;
    std::strcpy(record->payload, old.payload.c_str());
    return SUCCESS;
  }
  return code;
}

}  // extern "C"
