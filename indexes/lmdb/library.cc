// Implements the ten functions of contract A (keydrome/index.h) with LMDB.
//
// A transaction begins to read with its first read, and to write with its first write. The first
// write of a reader makes it the writer, if no other transaction is writing, and none has committed
// since the reader began. Otherwise the write returns DEADLOCK. The next attempt begins to write
// with its first call, even if this call is a read. The call waits until no other transaction is
// writing, and the attempt then succeeds. Transactions are therefore strictly serialisable: a
// reader takes effect when it begins to read, and a writer when it commits.
//
// After DEADLOCK, every later call of the transaction returns DEADLOCK until the client calls
// abortTransaction.
//
// An auto-commit call is a transaction of its own. If the thread has another transaction open, the
// call might wait for that transaction for ever. So it returns DEADLOCK instead of waiting.
//
// Thread safety: handles and transactions belong to their thread's ThreadState, and only that
// thread uses them.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "indexes/common/guarded.h"
#include "indexes/common/handle_pool.h"
#include "indexes/common/key_bytes.h"
#include "indexes/lmdb/environment.h"
#include "indexes/lmdb/scan.h"
#include "keydrome/index.h"

using keydrome::Environment;
using keydrome::guarded;
using keydrome::Scan;
using keydrome::StoredKey;
using keydrome::StoredPayload;

struct IdxState {
  const keydrome::Index* index = nullptr;  // nullptr: closed
  Scan scan;
  uint64_t transaction = 0;  // the number of the transaction whose position `scan` has
};

namespace {

// A read transaction of LMDB, which is used again after it has ended.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }

  int begin() {
    const int error = Environment::instance()->begin_read(&txn_, &version_);
    reads_ = error == 0;
    return error;
  }
  void end() {
    if (std::exchange(reads_, false)) Environment::instance()->end_read(txn_, version_);
  }
  // Ends reading, and begins to write if nothing has changed. Returns 0, kBusy or LMDB's error.
  int upgrade(MDB_txn** writer) {
    reads_ = false;
    return Environment::instance()->upgrade(txn_, version_, writer);
  }
  // Returns the transaction of LMDB, or nullptr if it does not read now.
  [[nodiscard]] MDB_txn* txn() const { return reads_ ? txn_ : nullptr; }

 private:
  MDB_txn* txn_ = nullptr;
  uint64_t version_ = 0;
  bool reads_ = false;
};

// Converts an error of LMDB to a result code. Prints the cause of the first FAILURE on stderr.
ErrCode code_of(int error) {
  if (error == 0) return SUCCESS;
  if (error == Environment::kBusy) return DEADLOCK;
  static std::once_flag told;
  std::call_once(told, [&] {
    // The size of the map is the space that was free at the start (environment.cc).
    const bool is_full = error == MDB_MAP_FULL || error == ENOSPC;
    std::fprintf(
        stderr,
        "lmdb: LMDB reported the error \"%s\", so a call of this library returned FAILURE; later "
        "errors are not printed%s\n",
        mdb_strerror(error),
        is_full ? ". The records need more space than was free in the working directory at the "
                  "start, or more than 64 GiB: free space there, or use fewer records"
                : "");
  });
  return FAILURE;
}

}  // namespace

struct TxnState {
  ~TxnState() {
    if (open) roll_back();  // a thread that ended without an abort
  }

  // Ends the transaction of LMDB and undoes its changes.
  void roll_back() {
    close_scans();
    reader.end();
    if (writer != nullptr) Environment::instance()->roll_back(std::exchange(writer, nullptr));
  }

  void close_scans() {
    for (IdxState* handle : scans) handle->scan.close();
    scans.clear();
  }

  // Sets `*txn` to the transaction of LMDB. Returns 0, kBusy or LMDB's error.
  int read(MDB_txn** txn) {
    int error = 0;
    if (writer == nullptr && reader.txn() == nullptr) {
      error = must_write ? Environment::instance()->begin_write(true, &writer) : reader.begin();
    }
    *txn = writer != nullptr ? writer : reader.txn();
    return error;
  }

  int write(MDB_txn** txn) {
    int error = 0;
    if (writer == nullptr) {
      close_scans();
      error = reader.txn() != nullptr ? reader.upgrade(&writer)
                                      : Environment::instance()->begin_write(true, &writer);
    }
    *txn = writer;
    return error;
  }

  // Returns the code of a call. After an error, rolls back, and later calls fail, too.
  ErrCode note(int error) {
    if (error == 0) return SUCCESS;
    roll_back();
    must_write = error == Environment::kBusy;
    return broken = code_of(error);
  }

  bool open = false;
  bool must_write = false;   // the last attempt could not become the writer: begin as the writer
  ErrCode broken = SUCCESS;  // the code that all later calls return; SUCCESS: none
  uint64_t number = 0;       // counts this thread's transactions, from 1
  uint64_t writes = 0;       // number of calls so far that may have changed a record
  Reader reader;
  MDB_txn* writer = nullptr;
  std::vector<IdxState*> scans;  // handles whose scan has an open cursor
};

namespace {

// The handles and the transaction of one thread.
struct ThreadState {
  keydrome::HandlePool<IdxState> handles;  // destroyed last, because ~TxnState closes scans
  Reader auto_commit_reader;
  TxnState transaction;
};

ThreadState& thread_state() {
  static thread_local ThreadState instance;
  return instance;
}

bool is_open(const IdxState* handle) { return handle != nullptr && handle->index != nullptr; }

// Returns `txn` if it is the open transaction of this thread. Returns nullptr if it is not.
TxnState* own_transaction(TxnState* txn) {
  TxnState& own = thread_state().transaction;
  return txn == &own && own.open ? &own : nullptr;
}

// Runs body(MDB_txn*), which writes and returns 0 or an error of LMDB, in a transaction of its own.
template <typename Body>
int auto_commit_write(Body body) {
  Environment* const environment = Environment::instance();
  MDB_txn* txn = nullptr;
  int error = environment->begin_write(!thread_state().transaction.open, &txn);
  if (error != 0) return error;
  error = body(txn);
  if (error == 0) return environment->commit(txn);
  environment->roll_back(txn);
  return error;
}

// Runs a write in the client's transaction, or with auto-commit if `txn` is nullptr. The body
// returns 0 or an error of LMDB. `missing` is the code for MDB_NOTFOUND.
template <typename Body>
ErrCode write(TxnState* txn, ErrCode missing, Body body) {
  const auto is_answer = [](int error) { return error == MDB_NOTFOUND || error == MDB_KEYEXIST; };
  const auto answer = [=](int error) { return error == MDB_NOTFOUND ? missing : ENTRY_EXISTS; };
  return guarded([&] {
    if (txn == nullptr) {
      const int error = auto_commit_write(body);
      return is_answer(error) ? answer(error) : code_of(error);
    }
    TxnState* const own = own_transaction(txn);
    if (own == nullptr) return TXN_DNE;
    if (own->broken != SUCCESS) return own->broken;
    MDB_txn* inner = nullptr;
    int error = own->write(&inner);
    if (error == 0) error = body(inner);
    ++own->writes;
    return is_answer(error) ? answer(error) : own->note(error);
  });
}

// Runs body(Scan&, MDB_txn*, writes) with the scan of a handle, in the client's transaction, or
// with auto-commit if `txn` is nullptr. The body returns 0 or an error of LMDB. `writes` is the
// number of the transaction's writes so far. `missing` is the code for MDB_NOTFOUND.
template <typename Body>
ErrCode read(IdxState* handle, TxnState* txn, ErrCode missing, Body body) {
  return guarded([&] {
    if (txn == nullptr) {
      Reader& reader = thread_state().auto_commit_reader;
      int error = reader.begin();
      if (error != 0) return code_of(error);
      Scan scan;
      scan.start(*handle->index);
      error = body(scan, reader.txn(), uint64_t{0});
      scan.close();
      reader.end();
      return error == MDB_NOTFOUND ? missing : code_of(error);
    }
    TxnState* const own = own_transaction(txn);
    if (own == nullptr) return TXN_DNE;
    if (own->broken != SUCCESS) return own->broken;
    if (std::exchange(handle->transaction, own->number) != own->number) {
      handle->scan.start(*handle->index);
    }
    MDB_txn* inner = nullptr;
    int error = own->read(&inner);
    if (error != 0) return own->note(error);
    if (!handle->scan.is_open()) own->scans.push_back(handle);
    error = body(handle->scan, inner, own->writes);
    return error == MDB_NOTFOUND ? missing : own->note(error);
  });
}

}  // namespace

ErrCode create(KeyType type, char* name) {
  if (name == nullptr || (type != SHORT && type != INT && type != VARCHAR)) return FAILURE;
  return guarded([&] {
    Environment* const environment = Environment::instance();
    return environment == nullptr ? FAILURE : environment->create(type, name);
  });
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  if (name == nullptr || idxState == nullptr) return FAILURE;
  return guarded([&] {
    Environment* const environment = Environment::instance();
    if (environment == nullptr) return FAILURE;
    const keydrome::Index* const index = environment->find(name);
    if (index == nullptr) return DB_DNE;
    *idxState = thread_state().handles.open();
    (*idxState)->index = index;
    (*idxState)->transaction = 0;  // no transaction has this number
    return SUCCESS;
  });
}

ErrCode closeIndex(IdxState* idxState) {
  if (!is_open(idxState)) return DB_DNE;
  ThreadState& own = thread_state();
  idxState->index = nullptr;
  if (idxState->scan.is_open()) {
    std::erase(own.transaction.scans, idxState);
    idxState->scan.close();
  }
  own.handles.close(idxState);
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  if (txn == nullptr) return FAILURE;
  return guarded([&] {
    if (Environment::instance() == nullptr) return FAILURE;
    TxnState& own = thread_state().transaction;
    if (own.open) return TXN_EXISTS;
    own.open = true;
    own.broken = SUCCESS;
    own.writes = 0;
    ++own.number;
    *txn = &own;
    return SUCCESS;
  });
}

ErrCode abortTransaction(TxnState* txn) {
  TxnState* const own = own_transaction(txn);
  if (own == nullptr) return TXN_DNE;
  own->open = false;
  own->roll_back();
  return SUCCESS;
}

ErrCode commitTransaction(TxnState* txn) {
  TxnState* const own = own_transaction(txn);
  if (own == nullptr) return TXN_DNE;
  if (own->broken != SUCCESS) return own->broken;
  own->close_scans();
  own->reader.end();
  if (MDB_txn* const writer = std::exchange(own->writer, nullptr); writer != nullptr) {
    const int error = Environment::instance()->commit(writer);
    if (error != 0) return own->note(error);
  }
  own->open = false;
  own->must_write = false;
  return SUCCESS;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  keydrome::KeyBytes key;
  if (record == nullptr || !keydrome::encode_key(idxState->index->type, record->key, &key)) {
    return FAILURE;
  }
  const StoredKey stored(*idxState->index, key);
  const MDB_dbi database = Environment::instance()->database();
  return read(idxState, txn, KEY_NOTFOUND, [&](Scan& scan, MDB_txn* inner, uint64_t writes) {
    const int error = scan.get(inner, database, stored, writes);
    if (error == 0) {
      std::memcpy(record->payload, scan.payload().bytes.data(), scan.payload().size);
    }
    return error;
  });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  if (record == nullptr) return FAILURE;
  const MDB_dbi database = Environment::instance()->database();
  return read(idxState, txn, DB_END, [&](Scan& scan, MDB_txn* inner, uint64_t writes) {
    const int error = scan.next(inner, database, writes);
    if (error != 0) return error;
    keydrome::decode_key(idxState->index->type, scan.key(), &record->key);
    std::memcpy(record->payload, scan.payload().bytes.data(), scan.payload().size);
    return 0;
  });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (!is_open(idxState)) return DB_DNE;
  const std::string_view bytes = keydrome::payload_view(payload);
  keydrome::KeyBytes key;
  if (k == nullptr || bytes.data() == nullptr ||
      !keydrome::encode_key(idxState->index->type, *k, &key)) {
    return FAILURE;
  }
  const StoredKey stored(*idxState->index, key);
  StoredPayload stored_payload;
  stored_payload.assign(bytes);
  const MDB_dbi database = Environment::instance()->database();
  return write(txn, FAILURE, [&](MDB_txn* inner) {
    return keydrome::put_pair(inner, database, stored, stored_payload);
  });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  keydrome::KeyBytes key;
  if (record == nullptr || !keydrome::encode_key(idxState->index->type, record->key, &key)) {
    return FAILURE;
  }
  const std::string_view bytes = keydrome::payload_view(record->payload);
  if (bytes.data() == nullptr) return FAILURE;
  const StoredKey stored(*idxState->index, key);
  StoredPayload payload;
  payload.assign(bytes);
  const MDB_dbi database = Environment::instance()->database();
  return write(txn, bytes.empty() ? KEY_NOTFOUND : ENTRY_DNE, [&](MDB_txn* inner) {
    return bytes.empty() ? keydrome::delete_key(inner, database, stored)
                         : keydrome::delete_pair(inner, database, stored, payload);
  });
}
