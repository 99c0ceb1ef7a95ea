// Declares a small correct library with the ten calls of index.h, on which the faulty libraries are
// based.
//
// honest.cc exports the ten functions as weak symbols that forward to namespace honest. A faulty
// library links honest.cc and defines only the functions that it breaks, as strong symbols:
//
//   extern "C" ErrCode create(KeyType, char*) { return FAILURE; }
//
// A transaction holds the only lock from beginTransaction to commit or abort, so every history is
// serial. A thread that does not get the lock within kLockTimeout gets DEADLOCK. A call that passes
// no transaction also gets DEADLOCK if its thread has an open transaction.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "keydrome/index.h"

namespace honest {

inline constexpr std::chrono::milliseconds kLockTimeout{50};

// A key of any type: a number or a string. An index uses only one of the two members, so comparing
// pairs gives the order that index.h requires.
using OrderedKey = std::pair<int64_t, std::string>;

struct Index {
  KeyType type;
  std::map<OrderedKey, std::set<std::string>> records;  // no key without payloads
};

// The position of a scan: after the pair of `key` and `payload`. If there is no `payload`, after
// all pairs of `key`.
struct Cursor {
  OrderedKey key;
  std::optional<std::string> payload;
};

inline OrderedKey to_ordered(const Key& key) {
  switch (key.type) {
    case SHORT:
      return {key.keyval.shortkey, {}};
    case INT:
      return {key.keyval.intkey, {}};
    case VARCHAR:
      break;
  }
  return {0, key.keyval.charkey};
}

inline Key to_key(const OrderedKey& key, KeyType type) {
  Key result;
  std::memset(&result, 0, sizeof result);
  result.type = type;
  if (type == SHORT) result.keyval.shortkey = static_cast<int32_t>(key.first);
  if (type == INT) result.keyval.intkey = key.first;
  if (type == VARCHAR) std::strcpy(result.keyval.charkey, key.second.c_str());
  return result;
}

// The functions of index.h, implemented correctly.
ErrCode create(KeyType type, char* name);
ErrCode openIndex(const char* name, IdxState** idxState);
ErrCode closeIndex(IdxState* idxState);
ErrCode beginTransaction(TxnState** txn);
ErrCode abortTransaction(TxnState* txn);
ErrCode commitTransaction(TxnState* txn);
ErrCode get(IdxState* idxState, TxnState* txn, Record* record);
ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record);
ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload);
ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record);

// Returns the index of a handle. The caller may read the index during a transaction, but must not
// change it.
const Index& index_of(const IdxState* idxState);

// Clears the undo log, so that an abort keeps the transaction's writes. Only faulty libraries call
// this function.
void forget_undo();

}  // namespace honest
