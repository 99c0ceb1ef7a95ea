// The honest library `array_tree`: reads of integer keys in transactions use an ArrayTree, and all
// other calls are those of honest.h. The attacking libraries of this folder replace single calls of
// array_tree. The difference between their times and those of array_tree is what an attack gains.
//
// Thread safety: a transaction holds the lock of all data (honest.h), and only calls in
// transactions use the trees.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "tests/faulty/attacks/array_tree.h"
#include "tests/faulty/honest.h"

namespace attacks {

// The tree of an index, and what has changed in the index since the tree was built.
struct FastIndex {
  ArrayTree tree;
  std::unordered_set<int64_t> changed;
  uint64_t builds = 0;
};

// Returns the tree that can answer this get, or nullptr if only honest::get can.
const FastIndex* fast_index(IdxState* idxState, TxnState* txn, const Record& record);

// A get that does not use the tree.
ErrCode honest_get(IdxState* idxState, TxnState* txn, Record* record);

// Notes a get that a tree has answered. The cursor of its handle is placed only when it is needed.
void remember(IdxState* idxState, TxnState* txn, const Key& key);

// Commits the transaction. No cursor is valid afterwards, so the get that remember() noted is
// forgotten.
ErrCode commit(TxnState* txn);

// Answers a get with a payload (nullptr: the key is missing), and remembers the place of the
// cursor.
ErrCode answer(IdxState* idxState, TxnState* txn, Record* record, const std::string* payload);

}  // namespace attacks
