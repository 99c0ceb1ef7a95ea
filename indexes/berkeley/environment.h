// Environment: the Berkeley DB environment of the process, and the databases in it. Each index of
// contract A (keydrome/index.h) is one database.
//
// All data is in memory: a private environment, an in-memory log, and named databases without
// files. The databases are transactional and are never written to disk, so the library needs no
// file.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <db.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "keydrome/index.h"

namespace keydrome {

// An index. All threads may use its database handle at the same time. Exists until the process
// ends.
struct Index {
  KeyType type;
  DB* database;
};

class Environment {
 public:
  // Returns the environment, which the first call opens. Returns nullptr if it cannot be opened;
  // Berkeley DB then prints the cause on stderr. The environment is never closed, because threads
  // may still run when main returns.
  static Environment* instance();

  // Creates an index. Returns SUCCESS, DB_EXISTS or FAILURE. Throws std::bad_alloc.
  ErrCode create(KeyType type, const char* name);
  // Returns the index of that name, or nullptr.
  Index* find(const char* name);
  // Begins a transaction. If `wait` is false, the calls of this transaction never wait for a lock.
  // A call that needs a lock of another transaction then fails with a deadlock error. Returns 0 or
  // Berkeley DB's error.
  int begin(bool wait, DB_TXN** txn) {
    return env_->txn_begin(env_, nullptr, txn, wait ? 0 : DB_TXN_NOWAIT);
  }

 private:
  explicit Environment(DB_ENV* env) : env_(env) {}
  static Environment* open();

  DB_ENV* const env_;
  std::mutex lock_;
  std::map<std::string, Index, std::less<>> directory_;  // under lock_
};

// Converts an error of Berkeley DB to a result code. A full log becomes DEADLOCK, because the
// transaction cannot continue, but may succeed if the client repeats it after other transactions
// have ended.
ErrCode code_of(int error);

}  // namespace keydrome
