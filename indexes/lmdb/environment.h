// Environment: the LMDB environment of the process, the directory of its indexes, and the rule that
// says when a transaction may read or write.
//
// LMDB stores all indexes in one database. A key of LMDB is the number of the index, followed by
// the key in the index. A commit makes a new version of the database: it writes changed pages to
// free places, and keeps the old pages for readers. A reader sees the version that was the latest
// when it began. LMDB usually keeps the list of readers in a file with locks (fcntl), which the
// jail, Keydrome's sandbox, refuses. So this class counts the readers, and LMDB runs with
// MDB_NOLOCK. LMDB's documentation then demands two things of its user:
// - At most one write transaction is open.
// - While a write transaction is open, all readers use the version from which the write transaction
//   began. LMDB reuses the pages of older versions.
// So a write transaction waits until all readers of older versions have ended. Readers never wait.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <lmdb.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "keydrome/index.h"

namespace keydrome {

// An index. It exists until the process ends.
struct Index {
  KeyType type;
  uint32_t number;
};

class Environment {
 public:
  // Returns the environment, which the first call opens. Returns nullptr if it cannot be opened;
  // the cause is then on stderr. The environment is never closed, because threads may still run
  // when main returns.
  static Environment* instance();

  // Creates an index. Returns SUCCESS, DB_EXISTS or FAILURE. Throws std::bad_alloc.
  ErrCode create(KeyType type, const char* name);
  // Returns the index of that name, or nullptr.
  const Index* find(const char* name);

  // The database with the pairs of all indexes.
  MDB_dbi database() const { return database_; }

  // Begins to read the latest version. `*txn` is nullptr, or a transaction that end_read() has
  // reset and that is used again. Sets `*version`. Returns 0 or LMDB's error.
  int begin_read(MDB_txn** txn, uint64_t* version);
  // Ends reading `version`. The cursors of the transaction must be closed.
  void end_read(MDB_txn* txn, uint64_t version);

  // Begins to write. If another transaction writes or a reader reads an older version, waits for
  // them if `wait` is true, and returns kBusy otherwise. Returns 0, kBusy or LMDB's error. A thread
  // that itself reads an older version must not wait, because it would wait for itself.
  int begin_write(bool wait, MDB_txn** txn);
  // Turns a reader of `version` into the writer. Returns kBusy if another transaction is writing,
  // or has committed since the reader began, because what it has read may then be out of date.
  // Otherwise returns 0 or LMDB's error. In all cases `reader` no longer reads afterwards. The
  // cursors of `reader` must be closed.
  int upgrade(MDB_txn* reader, uint64_t version, MDB_txn** txn);
  // Ends writing. Returns 0 or LMDB's error; after an error, the changes are undone.
  int commit(MDB_txn* txn);
  void roll_back(MDB_txn* txn);

  // An error code that LMDB does not use.
  static constexpr int kBusy = 1 << 20;

 private:
  Environment(MDB_env* env, MDB_dbi database) : env_(env), database_(database) {}
  static Environment* open();

  bool may_write() const { return !writes_ && old_readers_ == 0; }
  int start_writing(MDB_txn** txn);
  void leave(uint64_t version);

  MDB_env* const env_;
  const MDB_dbi database_;

  std::mutex directory_lock_;
  std::map<std::string, Index, std::less<>> directory_;  // under directory_lock_

  // LMDB's calls that begin and end transactions also run under this lock.
  std::mutex lock_;
  std::condition_variable changed_;  // may_write() or version_ may have changed
  uint64_t version_ = 0;             // number of commits so far
  uint64_t readers_ = 0;             // readers of the latest version
  uint64_t old_readers_ = 0;         // readers of older versions
  bool writes_ = false;              // a write transaction is open
};

}  // namespace keydrome
