// Implements the ten functions of contract A (keydrome/index.h) with Berkeley DB. Each transaction
// of the contract is one transaction of Berkeley DB. It locks pages and keeps all locks until it
// ends (two-phase locking, Berkeley DB's default). An index is a B-tree whose payloads are sorted
// duplicates of their key.
//
// If Berkeley DB reports a deadlock, the library rolls the transaction back at once, so that other
// transactions can continue. The transaction of the contract stays open, and every later call in it
// returns DEADLOCK until the client calls abortTransaction.
//
// An auto-commit call is a transaction of its own. If the thread has another transaction open, the
// call never waits: if it needs a lock that is taken, it returns DEADLOCK. The lock may belong to
// the thread's own transaction. The call would then wait for ever, because the deadlock detector
// does not see such a wait.
//
// Thread safety: handles and transactions belong to their thread's ThreadState, and only that
// thread uses them.
#include <vector>

#include "indexes/berkeley/environment.h"
#include "indexes/berkeley/scan.h"
#include "indexes/common/guarded.h"
#include "indexes/common/handle_pool.h"
#include "indexes/common/key_bytes.h"
#include "keydrome/index.h"

using keydrome::code_of;
using keydrome::Environment;
using keydrome::guarded;
using keydrome::PairBytes;
using keydrome::Scan;

struct IdxState {
  keydrome::Index* index = nullptr;  // nullptr: closed
  Scan scan;                         // open in the thread's transaction, or closed
};

struct TxnState {
  ~TxnState() {
    if (open) roll_back();  // releases the locks of a thread that ended without an abort
  }

  // Closes all cursors. Returns 0 or the first of Berkeley DB's errors.
  int close_scans() {
    int error = 0;
    for (IdxState* handle : scans) {
      const int close_error = handle->scan.close();
      if (error == 0) error = close_error;
    }
    scans.clear();
    return error;
  }

  // Aborts Berkeley DB's transaction. Returns 0 or Berkeley DB's error.
  int roll_back() {
    int error = close_scans();
    if (txn != nullptr) {
      const int abort_error = txn->abort(txn);
      if (error == 0) error = abort_error;
      txn = nullptr;
    }
    return error;
  }

  // Returns `code`, the result of a call. If `code` is DEADLOCK, also rolls the transaction back.
  // Later calls of the transaction then return DEADLOCK, too.
  ErrCode note(ErrCode code) {
    if (code == DEADLOCK) {
      roll_back();
      ++attempts;
    }
    return code;
  }

  bool open = false;
  DB_TXN* txn = nullptr;         // nullptr if not open, or if a deadlock has rolled it back
  uint64_t writes = 0;           // number of calls so far that may have changed a record
  uint32_t attempts = 0;         // number of note(DEADLOCK) calls since this thread's last commit
  std::vector<IdxState*> scans;  // handles whose scan is open
};

namespace {

constexpr uint32_t kPriority = 100;  // Berkeley DB's default priority of a transaction

// The handles and the transaction of one thread.
struct ThreadState {
  keydrome::HandlePool<IdxState> handles;  // destroyed last, because ~TxnState closes scans
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

// Runs an auto-commit call: runs body(DB_TXN*), which returns an ErrCode, in a new transaction.
// Rolls back if the result is DEADLOCK or FAILURE, and commits otherwise.
template <typename Body>
ErrCode auto_commit(Body body) {
  DB_TXN* txn = nullptr;
  const bool may_wait = !thread_state().transaction.open;
  const int error = Environment::instance()->begin(may_wait, &txn);
  if (error != 0) return code_of(error);
  const ErrCode code = body(txn);
  if (code == DEADLOCK || code == FAILURE) {
    txn->abort(txn);
    return code;
  }
  const int commit_error = txn->commit(txn, 0);
  return commit_error != 0 ? code_of(commit_error) : code;
}

// Runs a write in the client's transaction, or with auto-commit if `txn` is nullptr.
template <typename Body>
ErrCode write(TxnState* txn, Body body) {
  return guarded([&] {
    if (txn == nullptr) return auto_commit(body);
    TxnState* const own = own_transaction(txn);
    if (own == nullptr) return TXN_DNE;
    if (own->txn == nullptr) return DEADLOCK;
    ++own->writes;
    return own->note(body(own->txn));
  });
}

// Runs a read in the client's transaction, or with auto-commit if `txn` is nullptr. body(Scan&,
// writes) does the read and returns 0 or an error of Berkeley DB. `writes` is the number of the
// transaction's writes so far: after a further write, the Scan must search for its position again.
// `missing` is the result code for the error DB_NOTFOUND.
template <typename Body>
ErrCode read(IdxState* handle, TxnState* txn, ErrCode missing, Body body) {
  const auto code = [missing](int error) {
    return error == DB_NOTFOUND ? missing : code_of(error);
  };
  return guarded([&] {
    if (txn == nullptr) {
      return auto_commit([&](DB_TXN* own) {
        Scan scan;
        int error = scan.open(*handle->index, own);
        if (error == 0) error = body(scan, uint64_t{0});
        const int close_error = scan.is_open() ? scan.close() : 0;
        return code(error != 0 ? error : close_error);
      });
    }
    TxnState* const own = own_transaction(txn);
    if (own == nullptr) return TXN_DNE;
    if (own->txn == nullptr) return DEADLOCK;
    if (!handle->scan.is_open()) {
      own->scans.push_back(handle);
      const int error = handle->scan.open(*handle->index, own->txn);
      if (error != 0) return own->note(code_of(error));
    }
    return own->note(code(body(handle->scan, own->writes)));
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
    keydrome::Index* const index = environment->find(name);
    if (index == nullptr) return DB_DNE;
    *idxState = thread_state().handles.open();
    (*idxState)->index = index;
    return SUCCESS;
  });
}

ErrCode closeIndex(IdxState* idxState) {
  if (!is_open(idxState)) return DB_DNE;
  ThreadState& own = thread_state();
  idxState->index = nullptr;
  own.handles.close(idxState);
  if (!idxState->scan.is_open()) return SUCCESS;
  std::erase(own.transaction.scans, idxState);
  const int error = idxState->scan.close();
  // The handle is closed even if closing the cursor fails. The close fails only if the deadlock
  // detector has chosen the transaction as its victim. The next call of the transaction then
  // returns DEADLOCK.
  if (error != 0) own.transaction.note(DEADLOCK);
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  if (txn == nullptr) return FAILURE;
  return guarded([&] {
    TxnState& own = thread_state().transaction;
    if (own.open) return TXN_EXISTS;
    Environment* const environment = Environment::instance();
    if (environment == nullptr) return FAILURE;
    int error = environment->begin(true, &own.txn);
    if (error == 0 && own.attempts > 0) {
      error = own.txn->set_priority(own.txn, kPriority + own.attempts);
    }
    if (error != 0) {
      own.roll_back();
      return FAILURE;
    }
    own.open = true;
    own.writes = 0;
    *txn = &own;
    return SUCCESS;
  });
}

ErrCode abortTransaction(TxnState* txn) {
  TxnState* const own = own_transaction(txn);
  if (own == nullptr) return TXN_DNE;
  own->open = false;
  return own->roll_back() == 0 ? SUCCESS : FAILURE;
}

ErrCode commitTransaction(TxnState* txn) {
  TxnState* const own = own_transaction(txn);
  if (own == nullptr) return TXN_DNE;
  if (own->txn == nullptr || own->close_scans() != 0) return own->note(DEADLOCK);
  DB_TXN* const inner = own->txn;
  own->txn = nullptr;
  const int error = inner->commit(inner, 0);  // ends the transaction even if it returns an error
  if (error != 0) return own->note(code_of(error));
  own->open = false;
  own->attempts = 0;
  return SUCCESS;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  keydrome::KeyBytes key;
  if (record == nullptr || !keydrome::encode_key(idxState->index->type, record->key, &key)) {
    return FAILURE;
  }
  return read(idxState, txn, KEY_NOTFOUND, [&](Scan& scan, uint64_t writes) {
    const int error = scan.get(key, writes);
    if (error == 0) keydrome::copy_payload(scan.pair().payload_view(), record->payload);
    return error;
  });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  if (record == nullptr) return FAILURE;
  return read(idxState, txn, DB_END, [&](Scan& scan, uint64_t writes) {
    const int error = scan.next(writes);
    if (error != 0) return error;
    keydrome::decode_key(idxState->index->type, scan.pair().key.view(), &record->key);
    keydrome::copy_payload(scan.pair().payload_view(), record->payload);
    return 0;
  });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (!is_open(idxState)) return DB_DNE;
  const std::string_view bytes = keydrome::payload_view(payload);
  PairBytes pair;
  if (k == nullptr || bytes.data() == nullptr ||
      !keydrome::encode_key(idxState->index->type, *k, &pair.key)) {
    return FAILURE;
  }
  pair.set_payload(bytes);
  return write(txn, [&](DB_TXN* inner) {
    const int error = keydrome::put_pair(*idxState->index, inner, pair);
    return error == DB_KEYEXIST ? ENTRY_EXISTS : code_of(error);
  });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  if (!is_open(idxState)) return DB_DNE;
  PairBytes pair;
  if (record == nullptr || !keydrome::encode_key(idxState->index->type, record->key, &pair.key)) {
    return FAILURE;
  }
  const std::string_view payload = keydrome::payload_view(record->payload);
  if (payload.data() == nullptr) return FAILURE;
  pair.set_payload(payload);
  return write(txn, [&](DB_TXN* inner) {
    const keydrome::Index& index = *idxState->index;
    const int error = payload.empty() ? keydrome::delete_key(index, inner, pair.key)
                                      : keydrome::delete_pair(index, inner, pair);
    if (error == DB_NOTFOUND) return payload.empty() ? KEY_NOTFOUND : ENTRY_DNE;
    return code_of(error);
  });
}
