/* Declares optional functions of a library that implements contract A (index.h). A library may
 * export any of them, or none. In a run, Keydrome so far calls only keydrome_configure: the player,
 * the process that loads the library, finds it with dlsym. The other functions are reserved for
 * later use, and for other programs that load a library.
 *
 * Returned strings must stay valid until the process ends. None of these functions is called while
 * a run measures time. */
#ifndef KEYDROME_EXTENSIONS_H_
#define KEYDROME_EXTENSIONS_H_

#include <stdint.h>

#include "keydrome/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns one line of text that describes the library. */
const char* keydrome_describe(void);

/* Configures the library with a JSON object (UTF-8, NUL-terminated). If a run has a configuration,
 * the player calls this function once, after loading the library and before any other call. Returns
 * 0 if the library accepts the object, and another value if it refuses. When the library refuses,
 * it may write the reason into `reason`: at most `capacity` bytes including the NUL. For example,
 * Keydrome's runtime, a library that adds transactions to a data structure, receives the path of
 * the data structure and its own settings through this function (runtime/README.md). */
int keydrome_configure(const char* json, char* reason, uint32_t capacity);

/* Returns a JSON object of counters. May be called only while no other thread uses the library. */
const char* keydrome_statistics(void);

/* Removes an index that no thread has open. Returns SUCCESS, DB_DNE or FAILURE. */
ErrCode keydrome_delete_index(char* name);

/* Stores the payload and deletes all other payloads of the key. Returns SUCCESS, DEADLOCK or
 * FAILURE. */
ErrCode keydrome_upsert(IdxState* idxState, TxnState* txn, Key* k, const char* payload);

/* Does the same as `count` calls of get, one for each of `records`. Sets results[i] to the result
 * code of the get for records[i]. The cursor is undefined afterwards. Returns SUCCESS, DEADLOCK or
 * FAILURE. */
ErrCode keydrome_get_batch(IdxState* idxState, TxnState* txn, uint32_t count, Record* records,
                           ErrCode* results);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_EXTENSIONS_H_ */
