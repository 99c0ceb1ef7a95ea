// The smallest complete index library in C++ that implements contract A, the specification in
// keydrome/index.h. Copy this file, build it with the command below, then make it faster. minimal.c
// does the same in C and has a longer explanation.
//
//   g++ -std=c++17 -O2 -shared -fPIC -I../include minimal.cc -o minimal_cxx.so -lpthread
//
// An index is a sorted set of (key, payload) pairs. Keys are encoded as byte strings that sort in
// the order of the contract. One lock makes transactions serialisable: a transaction takes the lock
// at its first call on data and keeps the lock until the transaction ends. No exception may leave a
// function of the contract. If the memory is exhausted, a call therefore returns FAILURE, and the
// caller aborts the transaction. The abort must succeed although the memory is exhausted, so it
// allocates nothing.
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "keydrome/index.h"

using Pair = std::pair<std::string, std::string>;

struct Index {
  KeyType type;
  std::set<Pair> pairs;
};

struct IdxState {
  Index* index = nullptr;    // nullptr: closed
  unsigned long number = 0;  // number of the transaction to which the cursor belongs
  bool after_key = false;    // true: the cursor is after all pairs with the key last.first
  Pair last{};               // if after_key is false, the cursor is after this pair
};

struct TxnState {
  struct Change {
    Index* index;
    Pair inserted;                      // not used if the change is a deletion
    std::set<Pair>::node_type deleted;  // the deleted pair; empty if the change is an insertion
  };
  bool open = false, locked = false;
  unsigned long number = 0;
  std::vector<Change> changes;
};

static std::mutex& directory_lock = *new std::mutex;  // never destroyed: threads may outlive main
static std::mutex& data_lock = *new std::mutex;
// Both containers are protected by directory_lock.
static auto& directory = *new std::map<std::string, Index>;
// openIndex reuses closed handles. They are never freed, so that a call with a closed handle can
// return DB_DNE.
static auto& closed_handles = *new std::vector<IdxState*>;
static thread_local TxnState own;

// Encodes a key as bytes. Numbers become big-endian with the sign bit flipped, so that the bytes
// sort like the numbers.
static std::string bytes_of(const Key& key) {
  if (key.type == VARCHAR) return key.keyval.charkey;
  const int size = key.type == SHORT ? 4 : 8;
  const uint64_t value = key.type == SHORT ? static_cast<uint32_t>(key.keyval.shortkey) ^ 1u << 31
                                           : static_cast<uint64_t>(key.keyval.intkey) ^ 1ull << 63;
  std::string bytes;
  for (int i = size - 1; i >= 0; --i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

// Decodes the bytes that bytes_of() has made from a key of the same type.
static void key_of(KeyType type, const std::string& bytes, Key* key) {
  uint64_t value = 0;
  if (type != VARCHAR) {
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  }
  key->type = type;
  if (type == SHORT) key->keyval.shortkey = static_cast<int32_t>(value ^ 1u << 31);
  if (type == INT) key->keyval.intkey = static_cast<int64_t>(value ^ 1ull << 63);
  if (type == VARCHAR) bytes.copy(key->keyval.charkey, MAX_VARCHAR_LEN + 1);
  if (type == VARCHAR) key->keyval.charkey[bytes.size()] = 0;
}

static ErrCode check(const IdxState* handle, const Key& key) {
  if (handle == nullptr || handle->index == nullptr) return DB_DNE;
  if (key.type != handle->index->type) return FAILURE;
  const bool ends = key.type != VARCHAR || std::memchr(key.keyval.charkey, 0, MAX_VARCHAR_LEN + 1);
  return ends ? SUCCESS : FAILURE;
}

// Runs `body` and returns FAILURE if it cannot allocate memory.
template <typename Body>
static ErrCode guarded(Body body) try {
  return body();
} catch (const std::bad_alloc&) {
  return FAILURE;
}

// Takes the lock and runs `body`, which is one call on data. An auto-commit call (txn == nullptr)
// releases the lock afterwards; a transaction keeps it until the transaction ends. If the thread's
// own transaction holds the lock, an auto-commit call would wait for its own thread for ever, so it
// returns DEADLOCK.
template <typename Body>
static ErrCode locked(TxnState* txn, Body body) {
  if (txn == nullptr && own.locked) return DEADLOCK;
  if (txn == nullptr) {
    const std::lock_guard<std::mutex> guard(data_lock);
    return guarded(body);
  }
  if (txn != &own || !own.open) return TXN_DNE;
  if (!own.locked) data_lock.lock();
  own.locked = true;
  return guarded(body);
}

static ErrCode finish(TxnState* txn, bool commit) {
  if (txn != &own || !own.open) return TXN_DNE;
  for (; !own.changes.empty(); own.changes.pop_back()) {
    TxnState::Change& change = own.changes.back();
    if (!commit && change.deleted)
      change.index->pairs.insert(std::move(change.deleted));
    else if (!commit)
      change.index->pairs.erase(change.inserted);
  }
  if (own.locked) data_lock.unlock();
  own.open = own.locked = false;
  return SUCCESS;
}

ErrCode create(KeyType type, char* name) {
  const std::lock_guard<std::mutex> guard(directory_lock);
  return guarded(
      [&] { return directory.try_emplace(name, Index{type, {}}).second ? SUCCESS : DB_EXISTS; });
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  const std::lock_guard<std::mutex> guard(directory_lock);
  return guarded([&] {
    const auto place = directory.find(name);
    if (place == directory.end()) return DB_DNE;
    closed_handles.reserve(closed_handles.size() + 1);
    if (closed_handles.empty()) closed_handles.push_back(new IdxState);
    *idxState = closed_handles.back();
    closed_handles.pop_back();
    (*idxState)->index = &place->second;
    (*idxState)->number = 0;
    return SUCCESS;
  });
}

ErrCode closeIndex(IdxState* idxState) {
  if (idxState == nullptr || idxState->index == nullptr) return DB_DNE;
  const std::lock_guard<std::mutex> guard(directory_lock);
  return guarded([&] {
    closed_handles.push_back(idxState);
    idxState->index = nullptr;
    return SUCCESS;
  });
}

ErrCode beginTransaction(TxnState** txn) {
  if (own.open) return TXN_EXISTS;
  own.open = true;
  ++own.number;
  *txn = &own;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) { return finish(txn, false); }
ErrCode commitTransaction(TxnState* txn) { return finish(txn, true); }

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (const ErrCode code = check(idxState, record->key); code != SUCCESS) return code;
  return locked(txn, [&] {
    const Pair wanted(bytes_of(record->key), "");
    const auto place = idxState->index->pairs.lower_bound(wanted);
    const bool found = place != idxState->index->pairs.end() && place->first == wanted.first;
    if (txn != nullptr) {
      idxState->number = own.number;
      idxState->after_key = !found;
      idxState->last = found ? *place : wanted;
    }
    if (found) record->payload[place->second.copy(record->payload, MAX_PAYLOAD_LEN)] = 0;
    return found ? SUCCESS : KEY_NOTFOUND;
  });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr || idxState->index == nullptr) return DB_DNE;
  return locked(txn, [&] {
    const std::set<Pair>& pairs = idxState->index->pairs;
    auto place = pairs.begin();
    if (txn != nullptr && idxState->number == own.number) {
      place = pairs.upper_bound(idxState->last);
      while (idxState->after_key && place != pairs.end() && place->first == idxState->last.first) {
        ++place;  // get() did not find this key: skip pairs of it that were inserted later
      }
    }
    if (place == pairs.end()) return DB_END;
    if (txn != nullptr) {
      idxState->number = own.number;
      idxState->after_key = false;
      idxState->last = *place;
    }
    key_of(idxState->index->type, place->first, &record->key);
    record->payload[place->second.copy(record->payload, MAX_PAYLOAD_LEN)] = 0;
    return SUCCESS;
  });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (const ErrCode code = check(idxState, *k); code != SUCCESS) return code;
  if (std::strlen(payload) > MAX_PAYLOAD_LEN) return FAILURE;
  return locked(txn, [&] {
    const Pair pair(bytes_of(*k), payload);
    if (idxState->index->pairs.count(pair) != 0) return ENTRY_EXISTS;
    // If the insertion then fails, an abort erases a pair that is not there, which does nothing.
    if (txn != nullptr) own.changes.push_back({idxState->index, pair, {}});
    idxState->index->pairs.insert(pair);
    return SUCCESS;
  });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (const ErrCode code = check(idxState, record->key); code != SUCCESS) return code;
  return locked(txn, [&] {
    std::set<Pair>& pairs = idxState->index->pairs;
    const Pair wanted(bytes_of(record->key), record->payload);
    const bool all = wanted.second.empty();
    bool deleted = false;
    auto place = pairs.lower_bound(wanted);
    while (place != pairs.end() && (all ? place->first == wanted.first : *place == wanted)) {
      if (txn != nullptr) own.changes.push_back({idxState->index, {}, {}});
      auto node = pairs.extract(place++);
      if (txn != nullptr) own.changes.back().deleted = std::move(node);
      deleted = true;
    }
    return deleted ? SUCCESS : all ? KEY_NOTFOUND : ENTRY_DNE;
  });
}
