/* Declares the optional function of a library that implements contract A (index.h). A library may
 * export it or not. The player, the process that loads the library, finds it with dlsym. */
#ifndef KEYDROME_EXTENSIONS_H_
#define KEYDROME_EXTENSIONS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Configures the library with a JSON object (UTF-8, NUL-terminated). If a run has a configuration,
 * the player calls this function once, after it has loaded the library and before it makes any
 * other call. No time is measured meanwhile. Returns 0 if the library accepts the object, and
 * another value if it refuses. When the library refuses, it may write the reason into `reason`: at
 * most `capacity` bytes including the NUL. For example, Keydrome's runtime is a library that adds
 * transactions to a data structure. Through this function it receives the path of the data
 * structure and its own settings (runtime/README.md). */
int keydrome_configure(const char* json, char* reason, uint32_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* KEYDROME_EXTENSIONS_H_ */
