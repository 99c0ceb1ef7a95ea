// Implements Tree::replace.
#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

// If no digit of the old payload chooses a child, (key, before) is the only pair of the key, and
// the new pair belongs at the same place. A payload of equal size then overwrites the old one, and
// nothing is allocated.
int Tree::replace(const Pair& before, const Pair& now) {
  bool alone = true;
  Link* place = &root_;
  while (place->is_node()) {
    const uint32_t depth = place->depth();
    alone = depth <= before.key_size;
    Link* child = descend(*place, before.digit(depth));
    if (child == nullptr) return 0;
    place = child;
  }
  const Link leaf = *place;
  if (leaf.is_none() || difference(before, leaf.pair()) != kSame) return 0;
  if (!alone) {
    const int result = put(now);
    if (result != 1) return result == 0 ? 2 : result;
    del(before);
    return 1;
  }
  if (difference(now, leaf.pair()) == kSame) return 2;
  if (now.payload_size == before.payload_size) {
    Memory::copy(leaf.at<uint8_t>() + before.key_size, now.payload, now.payload_size);
    return 1;
  }
  const Link fresh = memory_.make_leaf(now);
  if (fresh.is_none()) return KEYDROME_NO_MEMORY;
  *place = fresh;
  memory_.drop(leaf);
  return 1;
}

}  // namespace keydrome::art
