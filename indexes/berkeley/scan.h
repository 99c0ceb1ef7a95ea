// A place in an index that getNext continues from: Berkeley DB's own cursor while it is good, and a
// copy of the pair for the times when it is not (after a failed get, and after writes of the own
// transaction).
//
// Thread safety: belongs to one thread.
#pragma once

#include <db.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "indexes/berkeley/environment.h"
#include "indexes/common/key_bytes.h"

namespace keydrome {

// A pair in buffers of the caller, as Berkeley DB wants it.
struct PairBytes {
  KeyBytes key{};
  std::array<char, MAX_PAYLOAD_LEN> payload{};
  uint32_t payload_size = 0;

  void set_payload(std::string_view bytes);
  [[nodiscard]] std::string_view payload_view() const { return {payload.data(), payload_size}; }
};

class Scan {
 public:
  // Opens a cursor in `txn`. Close it before the transaction ends. 0 or Berkeley DB's error.
  int open(const Index& index, DB_TXN* txn);
  // 0 or an error; the cursor is gone in any case.
  int close();
  [[nodiscard]] bool is_open() const { return cursor_ != nullptr; }

  // `writes` is the number of writes that the transaction has done so far. Each returns 0,
  // DB_NOTFOUND or an error. get: places the cursor on the first pair of the key; when there is
  // none, behind the key.
  int get(const KeyBytes& key, uint64_t writes);
  // next: moves on to the next pair.
  int next(uint64_t writes);

  // The pair that the last successful call read.
  [[nodiscard]] const PairBytes& pair() const { return pair_; }

 private:
  enum class Place { kStart, kAtPair, kAfterKey };

  int seek_behind_pair();
  int seek_behind_key();
  // Reads with Berkeley DB's operation `flags` into pair_, which is unchanged on an error: from
  // pair_, or with its payload from a key of at most MAX_VARCHAR_LEN + 1 bytes.
  int read(uint32_t flags) { return read(pair_.key.view(), flags); }
  int read(std::string_view from, uint32_t flags);

  DBC* cursor_ = nullptr;
  Place place_ = Place::kStart;
  PairBytes pair_;
  uint64_t writes_ = 0;  // when the cursor was placed
};

// Writes of one transaction. 0, DB_KEYEXIST or DB_NOTFOUND, or an error.
int put_pair(const Index& index, DB_TXN* txn, PairBytes& pair);
int delete_pair(const Index& index, DB_TXN* txn, PairBytes& pair);
int delete_key(const Index& index, DB_TXN* txn, KeyBytes& key);

}  // namespace keydrome
