// Walk: visits the leaves and pages of the adaptive radix tree in order, from the first pair that
// is not smaller than a probe. Other threads may change the tree meanwhile (tree.h).
#pragma once

#include <cstdint>

#include "structures/art/pairs.h"
#include "structures/art/search.h"

namespace keydrome::art {

// Returns the number of pairs of a leaf or page. The link of a word page does not contain it: the
// result is then the number of pairs if three quarters of the slots are used.
inline uint32_t likely_pairs(Link link) {
  if (link.kind() == Kind::kWords) return link.slots() - link.slots() / 4;
  return link.kind() == Kind::kPage ? link.page_pairs() : 1;
}

// The pairs of a leaf or page. If `first` is true, the walk begins in it, at the pair with the
// index Walk::first_in(). The index is not stored here, because it changes if another thread
// inserts a pair into a word page.
struct Stretch {
  Link link;
  bool first;
};

// A walk is a local variable of one call.
class Walk {
 public:
  // Moves to the first pair >= the probe, or > the probe if `after` is true. The probe must exist
  // as long as the walk.
  Walk(const Slot& root, const Pair& probe, bool after);

  // Stores up to `most` stretches and returns their number. Stops earlier if the stretches probably
  // have at least `pairs` pairs. The next call continues after them. Returns 0 only after the last
  // pair. Prefetches the pairs, but does not read them.
  uint32_t collect(Stretch* stretches, uint32_t most, uint32_t pairs);

  // Returns the index of the first pair of a stretch that belongs to the walk. It may be the number
  // of pairs.
  uint32_t first_in(const Stretch& stretch, const Pairs& pairs) const {
    if (!stretch.first) return 0;
    const Pairs::Rank rank = pairs.rank(probe_);
    return rank.index + (rank.exact && after_ ? 1 : 0);
  }

 private:
  // A node on the path from the root, and the position (search.h) of the child to visit next.
  struct Frame {
    Link node;
    uint32_t position;
  };
  class Collector;

  bool begin(Link root);
  Link follow(Link link);
  void push(Link node, uint32_t position) { frames_[length_++] = {node, position}; }

  const Pair& probe_;
  const bool after_;
  // The walk visits these pairs before the children in the frames. An empty link means that there
  // are none. Unlike in other stretches, the link may be a node: the walk then visits all pairs
  // below the node.
  Stretch first_{};
  uint32_t length_ = 0;
  Frame frames_[kPathMax];  // not initialised
};

}  // namespace keydrome::art
