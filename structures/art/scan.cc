// Implements Tree::scan, and Tree::find_after, a scan of one pair.
#include "structures/art/tree.h"
#include "structures/art/walk.h"

namespace keydrome::art {

int Tree::scan(const Pair& from, bool after, KeydromeRun& run) const {
  keydrome_run_clear(&run);
  Walk walk(root_, from, after);
  while (run.pairs < run.limit) {
    const Link leaf = walk.next();
    if (leaf.is_none()) return 0;
    const Pair pair = leaf.pair();
    const uint32_t size = 2 + pair.key_size + pair.payload_size;
    if (size > run.capacity - run.size) return 1;
    auto* to = static_cast<uint8_t*>(run.data) + run.size;
    to[0] = static_cast<uint8_t>(pair.key_size);
    to[1] = static_cast<uint8_t>(pair.payload_size);
    Memory::copy(to + 2, pair.key, pair.key_size);
    Memory::copy(to + 2 + pair.key_size, pair.payload, pair.payload_size);
    run.size += size;
    ++run.pairs;
  }
  return 1;
}

int Tree::find_after(const Pair& after, KeydromeBuffer& payload) const {
  Walk walk(root_, after, true);
  const Link leaf = walk.next();
  if (leaf.is_none()) return 0;
  const Pair pair = leaf.pair();
  if (pair.key_size != after.key_size || !equal_bytes(pair.key, after.key, pair.key_size)) return 0;
  Memory::copy(static_cast<uint8_t*>(payload.data), pair.payload, pair.payload_size);
  payload.size = pair.payload_size;
  return 1;
}

}  // namespace keydrome::art
