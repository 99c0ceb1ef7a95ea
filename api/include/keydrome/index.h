/* Contract A: declares the ten functions that a contestant's library exports.
 *
 * A library stores indexes. An index is an ordered set of (key, payload) pairs, called records,
 * which clients read and change in transactions. The functions, types, enumerator values and
 * structure layouts are those of the SIGMOD 2009 Programming Contest (E. Reid, thesis, MIT 2009,
 * chapter 2). So a library written for that contest runs here unmodified. The test
 * api/tests/layout_test.cc checks every size and offset. The header compiles as C99 and as C++.
 *
 * Example: a transaction that inserts a record if its key does not exist. The index has type INT
 * and was made by create(). Checks of the other result codes are omitted.
 *
 *     IdxState* index;
 *     TxnState* txn;
 *     Record record = {0};
 *     openIndex("orders", &index);
 *     beginTransaction(&txn);
 *     record.key.type = INT;
 *     record.key.keyval.intkey = 7;
 *     ErrCode code = get(index, txn, &record);
 *     if (code == KEY_NOTFOUND) code = insertRecord(index, txn, &record.key, "new");
 *     if (code != DEADLOCK) code = commitTransaction(txn);
 *     if (code == DEADLOCK) abortTransaction(txn);
 *
 * Conventions
 *
 * 1. Result. Every function returns an ErrCode. No exception may leave the library. The functions
 *    get, getNext, insertRecord and deleteRecord may also return DB_DNE and TXN_DNE, as conventions
 *    3 and 9 say. The lists of their results below omit these two codes.
 * 2. Isolation. Transactions are serialisable, without phantoms. Some rankings demand strict
 *    serialisability, where the serial order also respects real time.
 * 3. Conflicts. beginTransaction, get, getNext, insertRecord, deleteRecord and commitTransaction
 *    may wait, or return DEADLOCK. After DEADLOCK the client calls abortTransaction and may then
 *    run the transaction again. Before this abort, every call of the transaction returns DEADLOCK
 *    or TXN_DNE. A transaction that runs alone must succeed within 10 attempts. If several
 *    transactions conflict and retry, some must succeed.
 * 4. Transactions. A thread has at most one open transaction. txn == NULL means auto-commit: the
 *    call is a transaction of its own, even while the thread has another transaction open. An
 *    auto-commit call may return DEADLOCK, but it must not hang.
 * 5. Handles. An IdxState belongs to the thread that opened it.
 * 6. Memory. All memory passed in belongs to the caller, who may change or free it when the call
 *    has returned. The name of an index is the exception: it stays alive and unchanged until the
 *    process ends. A function reads only some fields of a Record; get, for example, reads only
 *    the key. Before each call, the caller sets all other bytes of the Record to zero, also if it
 *    reuses a Record from an earlier call.
 * 7. Own changes. A transaction sees its own changes at once.
 * 8. Order. SHORT and INT are ordered numerically (signed). VARCHAR is ordered by unsigned bytes;
 *    if one string is a prefix of the other, the shorter comes first (strcmp order). The payloads
 *    of one key may come in any order.
 * 9. Misuse. A library should detect these errors of its client. A call with a handle that is NULL
 *    or closed returns DB_DNE. A call in a transaction that has ended returns TXN_DNE. A call with
 *    a key whose type is not the type of the index returns FAILURE.
 *
 * docs/reference/index-api.md marks each promise as "required" or "advisory". A broken required
 * promise fails the library. A broken advisory promise is only shown as a warning. */
#ifndef KEYDROME_INDEX_H_
#define KEYDROME_INDEX_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longest key string and longest payload in bytes, both without the terminating NUL. */
#define MAX_VARCHAR_LEN 128
#define MAX_PAYLOAD_LEN 100

/* An open index, and an open transaction. The library defines both structures. */
typedef struct IdxState IdxState;
typedef struct TxnState TxnState;

typedef enum ErrCode {
  SUCCESS,
  DB_DNE,       /* no such index, or no such open handle */
  DB_EXISTS,    /* an index of that name already exists */
  DB_END,       /* no record after the cursor */
  KEY_NOTFOUND, /* no record has that key */
  TXN_EXISTS,   /* the thread already has an open transaction */
  TXN_DNE,      /* no such transaction */
  ENTRY_EXISTS, /* that pair of key and payload is already stored */
  ENTRY_DNE,    /* that pair of key and payload is not stored */
  DEADLOCK,     /* the transaction cannot continue: abort it, then retry */
  FAILURE       /* anything else */
} ErrCode;

typedef enum KeyType {
  SHORT,  /* int32_t; the name comes from the contest */
  INT,    /* int64_t */
  VARCHAR /* a NUL-terminated string of at most MAX_VARCHAR_LEN bytes; the empty string is a key */
} KeyType;

typedef struct {
  KeyType type;
  union {
    int32_t shortkey;
    int64_t intkey;
    char charkey[MAX_VARCHAR_LEN + 1];
  } keyval;
} Key;

typedef struct {
  Key key;
  char payload[MAX_PAYLOAD_LEN + 1];
} Record;

/* Creates an empty index, which every thread may open. Returns SUCCESS, DB_EXISTS or FAILURE. */
ErrCode create(KeyType type, char* name);

/* Opens an index for the calling thread, inside or outside a transaction. The cursor of the new
 * handle is before the first record. Returns SUCCESS, DB_DNE or FAILURE. */
ErrCode openIndex(const char* name, IdxState** idxState);

/* Closes a handle. A client may close a handle inside a transaction. The changes that the
 * transaction made through the handle remain part of the transaction. Returns SUCCESS, DB_DNE or
 * FAILURE. */
ErrCode closeIndex(IdxState* idxState);

/* Begins a transaction of the calling thread. Returns SUCCESS, TXN_EXISTS, DEADLOCK or FAILURE.
 * The client sets *txn to NULL before the call. DEADLOCK means that the client must begin again. If
 * the library has set *txn in spite of DEADLOCK, the client first calls abortTransaction(*txn). */
ErrCode beginTransaction(TxnState** txn);

/* Ends the transaction and undoes all its changes. Returns SUCCESS, TXN_DNE or FAILURE. Should not
 * return DEADLOCK. */
ErrCode abortTransaction(TxnState* txn);

/* Ends the transaction and makes its changes permanent and visible to other transactions. Returns
 * SUCCESS, TXN_DNE, DEADLOCK (the client then calls abortTransaction) or FAILURE. */
ErrCode commitTransaction(TxnState* txn);

/* Copies one payload of record->key into record->payload and places the cursor on that record. If
 * no record has the key, returns KEY_NOTFOUND and places the cursor so that getNext returns the
 * first record after the key. To read a key with n payloads, call get once and getNext n - 1 times.
 * Returns SUCCESS, KEY_NOTFOUND, DEADLOCK or FAILURE. */
ErrCode get(IdxState* idxState, TxnState* txn, Record* record);

/* Copies the record after the cursor into *record and moves the cursor to this record. The cursor
 * is before the first record if txn == NULL, or if the transaction has not read through this handle
 * before. If no record is after the cursor, returns DB_END. Further calls also return DB_END, until
 * the transaction itself inserts a record after the cursor.
 *
 * The transaction may change the index between two calls of getNext. A record inserted after the
 * cursor is returned by a later call. A record inserted with the key of the current record may be
 * returned or not. If the current record was deleted, the scan continues with the next record in
 * order.
 *
 * Returns SUCCESS, DB_END, DEADLOCK or FAILURE. */
ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record);

/* Stores a pair of key and payload (0 to MAX_PAYLOAD_LEN bytes, NUL-terminated). A key may have
 * many payloads. Returns SUCCESS, ENTRY_EXISTS, DEADLOCK or FAILURE. */
ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload);

/* Deletes one pair, or all payloads of a key:
 * - If record->payload is not empty, deletes the pair of record->key and record->payload. Returns
 *   ENTRY_DNE if the pair does not exist. If no record has the key, KEY_NOTFOUND is allowed too.
 * - If record->payload is empty, deletes all payloads of record->key. Returns KEY_NOTFOUND if no
 *   record has the key.
 * Returns SUCCESS, ENTRY_DNE, KEY_NOTFOUND, DEADLOCK or FAILURE. */
ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_INDEX_H_ */
