/* A data structure that accepts every pair of key and payload and stores nothing. It implements
 * contract B, the interface of a data structure (keydrome/structure.h). Its times show what the
 * code around a data structure costs: the harness, which makes the calls, and the runtime, which
 * adds transactions.
 *
 * Thread safety: has no state, so any number of threads may use it. */
#include "keydrome/structure.h"

struct KeydromeStructure {
  char unused;
};

static KeydromeStructure instance;

static KeydromeStructure* create(const KeydromeEnvironment* environment,
                                 const KeydromeSetup* setup) {
  (void)environment;
  (void)setup;
  return &instance;
}

static void destroy(KeydromeStructure* self) { (void)self; }

static int put(KeydromeStructure* self, KeydromeBytes key, KeydromeBytes payload) {
  (void)self;
  (void)key;
  (void)payload;
  return 1;
}

static int del(KeydromeStructure* self, KeydromeBytes key, KeydromeBytes payload) {
  (void)self;
  (void)key;
  (void)payload;
  return 1;
}

static int scan(const KeydromeStructure* self, KeydromeBytes key, KeydromeBytes payload, int after,
                KeydromeRun* run) {
  (void)self;
  (void)key;
  (void)payload;
  (void)after;
  keydrome_run_clear(run);
  return 0;
}

static int find(const KeydromeStructure* self, KeydromeBytes key, KeydromeBytes after,
                KeydromeBuffer* payload) {
  (void)self;
  (void)key;
  (void)after;
  (void)payload;
  return 0;
}

static const KeydromeStructureTable table = {
    .version = KEYDROME_STRUCTURE_VERSION,
    .size = sizeof(KeydromeStructureTable),
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE,
    .name = "null",
    .description = "accepts every pair without delay and stores nothing",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = del,
    .scan = scan,
    .find = find,
};

const KeydromeStructureTable* keydrome_structure(void) { return &table; }
