/* Optional symbols of a contract A library. They are looked up with dlsym and never required.
 *
 * Strings returned stay valid until the process ends. No function here is called inside a timed
 * phase.
 */
#ifndef KEYDROME_EXTENSIONS_H_
#define KEYDROME_EXTENSIONS_H_

#include <stdint.h>

#include "keydrome/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One line that says what the library is, for the log. */
const char* keydrome_describe(void);

/* Called once after loading and before any other call, with a JSON object (UTF-8, NUL-terminated).
 * 0 when the library accepts it; otherwise it may write a reason of at most `capacity` bytes, NUL
 * included, into `reason`. Keydrome's own runtime receives its configuration this way
 * (runtime/README.md). */
int keydrome_configure(const char* json, char* reason, uint32_t capacity);

/* A JSON object of counters, for the report. Called after the last phase. */
const char* keydrome_statistics(void);

/* Removes an index that no thread has open. SUCCESS, DB_DNE, FAILURE. */
ErrCode keydrome_delete_index(char* name);

/* Stores the payload as the only one of its key. SUCCESS, DEADLOCK, FAILURE. */
ErrCode keydrome_upsert(IdxState* idxState, TxnState* txn, Key* k, const char* payload);

/* `count` gets in one call; results[i] is what get would have returned for records[i]. The cursor
 * is undefined afterwards. SUCCESS, DEADLOCK, FAILURE. */
ErrCode keydrome_get_batch(IdxState* idxState, TxnState* txn, uint32_t count, Record* records,
                           ErrCode* results);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_EXTENSIONS_H_ */
