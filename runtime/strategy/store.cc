// Implements the lookup of a key in a structure that has no `find`.
#include "runtime/strategy/store.h"

#include <cstring>

namespace keydrome::runtime {

int Store::find_by_scan(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const {
  Pair pair;
  KeydromeRun run = pair.as_run();
  const int more = scan({key, after, after.data != nullptr}, run);
  if (more < 0) return more;
  const KeydromeBytes found = pair.key();
  if (run.pairs == 0 || found.size != key.size ||
      (key.size > 0 && std::memcmp(found.data, key.data, key.size) != 0)) {
    return 0;
  }
  payload.size = pair.payload().size;
  if (payload.size > payload.capacity) return -1;  // the structure has returned wrong bytes
  if (payload.size > 0) std::memcpy(payload.data, pair.payload().data, payload.size);
  return 1;
}

}  // namespace keydrome::runtime
