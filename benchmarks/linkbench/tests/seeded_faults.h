// An index library in the test's process with one chosen fault, to test that each check of the
// benchmark "linkbench" finds its fault.
//
// Only one such library exists at a time, because its state is global. Its functions are as
// thread-safe as the index API demands; a mutex guards the names of handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "benchmarks/kit/player/index_api.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome::linkbench::seeded {

// What goes wrong in the index Fault::index. Fault::nth counts the inserts into this index from 1:
// auto-commit inserts for kDropsLoading, inserts inside transactions for the other faults.
// kSkipsAfterGet ignores it.
enum class What {
  kDropsInsert,    // the nth insert inside a transaction has no effect
  kDropsLoading,   // the nth auto-commit insert has no effect
  kMisplaces,      // the nth insert inside a transaction uses a wrong key
  kLosesCommit,    // the transaction of the nth insert aborts, but its commit returns SUCCESS
  kSkipsAfterGet,  // a getNext after a get skips a record
};

struct Fault {
  What what;
  std::string_view index;
  uint32_t nth = 1;
};

inline player::IndexApi right;
inline Fault fault;
inline std::atomic<uint32_t> inserts;
inline std::mutex mutex;
inline std::map<IdxState*, std::string> names;  // guarded by mutex
inline thread_local TxnState* doomed = nullptr;
inline thread_local bool skips = false;

inline bool is_there(IdxState* state) {
  const std::lock_guard lock(mutex);
  return names[state] == fault.index;
}

inline ErrCode open(const char* name, IdxState** state) {
  const ErrCode code = right.openIndex(name, state);
  const std::lock_guard lock(mutex);
  names[*state] = name;
  return code;
}

inline ErrCode insert(IdxState* state, TxnState* transaction, Key* key, const char* payload) {
  const bool loading = transaction == nullptr;
  const bool hit =
      is_there(state) && loading == (fault.what == What::kDropsLoading) && ++inserts == fault.nth;
  Key place = *key;
  if (hit) {
    if (fault.what == What::kDropsInsert || fault.what == What::kDropsLoading) return SUCCESS;
    if (fault.what == What::kMisplaces) place.keyval.charkey[0] = 'x';
    if (fault.what == What::kLosesCommit) doomed = transaction;
  }
  return right.insertRecord(state, transaction, &place, payload);
}

inline ErrCode commit(TxnState* transaction) {
  const bool lost = doomed != nullptr && doomed == transaction;
  doomed = nullptr;
  return lost ? right.abortTransaction(transaction) : right.commitTransaction(transaction);
}

inline ErrCode get(IdxState* state, TxnState* transaction, Record* record) {
  skips = fault.what == What::kSkipsAfterGet && is_there(state);
  return right.get(state, transaction, record);
}

inline ErrCode next(IdxState* state, TxnState* transaction, Record* record) {
  if (skips) right.getNext(state, transaction, record);
  skips = false;
  return right.getNext(state, transaction, record);
}

// Returns a new, empty index library with the given fault.
inline player::IndexApi index_with(const Fault& seeded) {
  right = testing::test_index({});
  fault = seeded;
  inserts = 0;
  names.clear();
  player::IndexApi api = right;
  api.openIndex = open;
  api.insertRecord = insert;
  api.commitTransaction = commit;
  api.get = get;
  api.getNext = next;
  return api;
}

}  // namespace keydrome::linkbench::seeded
