/* Contract B, version 1: declares the functions of a data structure without transactions.
 *
 * An instance of a structure is one set of (key, payload) pairs. It has no threads and no
 * transactions. Only a structure with the capability THREAD_SAFE (rule 3) may have locks.
 * Keydrome's runtime adds transactions and short locks (latches). A configuration file of the
 * runtime selects which kinds of transactions and latches it adds. Together, structure and runtime
 * implement contract A (index.h). So one unchanged structure can be compared under many execution
 * strategies (T. Bang et al., "Robust Performance of Main Memory Data Structures by Configuration",
 * SIGMOD 2020).
 *
 * Rules
 *
 * 1. Bytes. Keys are encoded so that memcmp gives their order. If one key is a prefix of another,
 *    the shorter key is smaller. Integers are big-endian with the sign bit flipped (4 or 8 bytes).
 *    Strings are their bytes without NUL (at most 128 bytes). A payload has at most 100 bytes.
 *    Pairs are unique and ordered by (key, payload). In a structure whose keys have no order
 *    (UNORDERED), the payloads of one key are still ordered.
 * 2. Ownership. Inputs are valid only during the call, so the structure must copy bytes that it
 *    keeps. The structure copies outputs into the caller's buffers. No call depends on a position
 *    that an earlier call left: there are no cursors. The structure takes all memory from
 *    `allocate` of its KeydromeEnvironment and gives it back with `retire`.
 * 3. Threads. Functions never wait, except for short locks in a THREAD_SAFE structure. They start
 *    no threads, and use no mutable global or thread-local state. While create, destroy, load,
 *    split, concat or check runs, no other call uses the same instances. Which other functions may
 *    run at the same time on one instance depends on the capabilities. A read is a call with a
 *    const instance, and a change is any other call.
 *      no capability   one call at a time.
 *      SHARED_READS    any number of reads, or one change alone.
 *      OPTIMISTIC      any number of reads, even during one change.
 *      THREAD_SAFE     any number of calls.
 * 4. Memory in use. The runtime frees or reuses retired memory only after all calls have ended that
 *    were running when the memory was retired. So the structure needs no scheme of its own for
 *    this, such as epochs. Functions with a const instance retire only memory that the same call
 *    has allocated.
 * 5. Errors. Functions that return int return a negative number on an error. The instance is then
 *    unchanged, and the contents of the output buffers are undefined.
 * 6. Limits. The table states the limits of keys and payloads that the structure can hold. The
 *    runtime never exceeds them. A create or insertion of contract A that would exceed a limit
 *    returns FAILURE, and the runtime prints a message that names the limit.
 *
 * structures/student is the smallest example, structures/btree a fast one. */
#ifndef KEYDROME_STRUCTURE_H_
#define KEYDROME_STRUCTURE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KEYDROME_STRUCTURE_VERSION 1u

/* Longest encoded key and payload, in bytes. */
#define KEYDROME_KEY_BYTES_MAX 128u
#define KEYDROME_PAYLOAD_BYTES_MAX 100u

/* The smallest capacity of a KeydromeRun: any pair fits. */
#define KEYDROME_RUN_BYTES_MIN (2u + KEYDROME_KEY_BYTES_MAX + KEYDROME_PAYLOAD_BYTES_MAX)

typedef struct KeydromeStructure KeydromeStructure; /* one instance */

/* Bytes that are valid only during a call. `data` may be NULL only where a function says so. */
typedef struct {
  const void* data;
  uint32_t size;
} KeydromeBytes;

/* The caller's buffer. The structure writes at most `capacity` bytes and sets `size`. */
typedef struct {
  void* data;
  uint32_t size;
  uint32_t capacity;
} KeydromeBuffer;

/* Pairs, one directly after the other. Each has one byte for the size of the key, one byte for the
 * size of the payload, the key, and the payload. */
typedef struct {
  void* data;
  uint32_t capacity; /* bytes of `data`; scan: at least KEYDROME_RUN_BYTES_MIN */
  uint32_t size;     /* bytes that are used; set by scan, read by load */
  uint32_t limit;    /* scan: the greatest number of pairs, at least 1 */
  uint32_t pairs;    /* number of pairs; set by scan, read by load */
} KeydromeRun;

/* One of the lookups of find_batch. */
typedef struct {
  KeydromeBytes key;
  KeydromeBuffer payload; /* capacity: at least KEYDROME_PAYLOAD_BYTES_MAX */
  int32_t found; /* 1: `payload` is the key's smallest payload; 0: no such key; < 0: error */
} KeydromeLookup;

/* Functions and data that the runtime provides to an instance. They are valid as long as the
 * instance exists. Thread-safe. */
typedef struct {
  uint32_t size;      /* bytes of this struct; later versions append members */
  uint32_t home_node; /* logical NUMA node of the instance */
  void* context;
  /* Allocates memory. `alignment` is a power of two, at most 2 MiB. Returns NULL if out of
   * memory. The allocator adds no header to a block, so a structure saves no memory by an allocator
   * of its own. */
  void* (*allocate)(void* context, size_t size, size_t alignment);
  /* Frees memory (rule 4). The memory may come from any environment of the same runtime. `size` and
   * `alignment` are those of `allocate`. */
  void (*retire)(void* context, void* memory, size_t size, size_t alignment);
} KeydromeEnvironment;

/* What `create` needs to know. */
typedef struct {
  uint32_t size;       /* bytes of this struct; later versions append members */
  uint32_t key_bytes;  /* every key of the instance has this size; 0: sizes differ, 0 to 128 */
  const char* options; /* a JSON object or NULL */
} KeydromeSetup;

enum {
  KEYDROME_NO_MEMORY = -1,
  /* Another call was changing the instance: call again. Only functions that take a const instance
   * return this number, and only if the structure has the capability OPTIMISTIC. */
  KEYDROME_TORN = -2
};

/* Capabilities: promises about behaviour. No capability says that an optional function exists: the
 * function exists if its pointer is not NULL. */
enum {
  /* Functions that take a const instance may run together while no call changes the instance. */
  KEYDROME_SHARED_READS = 1u << 0,
  /* All calls may run together, so a configuration may run the structure without a latch. put, del,
   * replace, find and each lookup of find_batch are linearizable. A scan returns pairs in order,
   * each at most once. It returns every pair that existed during the whole call. Each pair that it
   * returns existed at some time during the call. */
  KEYDROME_THREAD_SAFE = 1u << 1,
  /* Functions that take a const instance (*reads*) may run during one function that changes it. A
   * read may then return wrong results or KEYDROME_TORN. The runtime detects the change with a
   * sequence lock and calls the read again. Even during a change, a read must end, so its loops
   * must be bounded, and it must touch only memory of the instance. Data that a change writes and
   * that a read uses must be relaxed atomics. */
  KEYDROME_OPTIMISTIC = 1u << 2,
  /* Calls consist of plain loads and stores and of calls of the environment. They contain no
   * instruction that always aborts a hardware transaction (lock elision). */
  KEYDROME_ELIDABLE = 1u << 3,
  /* Keys have no order: scan, load, split and concat are NULL. */
  KEYDROME_UNORDERED = 1u << 4
};

enum {
  KEYDROME_STATISTIC_HEIGHT,    /* levels of nodes */
  KEYDROME_STATISTIC_NODES,     /* nodes, or blocks of a hash table */
  KEYDROME_STATISTIC_SLOTS,     /* places for entries in all nodes */
  KEYDROME_STATISTIC_SLOTS_USED /* places that hold an entry */
};

/* The functions of a structure. The runtime copies min(`size`, the size that it knows) bytes to a
 * table of its own, so functions beyond `size` are absent. Later versions only append members. */
typedef struct {
  uint32_t version;      /* KEYDROME_STRUCTURE_VERSION */
  uint32_t size;         /* sizeof(KeydromeStructureTable) */
  uint32_t capabilities; /* KEYDROME_SHARED_READS | ... */
  /* Limits (rule 6). */
  uint32_t key_bytes_only;    /* the size that every key must have; 0: keys may have any size */
  uint32_t payload_bytes_max; /* size of the longest possible payload; 0: any size */
  uint32_t payloads_max;      /* greatest number of payloads of one key; 0: any number */
  const char* name;
  const char* description; /* one line */

  /* Makes an empty instance. Returns NULL if memory runs out, or if the structure does not know one
   * of the options. */
  KeydromeStructure* (*create)(const KeydromeEnvironment* environment, const KeydromeSetup* setup);
  void (*destroy)(KeydromeStructure* instance);

  /* Inserts a pair. Returns 1 if it was inserted, 0 if it already exists. */
  int (*put)(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload);
  /* Deletes a pair. Returns 1 if it was deleted, 0 if there is no such pair. */
  int (*del)(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload);

  /* Required unless KEYDROME_UNORDERED. Fills `run` with the first pairs that are >= (key, payload)
   * if `after` is 0, and > (key, payload) otherwise. payload.data == NULL means the smallest
   * payload if `after` is 0, and otherwise the largest payload. Returns 0 if no pair follows the
   * run, and 1 if one may follow: the run has `limit` pairs, or the next pair does not fit. */
  int (*scan)(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload,
              int after, KeydromeRun* run);

  /* Required with KEYDROME_UNORDERED. Copies the smallest payload of the key that is larger than
   * `after`, or the smallest one if after.data == NULL. Returns 1, or 0 if there is none.
   * `payload->capacity` is at least KEYDROME_PAYLOAD_BYTES_MAX. */
  int (*find)(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
              KeydromeBuffer* payload);

  /* The functions below are optional: NULL if absent. */

  /* Looks up `count` keys and sets `payload` and `found` of each. Returns 0. */
  int (*find_batch)(const KeydromeStructure* instance, uint32_t count, KeydromeLookup* lookups);
  /* Replaces the pair (key, before) by (key, now). Returns 1 if the pair was replaced, 0 if (key,
   * before) does not exist, and 2 if both pairs exist. If the result is 0 or 2, nothing has
   * changed. */
  int (*replace)(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes before,
                 KeydromeBytes now);
  /* Appends the pairs of the run. They are in ascending order, and larger than all pairs of the
   * instance. Returns 0. After an error, unlike rule 5, the instance may contain some of the pairs;
   * the runtime then destroys the instance. */
  int (*load)(KeydromeStructure* instance, const KeydromeRun* run);
  /* Moves the pairs with keys >= `key` to a new instance in the given environment, and returns the
   * new instance. Returns NULL if memory runs out; nothing has then moved. */
  KeydromeStructure* (*split)(KeydromeStructure* instance, KeydromeBytes key,
                              const KeydromeEnvironment* environment);
  /* Moves all pairs of `high`, which are larger than those of `low`, to `low`, and destroys `high`.
   * Returns 0. */
  int (*concat)(KeydromeStructure* low, KeydromeStructure* high);
  /* For tests: checks all invariants of the instance. Returns 0 if all hold, and otherwise the
   * number of the first broken invariant. */
  int (*check)(const KeydromeStructure* instance);
  /* Returns the statistic `which` (KEYDROME_STATISTIC_...), or 0 if the structure does not keep
   * it. */
  uint64_t (*statistic)(const KeydromeStructure* instance, uint32_t which);
} KeydromeStructureTable;

/* Starts an empty run. */
static inline void keydrome_run_clear(KeydromeRun* run) {
  run->size = 0;
  run->pairs = 0;
}

/* Appends a pair to the run and returns 1. If the run has `limit` pairs or no room, returns 0. */
static inline int keydrome_run_add(KeydromeRun* run, KeydromeBytes key, KeydromeBytes payload) {
  const uint32_t bytes = 2u + key.size + payload.size;
  unsigned char* to = (unsigned char*)run->data + run->size;
  if (run->pairs == run->limit || bytes > run->capacity - run->size) return 0;
  to[0] = (unsigned char)key.size;
  to[1] = (unsigned char)payload.size;
  if (key.size > 0) memcpy(to + 2, key.data, key.size);
  if (payload.size > 0) memcpy(to + 2 + key.size, payload.data, payload.size);
  run->size += bytes;
  ++run->pairs;
  return 1;
}

/* Reads the pair at byte `at` of the run, and returns the byte at which the next pair begins. The
 * bytes point into the run. */
static inline uint32_t keydrome_run_read(const KeydromeRun* run, uint32_t at, KeydromeBytes* key,
                                         KeydromeBytes* payload) {
  const unsigned char* from = (const unsigned char*)run->data + at;
  key->size = from[0];
  payload->size = from[1];
  key->data = from + 2;
  payload->data = from + 2 + key->size;
#if defined(__GNUC__)
  /* Such pairs are frequent. The processor predicts the branch, and goes on to the next pair before
   * it has read the sizes of this one. */
  if (__builtin_expect(key->size == 8 && payload->size == 8, 1)) return at + 18u;
#endif
  return at + 2u + key->size + payload->size;
}

/* Returns the table of the structure's functions. The function always returns the same pointer, but
 * may choose the table by the processor's features. A structure exports only this function.
 * The attribute exports it even if the structure is compiled with hidden visibility. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const KeydromeStructureTable* keydrome_structure(void);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_STRUCTURE_H_ */
