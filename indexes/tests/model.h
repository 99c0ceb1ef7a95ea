// A model of an index for random tests (differential_test.cc): a sorted map of sets, and a cursor.
//
// The model does not predict results, but accepts or rejects them, because the index API sometimes
// allows several results. The payloads of one key may come in any order. getNext may return or
// leave out a pair that the transaction has inserted under the current key.
//
// Thread safety: none.
#pragma once

#include <map>
#include <set>
#include <string>

#include "indexes/tests/library.h"

namespace keydrome {

using Contents = std::map<KeyValue, std::set<std::string>>;

// The cursor of a transaction in an index.
struct ModelCursor {
  bool started = false;        // false: before the first record; the other fields are unused
  KeyValue key;                // the key of the last read, even if a get has not found the key
  std::set<std::string> must;  // payloads of `key` that getNext must still return
  // Payloads that the transaction has inserted under `key` since the cursor came there. getNext may
  // return them or leave them out.
  std::set<std::string> may;
};

class ModelIndex {
 public:
  Contents contents;

  // Each function returns true if the contract allows the result `answer`. In this case it also
  // moves the cursor or changes the contents. `cursor` is nullptr for a call without a transaction.
  bool accept_get(ModelCursor* cursor, const KeyValue& key, const Read& answer) const;
  bool accept_next(ModelCursor* cursor, const Read& answer) const;
  bool accept_insert(ModelCursor* cursor, const KeyValue& key, const std::string& payload,
                     ErrCode answer);
  // An empty payload means all payloads.
  bool accept_erase(ModelCursor* cursor, const KeyValue& key, const std::string& payload,
                    ErrCode answer);

 private:
  bool accept_step(ModelCursor* cursor, Contents::const_iterator next, const Read& answer) const;
};

}  // namespace keydrome
