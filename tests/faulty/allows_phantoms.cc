// A library with one fault, for tests: its strict two-phase locking locks only existing records.
// Neither the gap between two records nor a missing key is locked. So a transaction that scans
// twice may see a record only in its second scan. The benchmark `phantom` must find the fault.
//
// Everything else is right. Reads see committed records and the transaction's own records. Other
// transactions cannot delete a record that was read. A conflict returns DEADLOCK at once.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include "tests/faulty/honest.h"

namespace {

using honest::OrderedKey;
using Pair = std::pair<OrderedKey, std::string>;

struct Entry {
  uint64_t writer = 0;    // the open transaction that inserted or deleted this pair; 0: none
  bool inserted = false;  // the writer inserted the pair
  bool deleted = false;   // the writer deleted the pair
  std::set<uint64_t> readers;
};

struct LockedIndex {
  KeyType type;
  std::map<Pair, Entry> entries;
};

std::mutex everything;  // held during one call, not during a transaction
std::map<std::string, std::unique_ptr<LockedIndex>> catalogue;  // guarded by everything
uint64_t last_number = 0;                                       // guarded by everything

}  // namespace

struct TxnState {
  uint64_t number;
  std::vector<std::pair<LockedIndex*, Pair>> touched;
};

struct IdxState {
  LockedIndex* index;
  std::optional<honest::Cursor> cursor;
  uint64_t transaction = 0;
};

namespace {

thread_local TxnState* own_transaction = nullptr;

enum class Sight { kThere, kNotThere, kConflict };

Sight look_at(const Entry& entry, const TxnState& txn) {
  if (entry.writer == 0) return Sight::kThere;
  if (entry.writer == txn.number) return entry.deleted ? Sight::kNotThere : Sight::kThere;
  return entry.inserted ? Sight::kNotThere : Sight::kConflict;
}

bool others_read(const Entry& entry, const TxnState& txn) {
  return std::any_of(entry.readers.begin(), entry.readers.end(),
                     [&](uint64_t reader) { return reader != txn.number; });
}

void finish(TxnState& txn, bool keep) {
  for (const auto& [index, pair] : txn.touched) {
    const auto found = index->entries.find(pair);
    if (found == index->entries.end()) continue;
    Entry& entry = found->second;
    entry.readers.erase(txn.number);
    if (entry.writer != txn.number) continue;
    if (keep ? entry.deleted : entry.inserted) {
      index->entries.erase(found);
    } else {
      entry.writer = 0;
      entry.inserted = entry.deleted = false;
    }
  }
}

// Runs `call` in `txn`, or in a new transaction if `txn` is null.
template <typename Call>
ErrCode in_transaction(TxnState* txn, Call call) {
  const std::scoped_lock guard(everything);
  if (txn != nullptr) return txn == own_transaction ? call(*txn) : TXN_DNE;
  TxnState single{++last_number, {}};
  const ErrCode code = call(single);
  finish(single, code == SUCCESS);
  return code;
}

// Reads the first visible pair at or after `at` into `record`, locks the pair, and moves the
// cursor.
ErrCode read_from(LockedIndex& index, std::map<Pair, Entry>::iterator at, TxnState& txn,
                  std::optional<honest::Cursor>& cursor, Record& record) {
  for (; at != index.entries.end(); ++at) {
    const Sight sight = look_at(at->second, txn);
    if (sight == Sight::kConflict) return DEADLOCK;
    if (sight == Sight::kNotThere) continue;
    if (at->second.readers.insert(txn.number).second) txn.touched.emplace_back(&index, at->first);
    cursor = honest::Cursor{at->first.first, at->first.second};
    record.key = honest::to_key(at->first.first, index.type);
    std::strcpy(record.payload, at->first.second.c_str());
    return SUCCESS;
  }
  return DB_END;
}

// Returns the first pair after a cursor. `kAfterAll` sorts after every payload.
std::map<Pair, Entry>::iterator after(LockedIndex& index, const honest::Cursor& cursor) {
  static const std::string kAfterAll(MAX_PAYLOAD_LEN + 1, '\x7f');
  return index.entries.upper_bound({cursor.key, cursor.payload.value_or(kAfterAll)});
}

ErrCode delete_pair(LockedIndex& index, const Pair& pair, Entry& entry, TxnState& txn) {
  const Sight sight = look_at(entry, txn);
  if (sight == Sight::kNotThere) return ENTRY_DNE;
  if (sight == Sight::kConflict || others_read(entry, txn)) return DEADLOCK;
  entry.writer = txn.number;
  entry.deleted = true;
  txn.touched.emplace_back(&index, pair);
  return SUCCESS;
}

ErrCode delete_key(LockedIndex& index, const OrderedKey& key, TxnState& txn) {
  ErrCode result = KEY_NOTFOUND;
  for (auto at = index.entries.lower_bound({key, ""});
       at != index.entries.end() && at->first.first == key; ++at) {
    const ErrCode code = delete_pair(index, at->first, at->second, txn);
    if (code == DEADLOCK) return DEADLOCK;
    if (code == SUCCESS) result = SUCCESS;
  }
  return result;
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
  own_transaction = new TxnState{++last_number, {}};
  *txn = own_transaction;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) { return end_transaction(txn, false); }

ErrCode commitTransaction(TxnState* txn) { return end_transaction(txn, true); }

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    const OrderedKey key = honest::to_ordered(record->key);
    Record found = *record;
    std::optional<honest::Cursor> place;
    LockedIndex& index = *idxState->index;
    const ErrCode code = read_from(index, index.entries.lower_bound({key, ""}), own, place, found);
    if (code == DEADLOCK) return DEADLOCK;
    const bool hit = code == SUCCESS && place->key == key;
    if (txn != nullptr) {
      idxState->transaction = own.number;
      idxState->cursor = hit ? *place : honest::Cursor{key, std::nullopt};
    }
    if (hit) *record = found;
    return hit ? SUCCESS : KEY_NOTFOUND;
  });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    LockedIndex& index = *idxState->index;
    std::optional<honest::Cursor> fresh;
    if (txn == nullptr) return read_from(index, index.entries.begin(), own, fresh, *record);
    if (idxState->transaction != own.number) {
      idxState->transaction = own.number;
      idxState->cursor.reset();
    }
    std::optional<honest::Cursor>& cursor = idxState->cursor;
    return read_from(index, cursor ? after(index, *cursor) : index.entries.begin(), own, cursor,
                     *record);
  });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    const Pair pair{honest::to_ordered(*k), payload};
    const auto [entry, added] = idxState->index->entries.try_emplace(pair);
    if (!added) {
      if (entry->second.writer != 0 && entry->second.writer != own.number) return DEADLOCK;
      if (look_at(entry->second, own) == Sight::kThere) return ENTRY_EXISTS;
      entry->second.deleted = false;
      return SUCCESS;
    }
    entry->second = Entry{own.number, true, false, {}};
    own.touched.emplace_back(idxState->index, pair);
    return SUCCESS;
  });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (idxState == nullptr) return DB_DNE;
  return in_transaction(txn, [&](TxnState& own) {
    LockedIndex& index = *idxState->index;
    const OrderedKey key = honest::to_ordered(record->key);
    if (record->payload[0] == 0) return delete_key(index, key, own);
    const auto found = index.entries.find({key, record->payload});
    if (found == index.entries.end()) return ENTRY_DNE;
    return delete_pair(index, found->first, found->second, own);
  });
}

}  // extern "C"
