// An index library in the test's process with snapshot isolation: if two concurrent transactions
// write the same record, the first commits, and the commit of the second returns DEADLOCK. The
// library loses no update, but is not serialisable.
//
// The library supports only what SmallBank needs without the extra transactions that check a
// library (stripes and canaries): one payload per key, no negative integer keys, and cursors that
// are moved only by getNext.
//
// Thread safety: one mutex guards each call that uses shared data. A get first yields the
// processor, so that transactions overlap on any machine.
#pragma once

#include <sched.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/player/index_api.h"

namespace keydrome::smallbank::snapshots {

using Place = std::pair<std::string, std::string>;  // index name, encoded key
using Payload = std::optional<std::string>;         // empty if the record was deleted

struct Version {
  uint64_t since;
  Payload payload;
};

struct Library {
  std::mutex mutex;  // guards all following members
  std::map<std::string, KeyType> types;
  std::map<Place, std::vector<Version>> records;
  uint64_t now = 0;
};

struct Handle {
  std::string index;
  KeyType type;
  std::string at;
};

struct Transaction {
  uint64_t snapshot;
  std::map<Place, Payload> writes;
};

inline std::unique_ptr<Library> library;

inline Handle& handle_of(IdxState* state) { return *reinterpret_cast<Handle*>(state); }
inline Transaction& of(TxnState* state) { return *reinterpret_cast<Transaction*>(state); }

inline std::string encode(const Key& key, KeyType type) {
  if (type == VARCHAR) return key.keyval.charkey;
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8) {
    text += static_cast<char>(static_cast<uint64_t>(key.keyval.intkey) >> shift);
  }
  return text;
}

inline void decode(const std::string& text, KeyType type, Key& key) {
  key.type = type;
  if (type == VARCHAR) {
    std::memcpy(key.keyval.charkey, text.c_str(), text.size() + 1);
    return;
  }
  key.keyval.intkey = 0;
  for (const char byte : text)
    key.keyval.intkey = key.keyval.intkey << 8 | static_cast<uint8_t>(byte);
}

inline Payload visible(const Transaction& transaction, const Place& place) {
  const auto own = transaction.writes.find(place);
  if (own != transaction.writes.end()) return own->second;
  Payload found;
  const auto versions = library->records.find(place);
  if (versions == library->records.end()) return found;
  for (const Version& version : versions->second) {
    if (version.since <= transaction.snapshot) found = version.payload;
  }
  return found;
}

inline ErrCode create(KeyType type, char* name) {
  const std::lock_guard lock(library->mutex);
  return library->types.emplace(name, type).second ? SUCCESS : DB_EXISTS;
}

inline ErrCode open(const char* name, IdxState** state) {
  const std::lock_guard lock(library->mutex);
  *state = reinterpret_cast<IdxState*>(new Handle{name, library->types.at(name), ""});
  return SUCCESS;
}

inline ErrCode close(IdxState* state) {
  delete &handle_of(state);
  return SUCCESS;
}

inline ErrCode begin(TxnState** state) {
  const std::lock_guard lock(library->mutex);
  *state = reinterpret_cast<TxnState*>(new Transaction{library->now, {}});
  return SUCCESS;
}

inline ErrCode abort(TxnState* state) {
  delete &of(state);
  return SUCCESS;
}

inline ErrCode commit(TxnState* state) {
  const std::lock_guard lock(library->mutex);
  Transaction& transaction = of(state);
  for (const auto& [place, payload] : transaction.writes) {
    const std::vector<Version>& versions = library->records[place];
    if (!versions.empty() && versions.back().since > transaction.snapshot) return DEADLOCK;
  }
  ++library->now;
  for (const auto& [place, payload] : transaction.writes) {
    library->records[place].push_back({library->now, payload});
  }
  return abort(state);
}

inline ErrCode get(IdxState* state, TxnState* transaction, Record* record) {
  sched_yield();
  const std::lock_guard lock(library->mutex);
  const Handle& handle = handle_of(state);
  const Payload found = visible(of(transaction), {handle.index, encode(record->key, handle.type)});
  if (!found) return KEY_NOTFOUND;
  std::memcpy(record->payload, found->c_str(), found->size() + 1);
  return SUCCESS;
}

inline ErrCode next(IdxState* state, TxnState* transaction, Record* record) {
  const std::lock_guard lock(library->mutex);
  Handle& handle = handle_of(state);
  auto& records = library->records;
  for (auto at = records.upper_bound({handle.index, handle.at});
       at != records.end() && at->first.first == handle.index; ++at) {
    const Payload found = visible(of(transaction), at->first);
    if (!found) continue;
    handle.at = at->first.second;
    decode(handle.at, handle.type, record->key);
    std::memcpy(record->payload, found->c_str(), found->size() + 1);
    return SUCCESS;
  }
  return DB_END;
}

inline ErrCode insert(IdxState* state, TxnState* transaction, Key* key, const char* payload) {
  const std::lock_guard lock(library->mutex);
  const Handle& handle = handle_of(state);
  const Place place{handle.index, encode(*key, handle.type)};
  if (transaction == nullptr) {
    library->records[place].push_back({++library->now, payload});
  } else {
    of(transaction).writes[place] = payload;
  }
  return SUCCESS;
}

inline ErrCode remove(IdxState* state, TxnState* transaction, Record* record) {
  const std::lock_guard lock(library->mutex);
  const Handle& handle = handle_of(state);
  const Place place{handle.index, encode(record->key, handle.type)};
  if (!visible(of(transaction), place)) return KEY_NOTFOUND;
  of(transaction).writes[place] = std::nullopt;
  return SUCCESS;
}

// Returns a new, empty library. It replaces the previous one.
inline player::IndexApi snapshot_index() {
  library = std::make_unique<Library>();
  return {.create = create,
          .openIndex = open,
          .closeIndex = close,
          .beginTransaction = begin,
          .abortTransaction = abort,
          .commitTransaction = commit,
          .get = get,
          .getNext = next,
          .insertRecord = insert,
          .deleteRecord = remove};
}

}  // namespace keydrome::smallbank::snapshots
