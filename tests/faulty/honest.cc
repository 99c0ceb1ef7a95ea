// Implements honest.h: a correct library in which one lock protects all data.
#include "tests/faulty/honest.h"

#include <cstring>
#include <memory>
#include <mutex>

struct IdxState {
  honest::Index* index;
  std::optional<honest::Cursor> cursor;
  uint64_t transaction;  // number of the transaction that moved the cursor
};

struct TxnState {
  uint64_t number;
};

namespace honest {
namespace {

struct Undo {
  Index* index;
  OrderedKey key;
  std::string payload;
  bool inserted;
};

// Index objects live as long as the process.
std::mutex catalogue_lock;
std::map<std::string, std::unique_ptr<Index>> catalogue;  // guarded by catalogue_lock

// The lock of all data. Only the thread that holds the lock may use undo_log and last_number.
std::timed_mutex data_lock;
std::vector<Undo> undo_log;
uint64_t last_number = 0;

thread_local TxnState* own_transaction = nullptr;

// Permission to access data during one call. A call in the thread's open transaction has
// permission, because the transaction holds data_lock. A call without a transaction takes data_lock
// here.
class Access {
 public:
  explicit Access(TxnState* txn) {
    if (txn != nullptr) {
      code_ = txn == own_transaction ? SUCCESS : TXN_DNE;
    } else if (own_transaction != nullptr) {
      code_ = DEADLOCK;
    } else {
      guard_ = std::unique_lock(data_lock, kLockTimeout);
      code_ = guard_.owns_lock() ? SUCCESS : DEADLOCK;
    }
  }
  ErrCode code() const { return code_; }

 private:
  std::unique_lock<std::timed_mutex> guard_;
  ErrCode code_;
};

void put(Index& index, const OrderedKey& key, const std::string& payload) {
  index.records[key].insert(payload);
}

void drop(Index& index, const OrderedKey& key, const std::string& payload) {
  const auto found = index.records.find(key);
  if (found == index.records.end()) return;
  found->second.erase(payload);
  if (found->second.empty()) index.records.erase(found);
}

// Copies the first pair after `cursor` to `record`, or the first pair of all if there is no cursor.
// Moves the cursor to this pair. Returns false if there is no such pair.
bool advance(const Index& index, std::optional<Cursor>& cursor, Record& record) {
  auto at = cursor ? index.records.lower_bound(cursor->key) : index.records.begin();
  if (cursor && at != index.records.end() && at->first == cursor->key) {
    const auto pair = cursor->payload ? at->second.upper_bound(*cursor->payload) : at->second.end();
    if (pair != at->second.end()) {
      cursor->payload = *pair;
      record.key = to_key(at->first, index.type);
      std::strcpy(record.payload, pair->c_str());
      return true;
    }
    ++at;
  }
  if (at == index.records.end()) return false;
  cursor = Cursor{at->first, *at->second.begin()};
  record.key = to_key(at->first, index.type);
  std::strcpy(record.payload, at->second.begin()->c_str());
  return true;
}

}  // namespace

ErrCode create(KeyType type, char* name) {
  const std::scoped_lock guard(catalogue_lock);
  const auto [entry, added] = catalogue.try_emplace(name);
  if (!added) return DB_EXISTS;
  entry->second = std::make_unique<Index>(Index{type, {}});
  return SUCCESS;
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  const std::scoped_lock guard(catalogue_lock);
  const auto found = catalogue.find(name);
  if (found == catalogue.end()) return DB_DNE;
  *idxState = new IdxState{found->second.get(), std::nullopt, 0};
  return SUCCESS;
}

ErrCode closeIndex(IdxState* idxState) {
  if (idxState == nullptr) return DB_DNE;
  delete idxState;
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  if (own_transaction != nullptr) return TXN_EXISTS;
  if (!data_lock.try_lock_for(kLockTimeout)) return DEADLOCK;
  own_transaction = new TxnState{++last_number};
  *txn = own_transaction;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) {
  if (txn == nullptr || txn != own_transaction) return TXN_DNE;
  for (auto entry = undo_log.rbegin(); entry != undo_log.rend(); ++entry) {
    if (entry->inserted) {
      drop(*entry->index, entry->key, entry->payload);
    } else {
      put(*entry->index, entry->key, entry->payload);
    }
  }
  return honest::commitTransaction(txn);
}

ErrCode commitTransaction(TxnState* txn) {
  if (txn == nullptr || txn != own_transaction) return TXN_DNE;
  undo_log.clear();
  own_transaction = nullptr;
  delete txn;
  data_lock.unlock();
  return SUCCESS;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  const Access access(txn);
  if (access.code() != SUCCESS) return access.code();
  const OrderedKey key = to_ordered(record->key);
  const auto found = idxState->index->records.find(key);
  const bool hit = found != idxState->index->records.end();
  if (txn != nullptr) {
    idxState->transaction = txn->number;
    idxState->cursor = Cursor{key, hit ? std::optional(*found->second.begin()) : std::nullopt};
  }
  if (!hit) return KEY_NOTFOUND;
  std::strcpy(record->payload, found->second.begin()->c_str());
  return SUCCESS;
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  const Access access(txn);
  if (access.code() != SUCCESS) return access.code();
  std::optional<Cursor> start;
  if (txn == nullptr) return advance(*idxState->index, start, *record) ? SUCCESS : DB_END;
  if (idxState->transaction != txn->number) {
    idxState->transaction = txn->number;
    idxState->cursor.reset();
  }
  return advance(*idxState->index, idxState->cursor, *record) ? SUCCESS : DB_END;
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (idxState == nullptr) return DB_DNE;
  const Access access(txn);
  if (access.code() != SUCCESS) return access.code();
  const OrderedKey key = to_ordered(*k);
  if (!idxState->index->records[key].insert(payload).second) return ENTRY_EXISTS;
  if (txn != nullptr) undo_log.push_back({idxState->index, key, payload, true});
  return SUCCESS;
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  const Access access(txn);
  if (access.code() != SUCCESS) return access.code();
  const OrderedKey key = to_ordered(record->key);
  const auto found = idxState->index->records.find(key);
  const std::string wanted = record->payload;
  if (found == idxState->index->records.end()) return KEY_NOTFOUND;
  if (!wanted.empty() && !found->second.contains(wanted)) return ENTRY_DNE;
  const std::set<std::string> gone = wanted.empty() ? found->second : std::set{wanted};
  for (const std::string& payload : gone) {
    drop(*idxState->index, key, payload);
    if (txn != nullptr) undo_log.push_back({idxState->index, key, payload, false});
  }
  return SUCCESS;
}

const Index& index_of(const IdxState* idxState) { return *idxState->index; }

void forget_undo() { undo_log.clear(); }

}  // namespace honest

// The exported functions are weak symbols, so that a faulty library can replace the ones that it
// breaks.
extern "C" {

[[gnu::weak]] ErrCode create(KeyType type, char* name) { return honest::create(type, name); }

[[gnu::weak]] ErrCode openIndex(const char* name, IdxState** idxState) {
  return honest::openIndex(name, idxState);
}

[[gnu::weak]] ErrCode closeIndex(IdxState* idxState) { return honest::closeIndex(idxState); }

[[gnu::weak]] ErrCode beginTransaction(TxnState** txn) { return honest::beginTransaction(txn); }

[[gnu::weak]] ErrCode abortTransaction(TxnState* txn) { return honest::abortTransaction(txn); }

[[gnu::weak]] ErrCode commitTransaction(TxnState* txn) { return honest::commitTransaction(txn); }

[[gnu::weak]] ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  return honest::get(idxState, txn, record);
}

[[gnu::weak]] ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  return honest::getNext(idxState, txn, record);
}

[[gnu::weak]] ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  return honest::insertRecord(idxState, txn, k, payload);
}

[[gnu::weak]] ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  return honest::deleteRecord(idxState, txn, record);
}

}  // extern "C"
