// Implements what Store does for structures that lack functions or have limits.
#include "runtime/strategy/store.h"

#include <cstdio>
#include <cstring>

#include "runtime/say_once.h"

namespace keydrome::runtime {

namespace {

bool equal(KeydromeBytes a, KeydromeBytes b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

}  // namespace

int Store::no_scan() {
  static std::atomic<bool> said = false;
  say_once(said,
           "getNext returns FAILURE, because the structure cannot scan (capability "
           "KEYDROME_UNORDERED). Use an ordered structure, or a benchmark without scans.");
  return -1;
}

bool Store::has_room_within_limit(KeydromeBytes key, KeydromeBytes payload) const {
  uint8_t bytes[2][KEYDROME_PAYLOAD_BYTES_MAX];
  KeydromeBytes after = kAnyPayload;
  for (uint32_t payloads = 0; payloads < payloads_max_; ++payloads) {
    KeydromeBuffer found{bytes[payloads % 2], 0, sizeof bytes[0]};
    const int any = find(key, after, found);
    if (any < 0) return false;
    after = {found.data, found.size};
    if (any == 0 || equal(after, payload)) return true;
  }
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) {
    std::fprintf(stderr,
                 "keydrome runtime: an insertion returns FAILURE, because the key already has as "
                 "many payloads as the structure's table allows (payloads_max: %u). Use another "
                 "structure, or a benchmark whose keys have fewer payloads.\n",
                 payloads_max_);
  }
  return false;
}

int Store::find_by_scan(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const {
  Pair pair;
  KeydromeRun run = pair.as_run();
  const int more = scan({key, after, after.data != nullptr}, run);
  if (more < 0) return more;
  if (run.pairs == 0 || !equal(pair.key(), key)) return 0;
  payload.size = pair.payload().size;
  if (payload.size > payload.capacity) return -1;  // the structure has returned wrong bytes
  if (payload.size > 0) std::memcpy(payload.data, pair.payload().data, payload.size);
  return 1;
}

}  // namespace keydrome::runtime
