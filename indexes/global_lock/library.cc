// The ten calls over sorted sets under one lock: short enough to be believed, so it is the oracle
// that other libraries are compared with, and the control library beside ranked runs.
//
// One data lock serialises transactions. A transaction takes it at its first data call and keeps it
// to its end, so the serial order is the order of taking the lock, real time included; nothing is
// ever undone but by an abort, and DEADLOCK is returned in one case only (auto-commit beside the
// thread's own transaction, see enter()). The lock is a pthread mutex: waiting threads sleep, and
// are not served in order of arrival.
//
// Thread safety: handles and transactions live in their thread's Session and are touched by that
// thread only. The directory has a lock of its own, held for a look-up, so create and openIndex
// never wait for a transaction.
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "indexes/common/key_bytes.h"
#include "indexes/global_lock/store.h"
#include "keydrome/extensions.h"

namespace keydrome {
namespace {

// Never destroyed: threads may still run when main returns.
struct Library {
  std::mutex directory_lock;
  std::map<std::string, std::unique_ptr<Index>, std::less<>> directory;  // under directory_lock
  std::mutex data_lock;                                                  // the pairs of every index
};

Library& library() {
  static Library* const instance = new Library;
  return *instance;
}

// Where getNext goes on. Belongs to the transaction with this number; to any other it stands before
// the first pair.
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
    if (open) finish(false);  // the thread ended first: free the lock for the others
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
  uint64_t number = 0;  // of this thread's transactions, from 1
  keydrome::UndoLog undo;
};

namespace keydrome {
namespace {

// What a thread has open. Closed handles are used again, so a second close of one is noticed, not a
// crash.
struct Session {
  TxnState transaction;
  std::deque<IdxState> handles;
  std::vector<IdxState*> closed;
};

Session& session() {
  static thread_local Session instance;
  return instance;
}

// Exceptions (std::bad_alloc is the only one that can occur) end here.
template <typename Body>
ErrCode guarded(Body body) {
  try {
    return body();
  } catch (const std::exception&) {
    return FAILURE;
  }
}

// Runs body(undo) under the data lock; `undo` is nullptr for auto-commit.
//
// Auto-commit beside the thread's own transaction would wait for itself if that holds the lock. A
// read can still be placed before that transaction in the serial order as long as the transaction
// has changed nothing; anything else is refused with DEADLOCK.
template <typename Body>
ErrCode enter(TxnState* txn, bool writes, Body body) {
  TxnState& own = session().transaction;
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

// The cursor of the handle for the thread's open transaction.
Cursor& cursor_of(IdxState& handle) {
  const uint64_t number = session().transaction.number;
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
using keydrome::session;

const char* keydrome_describe(void) { return "global_lock: std::set per index, one lock"; }

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
    auto& own = session();
    if (own.closed.empty()) {
      own.closed.reserve(own.handles.size() + 1);  // so that closeIndex cannot fail
      own.closed.push_back(&own.handles.emplace_back());
    }
    IdxState* const handle = own.closed.back();
    own.closed.pop_back();
    handle->index = index;
    handle->cursor.transaction = 0;
    *idxState = handle;
    return SUCCESS;
  });
}

ErrCode closeIndex(IdxState* idxState) {
  if (!is_open(idxState)) return DB_DNE;
  idxState->index = nullptr;
  session().closed.push_back(idxState);
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  if (txn == nullptr) return FAILURE;
  TxnState& own = session().transaction;
  if (own.open) return TXN_EXISTS;
  own.open = true;
  ++own.number;
  *txn = &own;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) {
  if (txn == nullptr || txn != &session().transaction || !txn->open) return TXN_DNE;
  txn->finish(false);
  return SUCCESS;
}

ErrCode commitTransaction(TxnState* txn) {
  if (txn == nullptr || txn != &session().transaction || !txn->open) return TXN_DNE;
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
