// Defines the constant parts of a crash program, a C program that makes the calls of a session (one
// repetition of a benchmark) up to a crash. crash_program.cc puts the parts together.
#include "harness/referee/judging/crash_program_parts.h"

namespace keydrome {

// The codes have the order of format::OpCode (crash_program.cc).
constexpr std::string_view kCrashTypes = R"(#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "keydrome/index.h"

/* The tables leave out fields that are 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum {
  AUTO = 1, /* the call passes no transaction */
  KEEP = 2, /* DELETE_READ deletes the record that this call returns */
  ONCE = 4, /* the transaction is not repeated after DEADLOCK */
  ANY = 8,  /* the transaction continues after DEADLOCK */
  SLOTS = 16,
  EVENTS = 16,
  ATTEMPTS = 100,
  WAIT_US = 2000000
};

enum {
  CREATE, OPEN, CLOSE, BEGIN, COMMIT, ABORT, GET, NEXT, NEXT_TO_END, INSERT, DELETE_KEY,
  DELETE_PAIR, REPEAT, SIGNAL, WAIT, YIELD, DELETE_READ, STEP, STEP_DONE, BARE
};

static const char* const kNames[] = {
    "create", "openIndex", "closeIndex", "beginTransaction", "commitTransaction",
    "abortTransaction", "get", "getNext", "getNext to the end", "insertRecord",
    "deleteRecord of a key", "deleteRecord of a pair", "repeat", "signal", "wait", "yield",
    "deleteRecord of the record read", "step", "end of step", "call with unusual arguments"};

/* One operation of a thread. `slot` selects one of the thread's handles. `key` is a key, or for a
 * string key its index in `texts`. If `argument` is not 0, a payload begins with 8 letters that
 * encode `argument`. The rest of the payload is texts[payload]. */
typedef struct {
  unsigned char code;
  long long key;
  unsigned argument, payload;
  unsigned char slot, flags;
} Op;

typedef struct {
  const Op* ops;
  unsigned count;
} Program;

typedef struct {
  const char* name;
  const Program* programs; /* one for each thread */
  unsigned threads;
} Phase;

typedef struct {
  KeyType type;
  char* name;
} Index;

)";

constexpr std::string_view kCrashThreads = R"(
/* With the argument -v, the program prints each operation before its call. */
static int verbose;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved;
static unsigned events[EVENTS];
static unsigned turn; /* number of the step that may make its calls (await_step) */

typedef struct {
  IdxState* handle;
  unsigned index;
  int is_open, is_kept;
  Record kept;
} Slot;

typedef struct {
  unsigned number; /* of the thread */
  Program program;
  unsigned at, round;
  Slot slots[SLOTS];
  TxnState* txn;
  int is_open; /* a transaction is open */
  unsigned attempts, begin, begin_round;
  int was_open[SLOTS]; /* the handles at the beginning of the transaction */
  TxnState* bare;      /* the transaction of the last BARE beginTransaction */
} Thread;

static int expired(const struct timespec* until) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec > until->tv_sec ||
         (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

/* Waits until *number is at least `least`, but not longer than `us` microseconds, because the
 * thread that increments it may be blocked in a call. Returns 0 if the time is over. */
static int await(const unsigned* number, unsigned least, unsigned long us) {
  struct timespec until;
  int reached;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)(us / 1000000);
  until.tv_nsec += (long)(us % 1000000) * 1000;
  if (until.tv_nsec >= 1000000000L) {
    until.tv_nsec -= 1000000000L;
    until.tv_sec += 1;
  }
  pthread_mutex_lock(&lock);
  while (*number < least && !expired(&until)) pthread_cond_timedwait(&moved, &lock, &until);
  reached = *number >= least;
  pthread_mutex_unlock(&lock);
  return reached;
}

static void set(unsigned* number, unsigned value) {
  pthread_mutex_lock(&lock);
  if (*number < value) *number = value;
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&lock);
}

/* A step is a numbered group of calls of one thread. All threads make their steps in the order of
 * the numbers. This function waits until the step of `op` may begin. If an earlier step takes too
 * long, the function skips that step. */
static void await_step(const Op* op) {
  unsigned seen;
  for (;;) {
    pthread_mutex_lock(&lock);
    seen = turn;
    pthread_mutex_unlock(&lock);
    if (seen >= op->argument) return;
    if (!await(&turn, seen + 1, op->payload)) set(&turn, seen + 1);
  }
}

static void synchronise(const Op* op) {
  switch (op->code) {
    case SIGNAL:
      pthread_mutex_lock(&lock);
      events[op->argument]++;
      pthread_cond_broadcast(&moved);
      pthread_mutex_unlock(&lock);
      break;
    case WAIT:
      await(&events[op->argument], op->payload, WAIT_US);
      break;
    case YIELD:
      sched_yield();
      await(&events[op->argument], op->payload, (unsigned long)op->key);
      break;
    case STEP:
      await_step(op);
      break;
    default: /* STEP_DONE */
      pthread_mutex_lock(&lock);
      if (turn == op->argument) turn++;
      pthread_cond_broadcast(&moved);
      pthread_mutex_unlock(&lock);
      break;
  }
}
)";

constexpr std::string_view kCrashCalls = R"(
static void put_key(KeyType type, long long key, Key* out) {
  out->type = type;
  if (type == SHORT) out->keyval.shortkey = (int32_t)key;
  if (type == INT) out->keyval.intkey = key;
  if (type == VARCHAR) strcpy(out->keyval.charkey, texts[key]);
}

static void put_payload(const Op* op, char* out) {
  int shift;
  if (op->argument != 0) {
    for (shift = 28; shift >= 0; shift -= 4) *out++ = (char)('A' + (op->argument >> shift & 15));
  }
  strcpy(out, texts[op->payload]);
}

static int open_index(Slot* slot, unsigned index) {
  int code;
  slot->index = index;
  slot->is_kept = 0;
  code = openIndex(indexes[index].name, &slot->handle);
  slot->is_open = code == SUCCESS;
  return code;
}

static int close_index(Slot* slot) {
  slot->is_open = 0;
  return closeIndex(slot->handle);
}

/* Makes a call with exactly the given arguments, legal or not. `argument` contains the call,
 * whether it passes a transaction, the type of the key, and whether unused bytes are filled. */
static void bare_call(Thread* thread, const Op* op) {
  Slot* slot = &thread->slots[op->slot];
  TxnState* txn = (op->argument >> 8 & 255) != 0 ? thread->bare : NULL;
  unsigned call = op->argument & 255;
  TxnState* begun = NULL;
  Record record;
  memset(&record, op->argument >> 24 != 0 ? 0xa5 : 0, sizeof record);
  if (call == 6 || call >= 8) put_key((KeyType)(op->argument >> 16 & 255), op->key, &record.key);
  if (call != 6 && call != 7) strcpy(record.payload, texts[op->payload]);
  switch (call) {
    case 0: create(indexes[op->key].type, indexes[op->key].name); break;
    case 1: openIndex(indexes[op->key].name, &slot->handle); break;
    case 2: closeIndex(slot->handle); break;
    case 3: if (beginTransaction(&begun) == SUCCESS) thread->bare = begun; break;
    case 4: commitTransaction(txn); break;
    case 5: abortTransaction(txn); break;
    case 6: get(slot->handle, txn, &record); break;
    case 7: getNext(slot->handle, txn, &record); break;
    case 8: insertRecord(slot->handle, txn, &record.key, record.payload); break;
    default: deleteRecord(slot->handle, txn, &record); break;
  }
}

/* Makes the calls of getNext, get, insertRecord or deleteRecord of an operation. */
static int call_on_records(Thread* thread, const Op* op) {
  Slot* slot = &thread->slots[op->slot];
  TxnState* txn = (op->flags & AUTO) != 0 ? NULL : thread->txn;
  unsigned i, calls = 1;
  int code = SUCCESS;
  Record record;
  if (!slot->is_open || (op->code == DELETE_READ && !slot->is_kept)) return SUCCESS;
  if (op->code == NEXT && op->argument > 0) calls = op->argument;
  if (op->code == NEXT_TO_END) calls = op->argument + 1;
  for (i = 0; i < calls; i++) {
    memset(&record, 0, sizeof record);
    record.key.type = indexes[slot->index].type;
    if (op->code != NEXT && op->code != NEXT_TO_END && op->code != DELETE_READ) {
      put_key(record.key.type, op->key, &record.key);
    }
    if (op->code == INSERT || op->code == DELETE_PAIR) put_payload(op, record.payload);
    if (op->code == DELETE_READ) record = slot->kept;
    if (op->code == GET) {
      code = get(slot->handle, txn, &record);
    } else if (op->code == INSERT) {
      code = insertRecord(slot->handle, txn, &record.key, record.payload);
    } else if (op->code == NEXT || op->code == NEXT_TO_END) {
      code = getNext(slot->handle, txn, &record);
    } else {
      code = deleteRecord(slot->handle, txn, &record);
    }
    if (code == SUCCESS && (op->flags & KEEP) != 0) {
      slot->kept = record;
      slot->is_kept = 1;
    }
    if (code == DEADLOCK || (op->code == NEXT_TO_END && code != SUCCESS)) break;
  }
  return code;
}

/* Restores the handles that were open at the beginning of the transaction. */
static void restore_handles(Thread* thread) {
  unsigned i;
  for (i = 0; i < SLOTS; i++) {
    Slot* slot = &thread->slots[i];
    if (thread->was_open[i] && !slot->is_open) open_index(slot, slot->index);
    if (!thread->was_open[i] && slot->is_open) close_index(slot);
  }
}

/* Aborts the transaction after DEADLOCK, and repeats it, or skips it after many attempts. */
static void repeat_transaction(Thread* thread) {
  const Op* begin = &thread->program.ops[thread->begin];
  if (thread->txn != NULL) abortTransaction(thread->txn);
  thread->is_open = 0;
  restore_handles(thread);
  thread->at = thread->begin;
  thread->round = thread->begin_round;
  if ((begin->flags & ONCE) == 0 && ++thread->attempts < ATTEMPTS) {
    sched_yield();
    return;
  }
  thread->attempts = 0;
  thread->at += begin->argument + 1;
}

static int begin_transaction(Thread* thread) {
  unsigned i;
  thread->begin = thread->at;
  thread->begin_round = thread->round;
  for (i = 0; i < SLOTS; i++) {
    thread->was_open[i] = thread->slots[i].is_open;
    thread->slots[i].is_kept = 0;
  }
  thread->txn = NULL;
  thread->is_open = 1;
  return beginTransaction(&thread->txn);
}

static int call_of(Thread* thread, const Op* op) {
  Slot* slot = &thread->slots[op->slot];
  switch (op->code) {
    case CREATE:
      return create(indexes[op->argument].type, indexes[op->argument].name);
    case OPEN:
      return open_index(slot, op->argument);
    case CLOSE:
      return slot->is_open ? close_index(slot) : SUCCESS;
    case BEGIN:
      return begin_transaction(thread);
    case COMMIT:
      return commitTransaction(thread->txn);
    case ABORT:
      abortTransaction(thread->txn);
      return SUCCESS;
    case BARE:
      bare_call(thread, op);
      return SUCCESS;
    default:
      return call_on_records(thread, op);
  }
}

static void print_op(const Thread* thread, const Op* op) {
  if (!verbose) return;
  printf("thread %u, operation %u: %s", thread->number, thread->at, kNames[op->code]);
  if (op->code == CREATE || op->code == OPEN) printf(" \"%s\"", indexes[op->argument].name);
  if (op->code >= GET && op->code <= DELETE_PAIR) {
    const Index* index = &indexes[thread->slots[op->slot].index];
    printf(" \"%s\"", index->name);
    if (op->code != NEXT && op->code != NEXT_TO_END) {
      if (index->type == VARCHAR) printf(", key \"%s\"", texts[op->key]);
      if (index->type != VARCHAR) printf(", key %lld", op->key);
    }
  }
  printf("\n");
  fflush(stdout);
}

/* Plays the operation at thread->at. */
static void play_op(Thread* thread) {
  const Op* op = &thread->program.ops[thread->at];
  int in_transaction, code, keeps_on;
  if (op->code == REPEAT) { /* the last `payload` operations, `argument` more times */
    thread->at = thread->round < op->argument ? thread->at - op->payload : thread->at + 1;
    thread->round = thread->round < op->argument ? thread->round + 1 : 0;
    return;
  }
  print_op(thread, op);
  if (op->code >= SIGNAL && op->code != DELETE_READ && op->code != BARE) {
    synchronise(op);
    thread->at++;
    return;
  }
  code = call_of(thread, op);
  in_transaction = thread->is_open && (op->flags & AUTO) == 0;
  keeps_on = in_transaction && (thread->program.ops[thread->begin].flags & ANY) != 0;
  if (code == DEADLOCK && in_transaction && !keeps_on) {
    repeat_transaction(thread);
    return;
  }
  if (code == DEADLOCK && !in_transaction && ++thread->attempts < ATTEMPTS) return;
  if (code == DEADLOCK && op->code == COMMIT) abortTransaction(thread->txn);
  if (op->code == COMMIT || op->code == ABORT) thread->is_open = 0;
  if (op->code == COMMIT || op->code == ABORT || !in_transaction) thread->attempts = 0;
  thread->at++;
}

static void* play(void* argument) {
  Thread* thread = argument;
  unsigned i;
  while (thread->at < thread->program.count) play_op(thread);
  /* The session ended in the middle of a transaction. Others may wait for its locks. */
  if (thread->is_open && thread->txn != NULL) abortTransaction(thread->txn);
  for (i = 0; i < SLOTS; i++) {
    if (thread->slots[i].is_open) close_index(&thread->slots[i]);
  }
  return NULL;
}

static void play_phase(const Phase* phase) {
  static Thread threads[THREADS];
  pthread_t ids[THREADS];
  unsigned i;
  printf("phase \"%s\"\n", phase->name);
  fflush(stdout);
  memset(threads, 0, sizeof threads);
  memset(events, 0, sizeof events);
  turn = 0;
  for (i = 0; i < phase->threads; i++) {
    threads[i].number = i;
    threads[i].program = phase->programs[i];
    if (i > 0) pthread_create(&ids[i], NULL, play, &threads[i]);
  }
  play(&threads[0]);
  for (i = 1; i < phase->threads; i++) pthread_join(ids[i], NULL);
}

int main(int count, char** arguments) {
  pthread_condattr_t monotonic;
  unsigned i;
  verbose = count > 1 && strcmp(arguments[1], "-v") == 0;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&moved, &monotonic);
  for (i = 0; i < sizeof phases / sizeof phases[0]; i++) play_phase(&phases[i]);
  printf("The crash did not occur: every call returned.\n");
  if (THREADS > 1) {
    printf("If your library is unchanged, the likely reason is a data race: the crash depends on how "
           "two calls overlap, which differs from run to run. Run the program again, or compile it "
           "together with your source and -fsanitize=thread.\n");
  } else {
    printf("If your library is unchanged, the crash may depend on uninitialised memory, on "
           "addresses, or on threads of the library. Compile the program together with your source "
           "and -fsanitize=address,undefined, and run it again.\n");
  }
  return 0;
}
)";

}  // namespace keydrome
