// Scan: the position in an index from which getNext continues, and the functions that change pairs.
//
// Scan reads with a cursor of LMDB as long as the cursor is at the position. After a failed read, a
// write of the same transaction, or a change from reading to writing, Scan searches for the
// position with its copy of the last pair.
//
// Thread safety: a Scan belongs to one thread.
#pragma once

#include <lmdb.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "indexes/common/key_bytes.h"
#include "indexes/lmdb/environment.h"

namespace keydrome {

// A key of LMDB: the number of the index (big-endian), followed by the bytes of the key.
class StoredKey {
 public:
  StoredKey() = default;
  StoredKey(const Index& index, const KeyBytes& key) {
    store_big_endian(index.number, bytes_.data());
    std::memcpy(bytes_.data() + kPrefix, key.bytes.data(), key.size);
    size_ = kPrefix + key.size;
  }
  // The smallest key of an index.
  static StoredKey first_of(const Index& index) { return {index, KeyBytes{}}; }

  // Returns the smallest key that is greater than this key.
  [[nodiscard]] StoredKey successor() const {
    StoredKey next = *this;
    next.bytes_[next.size_++] = '\0';
    return next;
  }
  // Copies a key that LMDB has returned. Returns false if it is a key of another index.
  bool assign(const MDB_val& found);

  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }
  [[nodiscard]] std::string_view key() const { return view().substr(kPrefix); }

 private:
  static constexpr uint32_t kPrefix = sizeof(uint32_t);

  std::array<char, kPrefix + MAX_VARCHAR_LEN + 1> bytes_{};
  uint32_t size_ = kPrefix;
};

// A payload with its NUL, because LMDB does not allow several values of a key if one is empty.
struct StoredPayload {
  std::array<char, MAX_PAYLOAD_LEN + 1> bytes{};
  uint32_t size = 1;

  void assign(std::string_view payload) {
    copy_payload(payload, bytes.data());
    size = static_cast<uint32_t>(payload.size()) + 1;
  }
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};

class Scan {
 public:
  // Places the scan before the first pair of the index.
  void start(const Index& index);
  // Closes the cursor, and keeps the position.
  void close();
  [[nodiscard]] bool is_open() const { return cursor_ != nullptr; }

  // Moves to the first pair of the key. If the key has no pair, moves to the position after the
  // key. `txn` is the transaction of LMDB, and `writes` the number of its writes so far. Returns 0,
  // MDB_NOTFOUND or an error.
  int get(MDB_txn* txn, MDB_dbi database, const StoredKey& key, uint64_t writes);
  // Moves to the next pair of the index. Arguments and results are as above.
  int next(MDB_txn* txn, MDB_dbi database, uint64_t writes);

  // The pair that the last successful call read.
  [[nodiscard]] std::string_view key() const { return key_.key(); }
  [[nodiscard]] const StoredPayload& payload() const { return payload_; }

 private:
  enum class Place { kStart, kAtPair, kAfterKey };

  int open(MDB_txn* txn, MDB_dbi database);
  int seek();
  int read(const StoredKey& from, MDB_cursor_op operation);

  MDB_cursor* cursor_ = nullptr;
  bool cursor_is_there_ = false;  // the last read placed cursor_ at the pair; see also writes_
  Place place_ = Place::kStart;
  StoredKey key_;
  StoredPayload payload_;
  uint64_t writes_ = 0;  // number of the transaction's writes when the cursor last moved
};

// These functions insert or delete pairs in a transaction. They return 0, MDB_KEYEXIST,
// MDB_NOTFOUND or another error of LMDB.
int put_pair(MDB_txn* txn, MDB_dbi database, const StoredKey& key, const StoredPayload& payload);
int delete_pair(MDB_txn* txn, MDB_dbi database, const StoredKey& key, const StoredPayload& payload);
int delete_key(MDB_txn* txn, MDB_dbi database, const StoredKey& key);

}  // namespace keydrome
