// An index library in the test's process that shows old rows of the index "subscriber", to test
// that the checks of the benchmark "tatp" find lost updates and stale reads.
//
// Only one such library exists at a time, because its state is global. Its functions are as
// thread-safe as the index API demands; a mutex guards the old rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "benchmarks/kit/player/index_api.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome::tatp::stale {

enum class What {
  kRow,   // an insert stores the first row of its key again, as if the update had been lost
  kRead,  // every tenth get returns the first row of its key
};

inline player::IndexApi right;
inline What what;
inline std::mutex mutex;
inline std::map<IdxState*, bool> is_subscriber;    // guarded by mutex
inline std::map<int32_t, std::string> first_rows;  // by key; guarded by mutex
inline thread_local uint32_t gets = 0;

inline ErrCode open(const char* name, IdxState** state) {
  const ErrCode code = right.openIndex(name, state);
  const std::lock_guard lock(mutex);
  is_subscriber[*state] = std::string_view(name) == "subscriber";
  return code;
}

// Returns the first row of the key. Returns nothing for keys of stripes (private-key checks) and of
// other indexes.
inline std::string first_row(IdxState* state, const Key& key, const char* payload) {
  const std::lock_guard lock(mutex);
  if (!is_subscriber[state] || key.keyval.shortkey <= 0) return "";
  if (payload != nullptr) first_rows.try_emplace(key.keyval.shortkey, payload);
  const auto row = first_rows.find(key.keyval.shortkey);
  return row == first_rows.end() ? "" : row->second;
}

inline ErrCode insert(IdxState* state, TxnState* transaction, Key* key, const char* payload) {
  const std::string first = first_row(state, *key, payload);
  const bool replaces = what == What::kRow && !first.empty();
  return right.insertRecord(state, transaction, key, replaces ? first.c_str() : payload);
}

inline ErrCode get(IdxState* state, TxnState* transaction, Record* record) {
  const ErrCode code = right.get(state, transaction, record);
  if (what != What::kRead || code != SUCCESS || ++gets % 10 != 0) return code;
  const std::string first = first_row(state, record->key, nullptr);
  if (!first.empty()) std::memcpy(record->payload, first.c_str(), first.size() + 1);
  return code;
}

// Returns a new, empty index library with the given fault.
inline player::IndexApi index_with(What fault) {
  right = testing::test_index({});
  what = fault;
  is_subscriber.clear();
  first_rows.clear();
  player::IndexApi api = right;
  api.openIndex = open;
  api.insertRecord = insert;
  api.get = get;
  return api;
}

}  // namespace keydrome::tatp::stale
