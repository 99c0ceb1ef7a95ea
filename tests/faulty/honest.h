// A small correct contract A library, and the shared base of the faulty ones.
//
// honest.cc exports the ten functions as weak symbols that forward to namespace honest. A faulty
// library links it and defines, strongly, only the functions it breaks; what it does not break is
// right.
//
// One lock is held from beginTransaction to commit or abort, so every history is serial. Whoever
// cannot have the lock within kPatience gets DEADLOCK, and so does an auto-commit call beside the
// thread's own transaction.
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

inline constexpr std::chrono::milliseconds kPatience{50};

// A key of either kind; an index uses one of the two members only, so this order is the contract's.
using OrderedKey = std::pair<int64_t, std::string>;

struct Index {
  KeyType type;
  std::map<OrderedKey, std::set<std::string>> records;  // no key without payloads
};

// Where a scan stands: after `payload` of `key`, or after all payloads of `key`.
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

// The contract's functions, correctly done.
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

// For loses_aborted: forgets the undo log, so that an abort keeps what the transaction wrote.
void forget_undo();

}  // namespace honest
