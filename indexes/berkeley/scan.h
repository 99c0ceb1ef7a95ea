// Scan: the position in an index from which getNext continues. Scan uses a cursor of Berkeley DB as
// long as the cursor is valid. A failed get, or a write of the same transaction, makes the cursor
// invalid. Scan then searches for the position again, with its copy of the last pair.
//
// Thread safety: a Scan belongs to one thread.
#pragma once

#include <db.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "indexes/berkeley/environment.h"
#include "indexes/common/key_bytes.h"

namespace keydrome {

// A pair in buffers of fixed size, into which Berkeley DB copies.
struct PairBytes {
  KeyBytes key{};
  std::array<char, MAX_PAYLOAD_LEN> payload{};
  uint32_t payload_size = 0;

  void set_payload(std::string_view bytes);
  [[nodiscard]] std::string_view payload_view() const { return {payload.data(), payload_size}; }
};

class Scan {
 public:
  // Opens a cursor in `txn`. The caller must close the cursor before the transaction ends. Returns
  // 0 or Berkeley DB's error.
  int open(const Index& index, DB_TXN* txn);
  // Closes the cursor. Returns 0 or Berkeley DB's error. The cursor is closed even after an error.
  int close();
  [[nodiscard]] bool is_open() const { return cursor_ != nullptr; }

  // Moves to the first pair of the key. If the key has no pair, moves to the position after the
  // key. `writes` is the number of writes of the transaction so far. Returns 0, DB_NOTFOUND or an
  // error.
  int get(const KeyBytes& key, uint64_t writes);
  // Moves to the next pair. Returns 0, DB_NOTFOUND or an error.
  int next(uint64_t writes);

  // The pair that the last successful call read. A failed get() replaces the key.
  [[nodiscard]] const PairBytes& pair() const { return pair_; }

 private:
  enum class Place { kStart, kAtPair, kAfterKey };

  int seek_after_pair();
  int seek_after_key();
  // Reads a pair into pair_ with Berkeley DB's operation `flags`. The operation starts from the key
  // `from` (at most MAX_VARCHAR_LEN + 1 bytes) and the payload of pair_. The first overload starts
  // from the key of pair_. After an error pair_ is unchanged.
  int read(uint32_t flags) { return read(pair_.key.view(), flags); }
  int read(std::string_view from, uint32_t flags);

  DBC* cursor_ = nullptr;
  Place place_ = Place::kStart;
  PairBytes pair_;
  uint64_t writes_ = 0;  // number of the transaction's writes when the cursor last moved
};

// These functions insert or delete pairs in a transaction. They return 0, DB_KEYEXIST, DB_NOTFOUND
// or another error of Berkeley DB.
int put_pair(const Index& index, DB_TXN* txn, PairBytes& pair);
int delete_pair(const Index& index, DB_TXN* txn, PairBytes& pair);
int delete_key(const Index& index, DB_TXN* txn, KeyBytes& key);

}  // namespace keydrome
