/* Contract B, version 0 (experimental): a bare ordered structure.
 *
 * One instance of one sorted set of (key, payload) pairs: no threads, no transactions, no locks of
 * its own. Keydrome's runtime puts transactions, latches and placement around it, as a
 * configuration says, and offers the result through contract A (index.h). So one unchanged
 * structure can be compared under many execution strategies (T. Bang et al., "Robust Performance of
 * Main Memory Data Structures by Configuration", SIGMOD 2020).
 *
 * Bytes. Keys arrive in an order-preserving encoding: memcmp order, the shorter first on a common
 * prefix. Integers are big-endian with the sign bit flipped (4 or 8 bytes), strings their bytes
 * without NUL (at most 128 bytes). A payload has at most 100 bytes. Pairs are unique and ordered by
 * (key, payload).
 *
 * Ownership. Inputs are borrowed for the call; the structure copies what it keeps. Outputs are
 * copied into the caller's buffers. All memory comes from the environment's `allocate` and goes
 * back by `retire`.
 *
 * Threads. Functions never block, never start threads and use no global or thread-local mutable
 * state. Without a capability the runtime makes one call at a time per instance; the capability
 * bits below allow more.
 *
 * Positions. Any put or del on the instance invalidates every position; the runtime seeks again.
 */
#ifndef KEYDROME_STRUCTURE_H_
#define KEYDROME_STRUCTURE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KEYDROME_STRUCTURE_VERSION 0u

/* Longest encoded key and payload, in bytes. */
#define KEYDROME_KEY_BYTES_MAX 128u
#define KEYDROME_PAYLOAD_BYTES_MAX 100u

typedef struct KeydromeStructure KeydromeStructure; /* the author's type */

/* Bytes borrowed for the duration of a call. */
typedef struct {
  const void* data;
  uint32_t size;
} KeydromeBytes;

/* The caller's buffer: the structure writes `size` bytes, at most `capacity`. */
typedef struct {
  void* data;
  uint32_t size;
  uint32_t capacity;
} KeydromeBuffer;

/* A place in an instance, kept by the caller, meaningful to the structure only. */
typedef struct {
  uint64_t words[8];
} KeydromePosition;

/* What the runtime provides. Valid as long as the instance. Thread-safe. */
typedef struct {
  void* context;
  /* `alignment` is a power of two of at most 4096. NULL when memory is exhausted. */
  void* (*allocate)(void* context, size_t size, size_t alignment);
  /* Frees after a grace period if readers may still hold the memory, else at once. */
  void (*retire)(void* context, void* memory, size_t size, size_t alignment);
  uint32_t home_node; /* logical NUMA node of the instance */
} KeydromeEnvironment;

enum {
  KEYDROME_SHARED_READS = 1u << 0, /* several seek/next at once while nobody writes */
  KEYDROME_THREAD_SAFE = 1u << 1,  /* every call at any time; the runtime adds no latch. `next` then
                                      bears positions that others' changes have invalidated. */
  KEYDROME_OPTIMISTIC = 1u << 2, /* readers survive torn state: bounded loops, type-stable memory */
  KEYDROME_ELIDABLE = 1u << 3,   /* operations are plain loads and stores plus environment calls */
  KEYDROME_SPLITTABLE = 1u << 4, /* split and concat are there */
  KEYDROME_STREAMABLE = 1u << 5, /* export_run and import_run are there */
  KEYDROME_BATCH = 1u << 6       /* get_batch is there */
};

enum { KEYDROME_STATISTIC_PAIRS, KEYDROME_STATISTIC_BYTES, KEYDROME_STATISTIC_HEIGHT };

/* Functions return a negative number for an error of the environment (memory); the instance is then
 * unchanged. */
typedef struct {
  uint32_t version;      /* KEYDROME_STRUCTURE_VERSION */
  uint32_t capabilities; /* KEYDROME_SHARED_READS | ... */
  const char* name;
  const char* description; /* one line */

  /* `options` is a JSON object or NULL. NULL when memory is exhausted or the options are not
   * understood. */
  KeydromeStructure* (*create)(const KeydromeEnvironment* environment, const char* options);
  void (*destroy)(KeydromeStructure* instance);

  /* 1 inserted, 0 the pair is there already. */
  int (*put)(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload);
  /* 1 deleted, 0 there is no such pair. */
  int (*del)(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload);
  /* Places `position` before the first pair >= (key, payload), or > when `after` is not 0.
   * payload.data == NULL stands for the smallest payload when `after` is 0 and for the largest when
   * it is not. 0. */
  int (*seek)(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBytes key,
              KeydromeBytes payload, int after);
  /* Copies the pair after `position` out and moves on. 1 a pair, 0 the end: the position then stays
   * there, and another call answers 0 again. Copies of a position are positions. */
  int (*next)(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBuffer* key,
              KeydromeBuffer* payload);

  /* Optional, NULL unless the capability says so. */
  int (*get_batch)(const KeydromeStructure* instance, uint32_t count, const KeydromeBytes* keys,
                   KeydromeBuffer* payloads, int* found);
  KeydromeStructure* (*split)(KeydromeStructure* instance, KeydromeBytes key,
                              const KeydromeEnvironment* environment);
  int (*concat)(KeydromeStructure* low, KeydromeStructure* high);
  int (*export_run)(const KeydromeStructure* instance, KeydromePosition* position, void* run,
                    size_t capacity);
  int (*import_run)(KeydromeStructure* instance, const void* run, size_t size);

  /* Optional. check: 0 when every invariant holds, else the number of the first broken one. */
  int (*check)(const KeydromeStructure* instance);
  uint64_t (*statistic)(const KeydromeStructure* instance, uint32_t which);
} KeydromeStructureTable;

/* The one symbol that a bare structure exports, also when it is built with hidden visibility. Same
 * pointer on every call. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const KeydromeStructureTable* keydrome_structure(void);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_STRUCTURE_H_ */
