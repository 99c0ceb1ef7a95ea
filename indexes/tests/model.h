// What an index must answer: a plain sorted map of sets, and a cursor that knows every answer the
// contract allows.
//
// The order of the payloads of one key is free, and an own insert under the current key may or may
// not be seen, so the model does not predict an answer: it accepts or refuses one.
//
// Thread safety: none.
#pragma once

#include <map>
#include <set>
#include <string>

#include "indexes/tests/library.h"

namespace keydrome {

using Contents = std::map<KeyValue, std::set<std::string>>;

// Where a transaction stands in an index.
struct ModelCursor {
  bool started = false;        // false: before the first record
  KeyValue key;                // of the last record read, or of the failed get
  std::set<std::string> must;  // payloads of `key` that getNext still owes
  std::set<std::string> may;   // payloads of `key` that the transaction inserted since
};

class ModelIndex {
 public:
  Contents contents;

  // Each returns whether the answer is allowed, and moves the cursor (nullptr: auto-commit) or
  // changes the contents as the answer says.
  bool accept_get(ModelCursor* cursor, const KeyValue& key, const Read& answer) const;
  bool accept_next(ModelCursor* cursor, const Read& answer) const;
  bool accept_insert(ModelCursor* cursor, const KeyValue& key, const std::string& payload,
                     ErrCode answer);
  // An empty payload stands for all.
  bool accept_erase(ModelCursor* cursor, const KeyValue& key, const std::string& payload,
                    ErrCode answer);

 private:
  bool accept_step(ModelCursor* cursor, Contents::const_iterator next, const Read& answer) const;
};

}  // namespace keydrome
