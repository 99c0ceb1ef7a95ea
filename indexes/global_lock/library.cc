// Implements the ten functions of contract A (keydrome/index.h) with sorted sets and one lock. The
// code is so simple that a reader can check it. Therefore the results of other libraries are
// compared with the results of global_lock. global_lock is also the control library: every ranked
// library is timed in the same sessions (executions of a benchmark) as global_lock. The time of the
// ranked library is then divided by the time of global_lock, so that noise of the machine cancels.
//
// One lock on the data serialises transactions. A transaction takes the lock at its first call on
// data and keeps the lock until the transaction ends. So the serial order is the order in which
// transactions take the lock, and this order agrees with real time. enter() describes the only case
// in which a call returns DEADLOCK. The lock is a pthread mutex. Threads that wait for the lock
// sleep, and do not get it in the order in which they arrived.
//
// Thread safety: handles and transactions belong to their thread's ThreadState, and only that
// thread uses them. The directory of indexes has its own lock. create and openIndex take only this
// lock, so they never wait for a transaction.
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "indexes/common/guarded.h"
#include "indexes/common/handle_pool.h"
#include "indexes/common/key_bytes.h"
#include "indexes/global_lock/store.h"
#include "keydrome/index.h"

namespace keydrome {
namespace {

// The data of all threads. It is never destroyed, because threads may still run when main returns.
struct Library {
  std::mutex directory_lock;
  std::map<std::string, std::unique_ptr<Index>, std::less<>> directory;  // under directory_lock
  std::mutex data_lock;  // guards the pairs of all indexes
};

Library& library() {
  static Library* const instance = new Library;
  return *instance;
}

// The position from which getNext continues. It is valid only for the transaction with the number
// `transaction`. In any other transaction the cursor is before the first pair.
struct Cursor {
  enum class Place { kStart, kAtPair, kAfterKey };

  uint64_t transaction = 0;
  Place place = Place::kStart;
  std::string key;
  std::string payload;
};

}  // namespace
}  // namespace keydrome

struct IdxState {
  keydrome::Index* index = nullptr;  // nullptr: closed
  keydrome::Cursor cursor;
};

struct TxnState {
  ~TxnState() {
    if (open) finish(false);  // releases the lock of a thread that ended without an abort
  }

  void finish(bool commit) {
    if (commit) {
      undo.forget();
    } else {
      undo.roll_back();
    }
    if (locked) keydrome::library().data_lock.unlock();
    locked = false;
    open = false;
  }

  bool open = false;
  bool locked = false;  // holds data_lock
  uint64_t number = 0;  // counts this thread's transactions, from 1
  keydrome::UndoLog undo;
};

namespace keydrome {
namespace {

// The handles and the transaction of one thread.
struct ThreadState {
  TxnState transaction;
  HandlePool<IdxState> handles;
};

ThreadState& thread_state() {
  static thread_local ThreadState instance;
  return instance;
}

// Runs body(undo) under the data lock. For auto-commit (a call without a transaction), `undo` is
// nullptr.
//
// If the thread's own transaction holds the lock, an auto-commit call would wait for its own thread
// for ever, so it returns DEADLOCK. There is one exception: if the transaction has changed nothing,
// an auto-commit read can run, because it then precedes the transaction in the serial order.
template <typename Body>
ErrCode enter(TxnState* txn, bool writes, Body body) {
  TxnState& own = thread_state().transaction;
  if (txn == nullptr) {
    if (own.locked) return writes || !own.undo.empty() ? DEADLOCK : body(nullptr);
    const std::lock_guard<std::mutex> guard(library().data_lock);
    return body(nullptr);
  }
  if (txn != &own || !own.open) return TXN_DNE;
  if (!own.locked) {
    library().data_lock.lock();
    own.locked = true;
  }
  return body(&own.undo);
}

bool is_open(const IdxState* handle) { return handle != nullptr && handle->index != nullptr; }

// Returns the handle's cursor for the thread's open transaction. If the cursor was last used in an
// earlier transaction, first resets it to the position before the first pair.
Cursor& cursor_of(IdxState& handle) {
  const uint64_t number = thread_state().transaction.number;
  if (handle.cursor.transaction != number) {
    handle.cursor.transaction = number;
    handle.cursor.place = Cursor::Place::kStart;
  }
  return handle.cursor;
}

Pairs::const_iterator after_cursor(const Pairs& pairs, const Cursor& cursor) {
  switch (cursor.place) {
    case Cursor::Place::kStart:
      return pairs.begin();
    case Cursor::Place::kAtPair:
      return pairs.upper_bound(PairView(cursor.key, cursor.payload));
    case Cursor::Place::kAfterKey:
      return pairs.lower_bound(AfterKey{cursor.key});
  }
  return pairs.end();
}

// get_in() and next_in() execute get and getNext. The caller holds the data lock. `positions` is
// false for auto-commit calls, which neither use nor move the handle's cursor.
ErrCode get_in(IdxState& handle, bool positions, std::string_view key, Record* record) {
  const Pairs& pairs = handle.index->pairs;
  const auto place = pairs.lower_bound(PairView(key, {}));
  const bool found = place != pairs.end() && place->key == key;
  if (positions) {
    Cursor& cursor = cursor_of(handle);
    cursor.key = key;
    if (found) cursor.payload = place->payload;
    cursor.place = found ? Cursor::Place::kAtPair : Cursor::Place::kAfterKey;
  }
  if (!found) return KEY_NOTFOUND;
  copy_payload(place->payload, record->payload);
  return SUCCESS;
}

ErrCode next_in(IdxState& handle, bool positions, Record* record) {
  const Index& index = *handle.index;
  const auto place = positions ? after_cursor(index.pairs, cursor_of(handle)) : index.pairs.begin();
  if (place == index.pairs.end()) return DB_END;
  if (positions) {
    Cursor& cursor = handle.cursor;
    cursor.key = place->key;
    cursor.payload = place->payload;
    cursor.place = Cursor::Place::kAtPair;
  }
  decode_key(index.type, place->key, &record->key);
  copy_payload(place->payload, record->payload);
  return SUCCESS;
}

}  // namespace
}  // namespace keydrome

using keydrome::enter;
using keydrome::guarded;
using keydrome::is_open;
using keydrome::library;
using keydrome::thread_state;

ErrCode create(KeyType type, char* name) {
  if (name == nullptr || (type != SHORT && type != INT && type != VARCHAR)) return FAILURE;
  return guarded([&] {
    const std::lock_guard<std::mutex> guard(library().directory_lock);
    auto [entry, fresh] = library().directory.try_emplace(name);
    if (!fresh) return DB_EXISTS;
    try {
      entry->second = std::make_unique<keydrome::Index>(type);
    } catch (...) {
      library().directory.erase(entry);
      throw;
    }
    return SUCCESS;
  });
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  if (name == nullptr || idxState == nullptr) return FAILURE;
  return guarded([&] {
    keydrome::Index* index = nullptr;
    {
      const std::lock_guard<std::mutex> guard(library().directory_lock);
      const auto entry = library().directory.find(name);
      if (entry == library().directory.end()) return DB_DNE;
      index = entry->second.get();
    }
    IdxState* const handle = thread_state().handles.open();
    handle->index = index;
    handle->cursor.transaction = 0;
    *idxState = handle;
    return SUCCESS;
  });
}

ErrCode closeIndex(IdxState* idxState) {
  if (!is_open(idxState)) return DB_DNE;
  idxState->index = nullptr;
  thread_state().handles.close(idxState);
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  if (txn == nullptr) return FAILURE;
  TxnState& own = thread_state().transaction;
  if (own.open) return TXN_EXISTS;
  own.open = true;
  ++own.number;
  *txn = &own;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) {
  if (txn == nullptr || txn != &thread_state().transaction || !txn->open) return TXN_DNE;
  txn->finish(false);
  return SUCCESS;
}

ErrCode commitTransaction(TxnState* txn) {
  if (txn == nullptr || txn != &thread_state().transaction || !txn->open) return TXN_DNE;
  txn->finish(true);
  return SUCCESS;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  keydrome::KeyBytes key;
  if (record == nullptr || !keydrome::encode_key(idxState->index->type, record->key, &key)) {
    return FAILURE;
  }
  return guarded([&] {
    return enter(txn, false, [&](keydrome::UndoLog*) {
      return keydrome::get_in(*idxState, txn != nullptr, key.view(), record);
    });
  });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  if (record == nullptr) return FAILURE;
  return guarded([&] {
    return enter(txn, false, [&](keydrome::UndoLog*) {
      return keydrome::next_in(*idxState, txn != nullptr, record);
    });
  });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (!is_open(idxState)) return DB_DNE;
  keydrome::KeyBytes key;
  const std::string_view bytes = keydrome::payload_view(payload);
  if (k == nullptr || bytes.data() == nullptr ||
      !keydrome::encode_key(idxState->index->type, *k, &key)) {
    return FAILURE;
  }
  return guarded([&] {
    return enter(txn, true, [&](keydrome::UndoLog* undo) {
      return keydrome::insert_pair(*idxState->index, undo, key.view(), bytes);
    });
  });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  keydrome::KeyBytes key;
  if (record == nullptr || !keydrome::encode_key(idxState->index->type, record->key, &key)) {
    return FAILURE;
  }
  const std::string_view payload = keydrome::payload_view(record->payload);
  if (payload.data() == nullptr) return FAILURE;
  return guarded([&] {
    return enter(txn, true, [&](keydrome::UndoLog* undo) {
      keydrome::Index& index = *idxState->index;
      return payload.empty() ? keydrome::delete_key(index, undo, key.view())
                             : keydrome::delete_pair(index, undo, key.view(), payload);
    });
  });
}
