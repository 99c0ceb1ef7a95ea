/* Contract A: what a contestant's library exports.
 *
 * These are the ten functions, types, enumerator values and structure layouts of the SIGMOD 2009
 * Programming Contest (E. Reid, thesis, MIT 2009, chapter 2), so a library that was written for
 * that contest runs here unmodified. api/tests/layout_test.cc freezes every size and offset. C99
 * and C++ clean.
 *
 * Conventions
 *
 * 1. Every function returns an ErrCode. No exception may cross this boundary.
 * 2. Isolation is serialisable, phantoms included. Boards may ask for strict serialisability
 * (real-time order).
 * 3. Any call inside a transaction may wait, or return DEADLOCK. Then the client calls
 * abortTransaction and may run the transaction again. Until it does, every call of that transaction
 * returns DEADLOCK or TXN_DNE. A lone transaction that is retried must succeed within 10 attempts;
 * N retriers must make progress.
 * 4. A thread has at most one open transaction. `txn == NULL` means auto-commit: the call is a
 * transaction of its own, even beside the thread's open one. It may return DEADLOCK; it may not
 * hang.
 * 5. An IdxState belongs to the thread that opened it.
 * 6. All memory passed in belongs to the caller, who may change or free it as soon as the call has
 * returned. The caller passes every Record zeroed except for the fields that a function reads, and
 * keeps the name of an index alive and unchanged for as long as the process runs.
 * 7. A transaction sees its own effects at once.
 * 8. Order: SHORT and INT numerically (signed); VARCHAR by unsigned bytes, the shorter string first
 * when one is a prefix of the other (strcmp order). The order of the payloads of one key is free.
 * 9. Misuse that a library can notice: a handle that is NULL or closed gives DB_DNE, a transaction
 * that has ended TXN_DNE, a key of another type than the index's FAILURE.
 *
 * Each promise is marked "required" or "advisory" in docs/reference/index-api.md; advisory ones are
 * tested and shown as warnings, never as a verdict.
 */
#ifndef KEYDROME_INDEX_H_
#define KEYDROME_INDEX_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longest key string and longest payload in bytes, both without the terminating NUL. */
#define MAX_VARCHAR_LEN 128
#define MAX_PAYLOAD_LEN 100

/* A handle of an open index, and an open transaction. The library defines what they hold. */
typedef struct IdxState IdxState;
typedef struct TxnState TxnState;

typedef enum ErrCode {
  SUCCESS,
  DB_DNE,       /* no such index */
  DB_EXISTS,    /* an index of that name exists already */
  DB_END,       /* no record after the cursor */
  KEY_NOTFOUND, /* no record has that key */
  TXN_EXISTS,   /* the thread has an open transaction already */
  TXN_DNE,      /* no such transaction */
  ENTRY_EXISTS, /* that pair of key and payload is stored already */
  ENTRY_DNE,    /* that pair of key and payload is not stored */
  DEADLOCK,     /* the transaction cannot go on: abort it, then retry */
  FAILURE       /* anything else */
} ErrCode;

typedef enum KeyType {
  SHORT,  /* int32_t; the name is the contest's */
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

/* Makes an empty index that every thread may open. SUCCESS, DB_EXISTS, FAILURE. */
ErrCode create(KeyType type, char* name);

/* Opens an index for the calling thread, in or outside a transaction. The cursor of a new handle
 * stands before the first record. SUCCESS, DB_DNE, FAILURE. */
ErrCode openIndex(const char* name, IdxState** idxState);

/* Ends the use of a handle. Allowed inside a transaction, whose effects it does not change.
 * SUCCESS, DB_DNE, FAILURE. */
ErrCode closeIndex(IdxState* idxState);

/* Begins the calling thread's transaction. SUCCESS, TXN_EXISTS, DEADLOCK (then no transaction is
 * open; the client aborts only if the handle was set), FAILURE. */
ErrCode beginTransaction(TxnState** txn);

/* Undoes every effect of the transaction and ends it. SUCCESS, TXN_DNE, FAILURE; it should not
 * return DEADLOCK. */
ErrCode abortTransaction(TxnState* txn);

/* Makes the effects of the transaction permanent and visible, and ends it. SUCCESS, TXN_DNE,
 * DEADLOCK (the client then aborts), FAILURE. */
ErrCode commitTransaction(TxnState* txn);

/* Copies one payload of record->key into record->payload and places the cursor on that record. When
 * no record has the key, KEY_NOTFOUND, and the cursor stands so that getNext returns the first
 * record after the key. A key with n payloads is read by one get and n - 1 getNext calls. SUCCESS,
 * KEY_NOTFOUND, DEADLOCK, FAILURE. */
ErrCode get(IdxState* idxState, TxnState* txn, Record* record);

/* Copies the record after the cursor into *record and moves the cursor there. Without an earlier
 * read of this handle in this transaction, and always with txn == NULL, that is the first record of
 * the index. DB_END past the last record; DB_END again until the transaction itself inserts beyond.
 * An own insert ahead of the cursor is seen; under the key of the current record both outcomes are
 * allowed. After an own delete of the current record the scan goes on in order. SUCCESS, DB_END,
 * DEADLOCK, FAILURE. */
ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record);

/* Stores a pair of key and payload (0 to MAX_PAYLOAD_LEN bytes, NUL-terminated). A key may have
 * many payloads. SUCCESS, ENTRY_EXISTS, DEADLOCK, FAILURE. */
ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload);

/* Deletes the pair record->key and record->payload, or, when record->payload[0] == 0, every payload
 * of the key. ENTRY_DNE when the pair is missing (KEY_NOTFOUND is accepted when the key is missing
 * too); KEY_NOTFOUND when all payloads of a missing key were to go. SUCCESS, ENTRY_DNE,
 * KEY_NOTFOUND, DEADLOCK, FAILURE. */
ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_INDEX_H_ */
