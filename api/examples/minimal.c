/* The smallest complete index library of contract A (keydrome/index.h). Copy this file, build it
 * with this command, then make it faster:
 *
 *   gcc -O2 -shared -fPIC -I../include minimal.c -o minimal.so -lpthread
 *
 * An index is an array of pointers to records, sorted by key and then by payload. Lookups use
 * binary search, and insertions shift the rest of the array with memmove. This is fast enough for
 * about ten thousand records per index. As the first improvement, replace the array with a tree.
 *
 * One lock makes transactions serialisable. A transaction takes the lock at its first call on data
 * and keeps the lock until it commits or aborts. The transaction logs its insertions and deletions,
 * so that an abort can undo them. Threads cannot deadlock with a single lock. enter() explains the
 * only case in which a call returns DEADLOCK. As the second improvement, let transactions on
 * different indexes, or on different keys, run at the same time. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "keydrome/index.h"

typedef struct Index {
  char* name;
  KeyType type;
  Record** records; /* sorted; each is allocated with malloc */
  size_t count, capacity;
  struct Index* next;
} Index;

/* One change of the open transaction. A commit frees a deleted record, and an abort
 * inserts it again. */
typedef struct {
  Index* index;
  Record* record;
  int deleted;
} Change;

struct TxnState {
  int open, locked;
  unsigned long number; /* counts this thread's transactions; IdxState.number refers to it */
  Change* changes;
  size_t count, capacity;
};

struct IdxState {
  Index* index;   /* NULL: closed */
  IdxState* next; /* next closed handle, for the next openIndex */
  /* The cursor is valid only in the transaction with this number. In any other transaction it is
   * before all records. */
  unsigned long number;
  /* The cursor is before all records (0), after `last` (1), or after the key of `last` (2). */
  int placed;
  Record last;
};

static pthread_mutex_t directory_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;
/* Both lists are protected by directory_lock. An index is never removed. */
static Index* directory;
/* openIndex reuses closed handles. They are never freed, so that a call with a closed handle can
 * return DB_DNE. */
static IdxState* closed_handles;
static __thread TxnState own;

/* ---- order and search ---- */

static int compare_keys(const Key* a, const Key* b) {
  switch (a->type) {
    case SHORT:
      return (a->keyval.shortkey > b->keyval.shortkey) - (a->keyval.shortkey < b->keyval.shortkey);
    case INT:
      return (a->keyval.intkey > b->keyval.intkey) - (a->keyval.intkey < b->keyval.intkey);
    default:
      return strcmp(a->keyval.charkey, b->keyval.charkey); /* compares unsigned bytes */
  }
}

/* Returns the number of records that are smaller than `record`. With after_key, returns the number
 * of records whose key is smaller than or equal to the key of `record`. */
static size_t search(const Index* index, const Record* record, int after_key) {
  size_t low = 0, high = index->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const Record* other = index->records[middle];
    int order = compare_keys(&other->key, &record->key);
    if (order == 0) order = after_key ? -1 : strcmp(other->payload, record->payload);
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static int has_key(const Index* index, size_t at, const Key* key) {
  return at < index->count && compare_keys(&index->records[at]->key, key) == 0;
}

/* ---- changes ---- */

/* Returns the array with room for one more element. Enlarges the array if necessary. Returns NULL
 * if out of memory. */
static void* with_room(void* array, size_t count, size_t* capacity, size_t element_size) {
  if (count < *capacity) return array;
  const size_t larger = *capacity == 0 ? 16 : 2 * *capacity;
  void* const moved = realloc(array, larger * element_size);
  if (moved != NULL) *capacity = larger;
  return moved;
}

static int reserve_record(Index* index) {
  void* const array = with_room(index->records, index->count, &index->capacity, sizeof(Record*));
  if (array != NULL) index->records = array;
  return array != NULL;
}

static int reserve_change(TxnState* txn) {
  if (txn == NULL) return 1; /* auto-commit logs nothing */
  void* const array = with_room(txn->changes, txn->count, &txn->capacity, sizeof(Change));
  if (array != NULL) txn->changes = array;
  return array != NULL;
}

static void put_at(Index* index, size_t at, Record* record) {
  memmove(index->records + at + 1, index->records + at, (index->count - at) * sizeof(Record*));
  index->records[at] = record;
  ++index->count;
}

static void take_at(Index* index, size_t at) {
  --index->count;
  memmove(index->records + at, index->records + at + 1, (index->count - at) * sizeof(Record*));
}

static void log_change(TxnState* txn, Index* index, Record* record, int deleted) {
  const Change change = {index, record, deleted};
  if (txn != NULL) {
    txn->changes[txn->count++] = change;
  } else if (deleted) {
    free(record); /* auto-commit: cannot be undone */
  }
}

/* Ends the open transaction. If `commit` is 0, undoes the changes of the transaction. Undoing a
 * deletion allocates no memory, because the deletion has left room in the array. */
static void finish(TxnState* txn, int commit) {
  while (txn->count > 0) {
    const Change change = txn->changes[--txn->count];
    if (commit) {
      if (change.deleted) free(change.record);
      continue;
    }
    const size_t at = search(change.index, change.record, 0);
    if (change.deleted) {
      put_at(change.index, at, change.record);
    } else {
      take_at(change.index, at);
      free(change.record);
    }
  }
  free(txn->changes);
  txn->changes = NULL;
  txn->capacity = 0;
  txn->open = 0;
  if (txn->locked) pthread_mutex_unlock(&data_lock);
  txn->locked = 0;
}

/* ---- transactions ---- */

/* Starts a call on data: checks the arguments and takes the lock. An auto-commit call (txn == NULL)
 * takes the lock for one call only. If the thread's own open transaction holds the lock, an
 * auto-commit call would wait for its own thread for ever, so it returns DEADLOCK. */
static ErrCode enter(const IdxState* handle, TxnState* txn, const Key* key) {
  if (handle == NULL || handle->index == NULL) return DB_DNE;
  if (key != NULL && key->type != handle->index->type) return FAILURE;
  if (key != NULL && key->type == VARCHAR &&
      memchr(key->keyval.charkey, 0, MAX_VARCHAR_LEN + 1) == NULL) {
    return FAILURE; /* the string is not terminated */
  }
  if (txn != NULL && (txn != &own || !own.open)) return TXN_DNE;
  if (txn == NULL && own.locked) return DEADLOCK;
  if (!own.locked) pthread_mutex_lock(&data_lock);
  if (txn != NULL) own.locked = 1;
  return SUCCESS;
}

/* Ends a call on data: an auto-commit call releases the lock. Returns `code`. */
static ErrCode leave(const TxnState* txn, ErrCode code) {
  if (txn == NULL) pthread_mutex_unlock(&data_lock);
  return code;
}

ErrCode beginTransaction(TxnState** txn) {
  if (own.open) return TXN_EXISTS;
  own.open = 1;
  ++own.number;
  *txn = &own;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) {
  if (txn != &own || !own.open) return TXN_DNE;
  finish(txn, 0);
  return SUCCESS;
}

ErrCode commitTransaction(TxnState* txn) {
  if (txn != &own || !own.open) return TXN_DNE;
  finish(txn, 1);
  return SUCCESS;
}

/* ---- indexes ---- */

static Index* find_index(const char* name) {
  Index* index = directory;
  while (index != NULL && strcmp(index->name, name) != 0) index = index->next;
  return index;
}

ErrCode create(KeyType type, char* name) {
  Index* const index = calloc(1, sizeof(Index));
  char* const copy = malloc(strlen(name) + 1);
  ErrCode code = FAILURE;
  pthread_mutex_lock(&directory_lock);
  if (find_index(name) != NULL) {
    code = DB_EXISTS;
  } else if (index != NULL && copy != NULL) {
    index->name = strcpy(copy, name);
    index->type = type;
    index->next = directory;
    directory = index;
    code = SUCCESS;
  }
  pthread_mutex_unlock(&directory_lock);
  if (code == SUCCESS) return code;
  free(index);
  free(copy);
  return code;
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  ErrCode code = DB_DNE;
  pthread_mutex_lock(&directory_lock);
  Index* const index = find_index(name);
  if (index != NULL) {
    IdxState* handle = closed_handles;
    if (handle != NULL) {
      closed_handles = handle->next;
    } else {
      handle = malloc(sizeof(IdxState));
    }
    if (handle != NULL) {
      handle->index = index;
      handle->number = 0; /* the cursor belongs to no transaction yet */
      *idxState = handle;
    }
    code = handle != NULL ? SUCCESS : FAILURE;
  }
  pthread_mutex_unlock(&directory_lock);
  return code;
}

ErrCode closeIndex(IdxState* idxState) {
  if (idxState == NULL || idxState->index == NULL) return DB_DNE;
  idxState->index = NULL;
  pthread_mutex_lock(&directory_lock);
  idxState->next = closed_handles;
  closed_handles = idxState;
  pthread_mutex_unlock(&directory_lock);
  return SUCCESS;
}

/* ---- records ---- */

static void place_cursor(IdxState* handle, const Record* record, int placed) {
  handle->number = own.number;
  handle->placed = placed;
  handle->last = *record;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  const ErrCode code = enter(idxState, txn, &record->key);
  if (code != SUCCESS) return code;
  Record wanted;
  wanted.key = record->key;
  wanted.payload[0] = 0; /* the smallest payload */
  const size_t at = search(idxState->index, &wanted, 0);
  const int found = has_key(idxState->index, at, &wanted.key);
  if (found) strcpy(record->payload, idxState->index->records[at]->payload);
  if (txn != NULL && found) place_cursor(idxState, idxState->index->records[at], 1);
  if (txn != NULL && !found) place_cursor(idxState, &wanted, 2);
  return leave(txn, found ? SUCCESS : KEY_NOTFOUND);
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  const ErrCode code = enter(idxState, txn, NULL);
  if (code != SUCCESS) return code;
  const Index* const index = idxState->index;
  size_t at = 0;
  if (txn != NULL && idxState->number == own.number && idxState->placed != 0) {
    at = search(index, &idxState->last, idxState->placed == 2);
    const int found = idxState->placed == 1 && has_key(index, at, &idxState->last.key) &&
                      strcmp(index->records[at]->payload, idxState->last.payload) == 0;
    at += found ? 1 : 0; /* skips `last` if it still exists */
  }
  if (at == index->count) return leave(txn, DB_END);
  *record = *index->records[at];
  if (txn != NULL) place_cursor(idxState, record, 1);
  return leave(txn, SUCCESS);
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (strlen(payload) > MAX_PAYLOAD_LEN) return FAILURE;
  ErrCode code = enter(idxState, txn, k);
  if (code != SUCCESS) return code;
  Index* const index = idxState->index;
  Record* const record = malloc(sizeof(Record));
  if (record == NULL || !reserve_change(txn) || !reserve_record(index)) {
    free(record);
    return leave(txn, FAILURE);
  }
  record->key = *k;
  strcpy(record->payload, payload);
  const size_t at = search(index, record, 0);
  if (has_key(index, at, k) && strcmp(index->records[at]->payload, payload) == 0) {
    free(record);
    return leave(txn, ENTRY_EXISTS);
  }
  put_at(index, at, record);
  log_change(txn, index, record, 0);
  return leave(txn, SUCCESS);
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  const ErrCode code = enter(idxState, txn, &record->key);
  if (code != SUCCESS) return code;
  Index* const index = idxState->index;
  const int all = record->payload[0] == 0;
  const size_t at = search(index, record, 0);
  size_t deleted = 0;
  while (has_key(index, at, &record->key) &&
         (all || (deleted == 0 && strcmp(index->records[at]->payload, record->payload) == 0))) {
    if (!reserve_change(txn)) return leave(txn, FAILURE);
    Record* const victim = index->records[at];
    take_at(index, at);
    log_change(txn, index, victim, 1);
    ++deleted;
  }
  if (deleted > 0) return leave(txn, SUCCESS);
  return leave(txn, all ? KEY_NOTFOUND : ENTRY_DNE);
}
