// The interface of a concurrency control, the part of the runtime that isolates transactions from
// each other. The runtime is the library that adds transactions to a data structure. An index is a
// sorted set of pairs; a pair is a key with one of its payloads.
//
// The runtime (runtime.h) checks handles, keys and transaction states. Then it passes each call to
// this interface. For an auto-commit call, it also calls begin and then commit or abort. A
// concurrency control receives encoded keys, an Index with its Store, and objects that it has made
// itself: one per index, and one per client thread. Locking, optimistic validation and multiple
// versions all fit this interface.
//
//   std::unique_ptr<Concurrency> occ = ...;            // see methods.h
//   std::unique_ptr<ClientConcurrency> client = occ->make_client();
//   Transaction& transaction = client->own();
//   occ->begin(transaction);
//   ErrCode code = occ->insert(transaction, index, key, payload);
//   if (code != DEADLOCK) code = occ->commit(transaction);  // DEADLOCK: rolled back already
//
// Results are ErrCodes of index.h. DEADLOCK means that the transaction has been rolled back and has
// released its locks; the next call with this Transaction must be begin. Every other code from a
// read or a write leaves the transaction open. A call that returns another code than SUCCESS has
// changed no pair. The exception is erase_key of none.h, which may have deleted some payloads.
//
// Threads: one thread at a time uses a Transaction or a Cursor. Apart from this, several threads
// may call all functions at the same time.
#pragma once

#include <cstdint>
#include <memory>

#include "base/json.h"
#include "keydrome/index.h"
#include "keydrome/structure.h"
#include "runtime/content/cursor.h"

namespace keydrome::runtime {

class Index;

// The data that a concurrency control keeps for an index. It is made together with the index.
class IndexConcurrency {
 public:
  virtual ~IndexConcurrency() = default;
};

// The data that a concurrency control keeps for a transaction. The object is reused for later
// transactions of the same client.
class Transaction {
 public:
  virtual ~Transaction() = default;
};

// The data that a concurrency control keeps for a client thread. own() is the transaction that the
// thread begins and ends itself. automatic() is the transaction of an auto-commit call (a call
// without a transaction). Both may be open at once: then the thread is inside an auto-commit call,
// and its own transaction waits for the end of this call.
class ClientConcurrency {
 public:
  virtual ~ClientConcurrency() = default;
  virtual Transaction& own() = 0;
  virtual Transaction& automatic() = 0;
};

class Concurrency {
 public:
  virtual ~Concurrency() = default;

  virtual std::unique_ptr<IndexConcurrency> make_index_concurrency() = 0;
  // Makes the object of one more client thread. Returns nullptr if no more threads are allowed.
  // Then all calls of index.h by this thread, except `create`, return FAILURE.
  virtual std::unique_ptr<ClientConcurrency> make_client() = 0;

  virtual ErrCode begin(Transaction& transaction) = 0;
  virtual ErrCode commit(Transaction& transaction) = 0;
  virtual ErrCode abort(Transaction& transaction) = 0;

  // On SUCCESS the cursor has moved to the key's first pair and contains a copy of this pair. On
  // KEY_NOTFOUND the cursor is after the key.
  virtual ErrCode get(Transaction& transaction, Index& index, Cursor& cursor,
                      KeydromeBytes key) = 0;
  // On SUCCESS the cursor has moved to the next pair and contains a copy of this pair. On DB_END
  // the cursor has not moved.
  virtual ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) = 0;
  virtual ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                         KeydromeBytes payload) = 0;
  virtual ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                             KeydromeBytes payload) = 0;
  virtual ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) = 0;

  // Returns counters for tests, such as the number of deadlocks.
  virtual Json statistics() const = 0;
};

}  // namespace keydrome::runtime
