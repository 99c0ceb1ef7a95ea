/* Fault: answers SUCCESS to everything and stores nothing.
 * Must be found by: the benchmark itself (evidence of reads and the final scan), gate off. */
#include "keydrome/index.h"

struct IdxState {
  int unused;
};
struct TxnState {
  int unused;
};

static IdxState the_handle;
static TxnState the_transaction;

ErrCode create(KeyType type, char* name) {
  (void)type;
  (void)name;
  return SUCCESS;
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  (void)name;
  *idxState = &the_handle;
  return SUCCESS;
}

ErrCode closeIndex(IdxState* idxState) {
  (void)idxState;
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  *txn = &the_transaction;
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
