// Implements scan() of Tree (tree.h), which copies pairs in order into a run, a buffer of the
// caller.
#include "structures/prefix_tree/cursor.h"
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {

int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  keydrome_run_clear(&run);
  Cursor cursor;
  cursor.seek(root_, Probe::of_scan(key, payload, after), after);
  while (run.pairs < run.limit) {
    const Record* record = cursor.next();
    if (record == nullptr) return 0;
    if (keydrome_run_add(&run, record->key_bytes(), record->payload_bytes()) == 0) return 1;
  }
  return 1;
}

}  // namespace keydrome::prefix_tree
