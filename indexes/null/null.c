/* A library that returns SUCCESS for every call and does nothing. It has the ten calls of contract
 * A (keydrome/index.h). Its times show what the harness, the program that makes the calls, costs.
 *
 * Records stay as the caller passed them. The library fails every check, so it is timed with the
 * checks off and is never ranked. Thread safety: has no state that changes. */
#include "keydrome/index.h"

/* Clients use only the addresses of these structures. */
struct IdxState {
  char unused;
};
struct TxnState {
  char unused;
};

static struct IdxState handle;
static struct TxnState transaction;

ErrCode create(KeyType type, char* name) {
  (void)type;
  (void)name;
  return SUCCESS;
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  (void)name;
  *idxState = &handle;
  return SUCCESS;
}

ErrCode closeIndex(IdxState* idxState) {
  (void)idxState;
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  *txn = &transaction;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) {
  (void)txn;
  return SUCCESS;
}

ErrCode commitTransaction(TxnState* txn) {
  (void)txn;
  return SUCCESS;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  (void)idxState;
  (void)txn;
  (void)record;
  return SUCCESS;
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  (void)idxState;
  (void)txn;
  (void)record;
  return SUCCESS;
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  (void)idxState;
  (void)txn;
  (void)k;
  (void)payload;
  return SUCCESS;
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  (void)idxState;
  (void)txn;
  (void)record;
  return SUCCESS;
}
