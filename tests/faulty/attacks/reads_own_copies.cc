// Attack: answers gets from a copy of each thread's own, without a lock. A transaction takes the
// lock of all data only when it writes, scans, or reads a key that the thread has never seen. So
// its gets may return records that another thread has replaced since. Passes timed runs, because
// some order of the transactions explains each result for itself. Must be found by: the suite
// scenarios (docs/decisions/0024-shared-reads-without-times.md).
//
// KEYDROME_SHARED_COPIES builds the honest library `reads_shared_copies` from the same source: all
// threads use one copy, and every transaction holds the lock. The difference between the times of
// the two libraries is what the attack gains.
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/faulty/honest.h"

namespace {

#ifdef KEYDROME_SHARED_COPIES
constexpr bool kShared = true;
#else
constexpr bool kShared = false;
#endif

struct Place {
  const honest::Index* index;
  int64_t key;
  bool operator==(const Place&) const = default;
};

struct PlaceHash {
  size_t operator()(const Place& place) const {
    return static_cast<size_t>(place.key) * 0x9e3779b97f4a7c15u ^
           reinterpret_cast<size_t>(place.index);
  }
};

using Copies = std::unordered_map<Place, std::string, PlaceHash>;

// The open transaction of a thread. Its address is the TxnState that the client gets.
struct Transaction {
  TxnState* locked = nullptr;  // the transaction of honest.h, which holds the lock; null: not yet
  std::vector<Place> changed;
  // The handle and key of the last get that a copy has answered. The cursor is placed when a scan
  // needs it.
  IdxState* handle = nullptr;
  Key at{};
  bool open = false;
};

thread_local Transaction own;

// REQUIRES: if the copies are shared, the caller's transaction holds the lock.
Copies& copies() {
  static Copies shared;
  static thread_local Copies of_thread;
  return kShared ? shared : of_thread;
}

TxnState* address() { return reinterpret_cast<TxnState*>(&own); }

// Takes the lock, unless the transaction holds it already.
ErrCode take_lock() {
  return own.locked != nullptr ? SUCCESS : honest::beginTransaction(&own.locked);
}

ErrCode begin() {
  if (own.open) return TXN_EXISTS;
  if (kShared && take_lock() != SUCCESS) return DEADLOCK;
  own.open = true;
  return SUCCESS;
}

ErrCode end(TxnState* txn, ErrCode (*how)(TxnState*)) {
  if (!own.open || txn != address()) return TXN_DNE;
  if (how == honest::abortTransaction) {
    for (const Place& place : own.changed) copies().erase(place);
  }
  const ErrCode code = own.locked != nullptr ? how(own.locked) : SUCCESS;
  own = {};
  return code;
}

// Makes a call under the lock. A call without a transaction gets one of its own.
template <typename Call>
ErrCode locked(TxnState* txn, const Call& call) {
  if (txn != nullptr && (!own.open || txn != address())) return TXN_DNE;
  const bool alone = txn == nullptr;
  if (alone) {
    const ErrCode begun = begin();
    if (begun != SUCCESS) return DEADLOCK;
  }
  ErrCode code = take_lock();
  if (code == SUCCESS) code = call(own.locked);
  if (alone) end(address(), honest::commitTransaction);
  return code;
}

// Copies what the index holds under a key, if this is one payload. REQUIRES: the lock is held.
void copy(const IdxState* idxState, const Key& key) {
  if (key.type != INT) return;
  const Place place{&honest::index_of(idxState), key.keyval.intkey};
  const auto found = place.index->records.find(honest::to_ordered(key));
  if (found == place.index->records.end() || found->second.size() != 1) {
    copies().erase(place);
  } else {
    copies()[place] = *found->second.begin();
  }
  own.changed.push_back(place);
}

}  // namespace

extern "C" ErrCode beginTransaction(TxnState** txn) {
  const ErrCode code = begin();
  if (code == SUCCESS) *txn = address();
  return code;
}

extern "C" ErrCode commitTransaction(TxnState* txn) { return end(txn, honest::commitTransaction); }
extern "C" ErrCode abortTransaction(TxnState* txn) { return end(txn, honest::abortTransaction); }

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  if (txn == address() && own.open && record->key.type == INT) {
    const auto found = copies().find({&honest::index_of(idxState), record->key.keyval.intkey});
    if (found != copies().end()) {
      std::strcpy(record->payload, found->second.c_str());
      own.handle = idxState;
      own.at = record->key;
      return SUCCESS;
    }
  }
  return locked(txn, [&](TxnState* held) {
    const ErrCode code = honest::get(idxState, held, record);
    if (own.handle == idxState) own.handle = nullptr;
    if (code == SUCCESS) copy(idxState, record->key);
    return code;
  });
}

extern "C" ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  if (txn == nullptr) return honest::getNext(idxState, nullptr, record);
  return locked(txn, [&](TxnState* held) {
    if (own.handle == idxState) {
      Record place{};
      place.key = own.at;
      honest::get(idxState, held, &place);
      own.handle = nullptr;
    }
    return honest::getNext(idxState, held, record);
  });
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (idxState == nullptr) return DB_DNE;
  return locked(txn, [&](TxnState* held) {
    const ErrCode code = honest::insertRecord(idxState, held, k, payload);
    if (code == SUCCESS) copy(idxState, *k);
    return code;
  });
}

extern "C" ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  return locked(txn, [&](TxnState* held) {
    const Key key = record->key;
    const ErrCode code = honest::deleteRecord(idxState, held, record);
    if (code == SUCCESS) copy(idxState, key);
    return code;
  });
}
