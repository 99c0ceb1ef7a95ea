// Fault: strict two-phase locking on existing records only. Nothing locks the gap between two records or a key that is
// not there, so a transaction that scans twice may see a record the second time that it did not see the first time.
// Must be found by: the phantom benchmark. Everything else about it is right: conflicts answer DEADLOCK at once.
#include <cstring>
#include <memory>
#include <mutex>

#include "tests/faulty/honest.h"

namespace {

using honest::OrderedKey;

struct Entry {
  std::set<std::string> payloads;  // empty: deleted by the writer, or never committed
  uint64_t writer = 0;
  std::set<uint64_t> readers;
};

struct LockedIndex {
  KeyType type;
  std::map<OrderedKey, Entry> entries;
};

struct Change {
  LockedIndex* index;
  OrderedKey key;
  std::set<std::string> before;
};

std::mutex everything;  // held for one call, not for a transaction
std::map<std::string, std::unique_ptr<LockedIndex>> catalogue;  // guarded by everything
uint64_t last_number = 0;                                       // guarded by everything

}  // namespace

struct TxnState {
  uint64_t number;
  std::vector<Change> changes;
  std::vector<std::pair<LockedIndex*, OrderedKey>> locked;
};

struct IdxState {
  LockedIndex* index;
  std::optional<honest::Cursor> cursor;
  uint64_t transaction = 0;
};

namespace {

thread_local TxnState* own_transaction = nullptr;

bool may_read(const Entry& entry, const TxnState& txn) {
  return entry.writer == 0 || entry.writer == txn.number;
}

bool may_write(const Entry& entry, const TxnState& txn) {
  return may_read(entry, txn) && (entry.readers.empty() || (entry.readers.size() == 1 &&
                                                            entry.readers.contains(txn.number)));
}

void read_lock(LockedIndex& index, const OrderedKey& key, TxnState& txn) {
  if (index.entries[key].readers.insert(txn.number).second) txn.locked.emplace_back(&index, key);
}

void write_lock(LockedIndex& index, const OrderedKey& key, TxnState& txn) {
  Entry& entry = index.entries[key];
  txn.changes.push_back({&index, key, entry.payloads});
  entry.writer = txn.number;
  txn.locked.emplace_back(&index, key);
}

void finish(TxnState& txn, bool keep) {
  if (!keep) {
    for (auto change = txn.changes.rbegin(); change != txn.changes.rend(); ++change) {
      change->index->entries[change->key].payloads = change->before;
    }
  }
  for (const auto& [index, key] : txn.locked) {
    const auto found = index->entries.find(key);
    if (found == index->entries.end()) continue;
    found->second.readers.erase(txn.number);
    if (found->second.writer == txn.number) found->second.writer = 0;
    const Entry& entry = found->second;
    if (entry.payloads.empty() && entry.writer == 0 && entry.readers.empty()) {
      index->entries.erase(found);
    }
  }
}

// Runs `call` in `txn`, or in a transaction of its own when that is null.
template <typename Call>
ErrCode in_transaction(TxnState* txn, Call call) {
  const std::scoped_lock guard(everything);
  if (txn != nullptr) return txn == own_transaction ? call(*txn) : TXN_DNE;
  TxnState single{++last_number, {}, {}};
  const ErrCode code = call(single);
  finish(single, code == SUCCESS);
  return code;
}

ErrCode read_next(IdxState& handle, std::optional<honest::Cursor>& cursor, TxnState& txn,
                  Record& record) {
  auto& entries = handle.index->entries;
  for (auto at = cursor ? entries.lower_bound(cursor->key) : entries.begin(); at != entries.end();
       ++at) {
    if (!may_read(at->second, txn)) return DEADLOCK;
    const auto& payloads = at->second.payloads;
    auto pair = payloads.begin();
    if (cursor && cursor->key == at->first) {
      pair = cursor->payload ? payloads.upper_bound(*cursor->payload) : payloads.end();
    }
    if (pair == payloads.end()) continue;
    read_lock(*handle.index, at->first, txn);
    cursor = honest::Cursor{at->first, *pair};
    record.key = honest::to_key(at->first, handle.index->type);
    std::strcpy(record.payload, pair->c_str());
    return SUCCESS;
  }
  return DB_END;
}

ErrCode end_transaction(TxnState* txn, bool keep) {
  if (txn == nullptr || txn != own_transaction) return TXN_DNE;
  const std::scoped_lock guard(everything);
  finish(*txn, keep);
  delete txn;
  own_transaction = nullptr;
  return SUCCESS;
}

}  // namespace

extern "C" {

ErrCode create(KeyType type, char* name) {
  const std::scoped_lock guard(everything);
  const auto [entry, added] = catalogue.try_emplace(name);
  if (!added) return DB_EXISTS;
  entry->second = std::make_unique<LockedIndex>(LockedIndex{type, {}});
  return SUCCESS;
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  const std::scoped_lock guard(everything);
  const auto found = catalogue.find(name);
  if (found == catalogue.end()) return DB_DNE;
  *idxState = new IdxState{found->second.get(), std::nullopt};
  return SUCCESS;
}

ErrCode closeIndex(IdxState* idxState) {
  if (idxState == nullptr) return DB_DNE;
  delete idxState;
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  if (own_transaction != nullptr) return TXN_EXISTS;
  const std::scoped_lock guard(everything);
  own_transaction = new TxnState{++last_number, {}, {}};
  *txn = own_transaction;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) { return end_transaction(txn, false); }

ErrCode commitTransaction(TxnState* txn) { return end_transaction(txn, true); }

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    const OrderedKey key = honest::to_ordered(record->key);
    const auto found = idxState->index->entries.find(key);
    const bool there = found != idxState->index->entries.end();
    if (there && !may_read(found->second, own)) return DEADLOCK;
    const bool hit = there && !found->second.payloads.empty();
    if (txn != nullptr) {
      idxState->transaction = own.number;
      idxState->cursor = honest::Cursor{
          key, hit ? std::optional(*found->second.payloads.begin()) : std::nullopt};
    }
    if (!hit) return KEY_NOTFOUND;
    read_lock(*idxState->index, key, own);
    std::strcpy(record->payload, found->second.payloads.begin()->c_str());
    return SUCCESS;
  });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    std::optional<honest::Cursor> start;
    if (txn == nullptr) return read_next(*idxState, start, own, *record);
    if (idxState->transaction != own.number) {
      idxState->transaction = own.number;
      idxState->cursor.reset();
    }
    return read_next(*idxState, idxState->cursor, own, *record);
  });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    const OrderedKey key = honest::to_ordered(*k);
    const auto found = idxState->index->entries.find(key);
    if (found != idxState->index->entries.end()) {
      if (!may_write(found->second, own)) return DEADLOCK;
      if (found->second.payloads.contains(payload)) return ENTRY_EXISTS;
    }
    write_lock(*idxState->index, key, own);
    idxState->index->entries[key].payloads.insert(payload);
    return SUCCESS;
  });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    const OrderedKey key = honest::to_ordered(record->key);
    const auto found = idxState->index->entries.find(key);
    if (found == idxState->index->entries.end()) return KEY_NOTFOUND;
    Entry& entry = found->second;
    if (!may_write(entry, own)) return DEADLOCK;
    if (entry.payloads.empty()) return KEY_NOTFOUND;
    const bool all = record->payload[0] == 0;
    if (!all && !entry.payloads.contains(record->payload)) return ENTRY_DNE;
    write_lock(*idxState->index, key, own);
    if (all) {
      entry.payloads.clear();
    } else {
      entry.payloads.erase(record->payload);
    }
    return SUCCESS;
  });
}

}  // extern "C"
