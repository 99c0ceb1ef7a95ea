/* Contract B, version 0 (experimental): declares the functions of an ordered data structure without
 * transactions.
 *
 * An instance of a structure is one sorted set of (key, payload) pairs. It has no threads, no
 * transactions and no locks. Keydrome's runtime adds transactions and short locks (latches). A
 * configuration file of the runtime selects which kinds. Together, structure and runtime implement
 * contract A (index.h). So one unchanged structure can be compared under many execution strategies
 * (T. Bang et al., "Robust Performance of Main Memory Data Structures by Configuration", SIGMOD
 * 2020).
 *
 * Rules
 *
 * 1. Bytes. Keys are encoded so that memcmp gives their order. If one key is a prefix of another,
 *    the shorter key is smaller. Integers are big-endian with the sign bit flipped (4 or 8 bytes).
 *    Strings are their bytes without NUL (at most 128 bytes). A payload has at most 100 bytes.
 *    Pairs are unique and ordered by (key, payload).
 * 2. Ownership. Inputs are valid only during the call, so the structure must copy bytes that it
 *    keeps. The structure copies outputs into the caller's buffers. It takes all memory from
 *    `allocate` of its KeydromeEnvironment (below) and gives it back with `retire`.
 * 3. Threads. Functions never block, never start threads, and use no mutable global or thread-local
 *    state. By default, the runtime makes one call at a time on an instance. With the capability
 *    bits below, a structure allows concurrent calls.
 * 4. Positions. A position marks a place between two pairs, for scans. A put (insertion) or del
 *    (deletion) invalidates all positions in the instance. The runtime then calls seek again.
 *
 * structures/btree is an example. */
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

typedef struct KeydromeStructure KeydromeStructure; /* one instance */

/* Bytes that are valid only during a call. */
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

/* A position in an instance. The caller stores it; only the structure interprets it. */
typedef struct {
  uint64_t words[8];
} KeydromePosition;

/* Functions and data that the runtime provides to an instance. They are valid as long as the
 * instance exists. Thread-safe. */
typedef struct {
  void* context;
  /* Allocates memory. `alignment` is a power of two, at most 4096. Returns NULL if out of
   * memory. */
  void* (*allocate)(void* context, size_t size, size_t alignment);
  /* Frees memory. If readers may still use the memory, frees it after these readers have ended. */
  void (*retire)(void* context, void* memory, size_t size, size_t alignment);
  uint32_t home_node; /* logical NUMA node of the instance; always 0 in version 0 */
} KeydromeEnvironment;

enum {
  /* Several threads may call seek and next at the same time, while none calls put or del. */
  KEYDROME_SHARED_READS = 1u << 0,
  /* Several threads may make any calls at the same time, so a configuration may run the structure
   * without a latch. `next` must accept a position that another thread's change has invalidated. */
  KEYDROME_THREAD_SAFE = 1u << 1,
  /* Seek and next may run while put or del changes the instance. They may then return wrong
   * results, but they must not crash or hang. So their loops must be bounded. Memory must never be
   * reused for another type, because seek and next may still follow an old pointer to it. */
  KEYDROME_OPTIMISTIC = 1u << 2,
  /* Operations can run as hardware transactions (lock elision), because they consist of plain loads
   * and stores and of calls of the environment. */
  KEYDROME_ELIDABLE = 1u << 3,
  KEYDROME_SPLITTABLE = 1u << 4, /* split and concat are implemented */
  KEYDROME_STREAMABLE = 1u << 5, /* export_run and import_run are implemented */
  KEYDROME_BATCH = 1u << 6       /* get_batch is implemented */
};

enum { KEYDROME_STATISTIC_PAIRS, KEYDROME_STATISTIC_BYTES, KEYDROME_STATISTIC_HEIGHT };

/* The functions of a structure. Functions that return int return a negative number if `allocate`
 * fails. They must then leave the instance unchanged. */
typedef struct {
  uint32_t version;      /* KEYDROME_STRUCTURE_VERSION */
  uint32_t capabilities; /* KEYDROME_SHARED_READS | ... */
  const char* name;
  const char* description; /* one line */

  /* Makes an empty instance. `options` is a JSON object or NULL. Returns NULL if memory runs out,
   * or if the structure does not know one of the options. */
  KeydromeStructure* (*create)(const KeydromeEnvironment* environment, const char* options);
  void (*destroy)(KeydromeStructure* instance);

  /* Inserts a pair. Returns 1 if it was inserted, 0 if it already exists. */
  int (*put)(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload);
  /* Deletes a pair. Returns 1 if it was deleted, 0 if there is no such pair. */
  int (*del)(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload);
  /* Places `position` before the first pair >= (key, payload). If `after` is not 0, places it
   * before the first pair > (key, payload). payload.data == NULL means the smallest payload if
   * `after` is 0, and otherwise the largest payload. Returns 0. */
  int (*seek)(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBytes key,
              KeydromeBytes payload, int after);
  /* Copies the pair after `position`, moves `position` past this pair and returns 1. If no pair is
   * after `position`, leaves `position` unchanged and returns 0. Further calls then also return 0.
   * A copy of a position is a valid position. */
  int (*next)(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBuffer* key,
              KeydromeBuffer* payload);

  /* Optional functions. Each is NULL if the structure lacks the corresponding capability. The
   * runtime of version 0 calls none of them. */
  int (*get_batch)(const KeydromeStructure* instance, uint32_t count, const KeydromeBytes* keys,
                   KeydromeBuffer* payloads, int* found);
  KeydromeStructure* (*split)(KeydromeStructure* instance, KeydromeBytes key,
                              const KeydromeEnvironment* environment);
  int (*concat)(KeydromeStructure* low, KeydromeStructure* high);
  int (*export_run)(const KeydromeStructure* instance, KeydromePosition* position, void* run,
                    size_t capacity);
  int (*import_run)(KeydromeStructure* instance, const void* run, size_t size);

  /* Optional, for tests: checks all invariants of the instance. Returns 0 if all hold, and
   * otherwise the number of the first broken invariant. */
  int (*check)(const KeydromeStructure* instance);
  /* Optional: returns the statistic `which`, one of KEYDROME_STATISTIC_... */
  uint64_t (*statistic)(const KeydromeStructure* instance, uint32_t which);
} KeydromeStructureTable;

/* Returns the table of the structure's functions, always the same pointer. This is the only symbol
 * that a structure exports. The attribute exports it even if the structure is compiled with hidden
 * visibility. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const KeydromeStructureTable* keydrome_structure(void);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_STRUCTURE_H_ */
