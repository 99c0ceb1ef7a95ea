// The one Berkeley DB environment of the process, and the databases in it.
//
// Everything lives in memory: a private environment, an in-memory log, and named databases without
// a file, which are transactional and never spill to disk. So the library needs no file at all.
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

// A database handle is free-threaded; all threads share it. Lives as long as the process.
struct Index {
  KeyType type;
  DB* database;
};

class Environment {
 public:
  // The environment, opened at the first call; nullptr when it could not be opened (Berkeley DB
  // says why on stderr). Never closed: threads may still run when main returns.
  static Environment* instance();

  // SUCCESS, DB_EXISTS, FAILURE. Throws std::bad_alloc.
  ErrCode create(KeyType type, const char* name);
  // nullptr when there is no index of that name.
  Index* find(const char* name);
  // Begins a transaction. One that may not `wait` answers DEADLOCK instead of waiting for a lock. 0
  // or an error.
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

// What Berkeley DB's error number means to the client. A full log is a DEADLOCK too: the
// transaction cannot go on, and can be repeated when the others have ended.
ErrCode code_of(int error);

}  // namespace keydrome
