// Concurrency control: what makes a transaction a transaction.
//
// The runtime (runtime.h) checks handles, keys and transaction states and then makes exactly one
// call per API call. A Control sees encoded keys, an Index with its Store, and objects of
// its own making: one per index, one per session. Locking, validation and versions all fit behind
// this interface.
//
// Answers are ErrCodes of contract A. DEADLOCK means: the transaction has been rolled back and
// holds nothing any more; the next call on it is begin. Other codes leave it open, with the failed
// call undone.
//
// Threads: a Transaction and a Cursor are used by one thread at a time, everything else by many.
#pragma once

#include <cstdint>
#include <memory>

#include "base/json.h"
#include "keydrome/index.h"
#include "keydrome/structure.h"
#include "runtime/control/cursor.h"

namespace keydrome::runtime {

class Index;

// What a Control keeps about an index; made when the index is.
class IndexControl {
 public:
  virtual ~IndexControl() = default;
};

// What a Control keeps about a transaction; used again for the next one of the same session and
// kind.
class Transaction {
 public:
  virtual ~Transaction() = default;
};

// What a Control keeps about a client thread: its own transaction and the one of its auto-commit
// calls. Both may be open at once; then the thread works in the automatic one, and the other makes
// no progress until that has ended.
class ControlSession {
 public:
  virtual ~ControlSession() = default;
  virtual Transaction& own() = 0;
  virtual Transaction& automatic() = 0;
};

class Control {
 public:
  virtual ~Control() = default;

  virtual std::unique_ptr<IndexControl> make_index_control() = 0;
  // For a client thread beside those that have one. nullptr: that thread gets FAILURE from every
  // call but create.
  virtual std::unique_ptr<ControlSession> make_session() = 0;

  virtual ErrCode begin(Transaction& transaction) = 0;
  virtual ErrCode commit(Transaction& transaction) = 0;
  virtual ErrCode abort(Transaction& transaction) = 0;

  // On SUCCESS the cursor stands on a pair of the key and holds it. On KEY_NOTFOUND it stands after
  // the key.
  virtual ErrCode get(Transaction& transaction, Index& index, Cursor& cursor,
                      KeydromeBytes key) = 0;
  // On SUCCESS the cursor has moved to the next pair and holds it. On DB_END it has not moved.
  virtual ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) = 0;
  virtual ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                         KeydromeBytes payload) = 0;
  virtual ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                             KeydromeBytes payload) = 0;
  virtual ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) = 0;

  // Counters, for the report. Thread-safe.
  virtual Json statistics() const = 0;
};

}  // namespace keydrome::runtime
