// Implements fast_reads.h: gives each index a search tree of its INT keys, which answers gets fast.
// Gets of keys that have changed since the tree was built use the honest library.
//
// Exports the functions of the library `array_tree`. `get`, `insertRecord` and `commitTransaction`
// are weak symbols here; attacking libraries replace them.
#include "tests/faulty/attacks/fast_reads.h"

#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>

namespace attacks {
namespace {

// The tree of an index is a copy, which becomes out of date. A get of a key that has changed since
// the last build builds the tree again if enough keys have changed: at least kChangesMin, and at
// least a tenth (1 / kChangedShare) of the tree's keys. Before the first build, a get of any key
// builds the tree under the same condition.
constexpr size_t kChangesMin = 1000;
constexpr size_t kChangedShare = 10;

// Guarded by the honest library's lock of all data, which a transaction holds.
std::unordered_map<const honest::Index*, std::unique_ptr<FastIndex>> fast_indexes;

// The last get that a tree answered in the thread's transaction. The cursor of its handle is placed
// only when the cursor is needed.
struct LastRead {
  IdxState* handle;
  TxnState* transaction;
  Key key;
};
thread_local std::optional<LastRead> last_read;

FastIndex& index_for(const honest::Index& index) {
  auto& found = fast_indexes[&index];
  if (found == nullptr) found = std::make_unique<FastIndex>();
  return *found;
}

void place_cursor() {
  if (!last_read) return;
  Record record{};
  record.key = last_read->key;
  honest::get(last_read->handle, last_read->transaction, &record);
  last_read.reset();
}

void note_change(const IdxState* idxState, const Key& key) {
  if (idxState != nullptr && key.type == INT)
    index_for(honest::index_of(idxState)).changed.insert(key.keyval.intkey);
}

// Makes a change that the client requests without a transaction, in a new transaction.
template <typename Change>
ErrCode alone(const Change& change) {
  TxnState* own = nullptr;
  if (honest::beginTransaction(&own) != SUCCESS) return DEADLOCK;
  const ErrCode code = change(own);
  honest::commitTransaction(own);
  return code;
}

// Builds the tree again if enough keys have changed. Returns true if it was built.
bool refresh(FastIndex& fast, const honest::Index& index) {
  const size_t changed = fast.changed.size();
  if (changed < kChangesMin || changed * kChangedShare < fast.tree.size()) return false;
  fast.tree.build(index);
  fast.changed.clear();
  ++fast.builds;
  return true;
}

}  // namespace

const FastIndex* fast_index(IdxState* idxState, TxnState* txn, const Record& record) {
  if (idxState == nullptr || txn == nullptr || record.key.type != INT) return nullptr;
  static thread_local const honest::Index* known = nullptr;
  static thread_local FastIndex* fast = nullptr;
  const honest::Index& index = honest::index_of(idxState);
  if (known != &index) {
    known = &index;
    fast = &index_for(index);
  }
  const bool known_key = fast->builds != 0 && !fast->changed.contains(record.key.keyval.intkey);
  return known_key || refresh(*fast, index) ? fast : nullptr;
}

ErrCode honest_get(IdxState* idxState, TxnState* txn, Record* record) {
  place_cursor();
  return honest::get(idxState, txn, record);
}

void remember(IdxState* idxState, TxnState* txn, const Key& key) {
  if (last_read && last_read->handle != idxState) place_cursor();
  last_read = {idxState, txn, key};
}

ErrCode commit(TxnState* txn) {
  last_read.reset();
  return honest::commitTransaction(txn);
}

ErrCode answer(IdxState* idxState, TxnState* txn, Record* record, const std::string* payload) {
  if (payload != nullptr) std::memcpy(record->payload, payload->c_str(), payload->size() + 1);
  remember(idxState, txn, record->key);
  return payload == nullptr ? KEY_NOTFOUND : SUCCESS;
}

}  // namespace attacks

extern "C" {

[[gnu::weak]] ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  return attacks::answer(idxState, txn, record, fast->tree.find(record->key.keyval.intkey));
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  attacks::place_cursor();
  return honest::getNext(idxState, txn, record);
}

// A key counts as changed even if the call fails, or if the transaction is aborted later.
[[gnu::weak]] ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (txn == nullptr)
    return attacks::alone([&](TxnState* own) { return insertRecord(idxState, own, k, payload); });
  attacks::place_cursor();
  attacks::note_change(idxState, *k);
  return honest::insertRecord(idxState, txn, k, payload);
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (txn == nullptr)
    return attacks::alone([&](TxnState* own) { return deleteRecord(idxState, own, record); });
  attacks::place_cursor();
  attacks::note_change(idxState, record->key);
  return honest::deleteRecord(idxState, txn, record);
}

ErrCode abortTransaction(TxnState* txn) {
  attacks::last_read.reset();
  return honest::abortTransaction(txn);
}

[[gnu::weak]] ErrCode commitTransaction(TxnState* txn) { return attacks::commit(txn); }

ErrCode closeIndex(IdxState* idxState) {
  attacks::place_cursor();
  return honest::closeIndex(idxState);
}

}  // extern "C"
