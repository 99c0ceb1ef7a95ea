// Walk: visits the leaves and pages of the adaptive radix tree in order, from the first pair that
// is not smaller than a probe. Other threads may change the tree meanwhile (tree.h).
#pragma once

#include <cstdint>

#include "structures/art/page.h"
#include "structures/art/search.h"

namespace keydrome::art {

// The pairs of a leaf or page from index `from` on.
struct Stretch {
  Link link;
  uint32_t from;
};

// A walk is a local variable of one call.
class Walk {
 public:
  // Moves to the first pair >= the probe, or > the probe if `after` is true.
  Walk(const Slot& root, const Pair& probe, bool after);

  // Stores up to `most` stretches and returns their number. Stops earlier if the stretches have at
  // least `pairs` pairs. The next call continues after them. Returns 0 only after the last pair.
  // Prefetches the pairs, but does not read them.
  uint32_t collect(Stretch* stretches, uint32_t most, uint32_t pairs);

 private:
  // A node on the path from the root, and the position (search.h) of the child to visit next.
  struct Frame {
    Link node;
    uint32_t position;
  };
  class Collector;

  bool begin(Link root, const Pair& probe, bool after);
  Link follow(Link link, const Pair& probe);
  void push(Link node, uint32_t position) { frames_[length_++] = {node, position}; }

  // The walk visits these pairs before the children in the frames. An empty link means that there
  // are none. Unlike in other stretches, the link may be a node: the walk then visits all pairs
  // below the node.
  Stretch first_{};
  uint32_t length_ = 0;
  Frame frames_[kPathMax];  // not initialised
};

}  // namespace keydrome::art
