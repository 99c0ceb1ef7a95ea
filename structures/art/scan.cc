// Implements Tree::scan, and Tree::find_after, a scan of one pair.
#include <algorithm>
#include <utility>

#include "structures/art/tree.h"
#include "structures/art/walk.h"

namespace keydrome::art {

namespace {

// Like keydrome_run_add, for a run that has fewer than `limit` pairs. Copies eight bytes without a
// call.
bool add_to_run(KeydromeRun& run, const Pair& pair) {
  const uint32_t size = 2 + pair.key_size + pair.payload_size;
  if (size > run.capacity - run.size) return false;
  auto* to = static_cast<uint8_t*>(run.data) + run.size;
  to[0] = static_cast<uint8_t>(pair.key_size);
  to[1] = static_cast<uint8_t>(pair.payload_size);
  Memory::copy(to + 2, pair.key, pair.key_size);
  Memory::copy(to + 2 + pair.key_size, pair.payload, pair.payload_size);
  run.size += size;
  ++run.pairs;
  return true;
}

}  // namespace

// Each leaf is at another place in memory. So the links of a group of leaves are collected, and
// their memory is asked for, before the leaves of the group before it are read.
int Tree::scan(const Pair& from, bool after, KeydromeRun& run) const {
  constexpr uint32_t kGroup = 16;
  Link groups[2][kGroup];
  Link* now = groups[0];
  Link* soon = groups[1];
  keydrome_run_clear(&run);
  Walk walk(root_, from, after);
  uint32_t left = run.limit;  // leaves that are not collected yet
  uint32_t count = walk.collect(now, std::min(left, kGroup));
  while (count > 0) {
    left -= count;
    const uint32_t following = left == 0 ? 0 : walk.collect(soon, std::min(left, kGroup));
    for (uint32_t i = 0; i < count; ++i) {
      if (!add_to_run(run, now[i].pair())) return 1;
    }
    std::swap(now, soon);
    count = following;
  }
  return left == 0 ? 1 : 0;
}

int Tree::find_after(const Pair& after, KeydromeBuffer& payload) const {
  Walk walk(root_, after, true);
  Link leaf;
  if (walk.collect(&leaf, 1) == 0) return 0;
  const Pair pair = leaf.pair();
  if (pair.key_size != after.key_size || !equal_bytes(pair.key, after.key, pair.key_size)) return 0;
  Memory::copy(static_cast<uint8_t*>(payload.data), pair.payload, pair.payload_size);
  payload.size = pair.payload_size;
  return 1;
}

}  // namespace keydrome::art
