// Implements scan.h: reads with a cursor of LMDB. If the cursor is not at the position of the scan,
// searches for this position first.
#include "indexes/lmdb/scan.h"

#include <utility>

namespace keydrome {
namespace {

// The cast is safe, because LMDB does not change the bytes of a value that is passed to it.
MDB_val value_of(std::string_view bytes) {
  return {.mv_size = bytes.size(), .mv_data = const_cast<char*>(bytes.data())};
}

std::string_view bytes_of(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

}  // namespace

bool StoredKey::assign(const MDB_val& found) {
  const std::string_view bytes = bytes_of(found);
  if (bytes.substr(0, kPrefix) != view().substr(0, kPrefix)) return false;
  std::memcpy(bytes_.data(), bytes.data(), bytes.size());
  size_ = static_cast<uint32_t>(bytes.size());
  return true;
}

void Scan::start(const Index& index) {
  place_ = Place::kStart;
  key_ = StoredKey::first_of(index);
}

void Scan::close() {
  if (cursor_ != nullptr) mdb_cursor_close(std::exchange(cursor_, nullptr));
  cursor_is_there_ = false;
}

int Scan::open(MDB_txn* txn, MDB_dbi database) {
  return cursor_ != nullptr ? 0 : mdb_cursor_open(txn, database, &cursor_);
}

// Reads a pair with the cursor's `operation`, which starts from the key `from` and the payload of
// the last pair. If there is no such pair in the index, the last pair stays.
int Scan::read(const StoredKey& from, MDB_cursor_op operation) {
  MDB_val key = value_of(from.view());
  MDB_val payload = value_of(payload_.view());
  cursor_is_there_ = false;
  const int error = mdb_cursor_get(cursor_, &key, &payload, operation);
  if (error != 0) return error;
  // `key` is now the key of the pair. MDB_SET_KEY sets `key`, and so does each operation that may
  // move to another key. The other operations only find pairs of the key that was passed.
  if (!key_.assign(key)) return MDB_NOTFOUND;
  payload_.size = static_cast<uint32_t>(payload.mv_size);
  std::memcpy(payload_.bytes.data(), payload.mv_data, payload.mv_size);
  place_ = Place::kAtPair;
  cursor_is_there_ = true;
  return 0;
}

int Scan::get(MDB_txn* txn, MDB_dbi database, const StoredKey& key, uint64_t writes) {
  int error = open(txn, database);
  if (error != 0) return error;
  error = read(key, MDB_SET_KEY);
  writes_ = writes;
  if (error == MDB_NOTFOUND) {
    key_ = key;
    place_ = Place::kAfterKey;
  }
  return error;
}

int Scan::next(MDB_txn* txn, MDB_dbi database, uint64_t writes) {
  int error = open(txn, database);
  if (error != 0) return error;
  error = cursor_is_there_ && writes == writes_ ? read(key_, MDB_NEXT) : seek();
  writes_ = writes;
  return error;
}

// Reads the first pair after the position.
int Scan::seek() {
  if (place_ == Place::kStart) return read(key_, MDB_SET_RANGE);
  if (place_ == Place::kAtPair) {
    const StoredPayload last = payload_;
    int error = read(key_, MDB_GET_BOTH_RANGE);  // the last payload, or a larger one of its key
    if (error == 0 && payload_.view() == last.view()) error = read(key_, MDB_NEXT_DUP);
    if (error != MDB_NOTFOUND) return error;
  }
  return read(key_.successor(), MDB_SET_RANGE);
}

int put_pair(MDB_txn* txn, MDB_dbi database, const StoredKey& key, const StoredPayload& payload) {
  MDB_val stored_key = value_of(key.view());
  MDB_val stored_payload = value_of(payload.view());
  return mdb_put(txn, database, &stored_key, &stored_payload, MDB_NODUPDATA);
}

int delete_pair(MDB_txn* txn, MDB_dbi database, const StoredKey& key,
                const StoredPayload& payload) {
  MDB_val stored_key = value_of(key.view());
  MDB_val stored_payload = value_of(payload.view());
  return mdb_del(txn, database, &stored_key, &stored_payload);
}

int delete_key(MDB_txn* txn, MDB_dbi database, const StoredKey& key) {
  MDB_val stored_key = value_of(key.view());
  return mdb_del(txn, database, &stored_key, nullptr);
}

}  // namespace keydrome
