// Walk: visits the leaves of the tree in order, from the first pair that is not smaller than a
// probe.
#pragma once

#include <cstdint>

#include "structures/art/search.h"

namespace keydrome::art {

// Lives during one call. The tree must not change meanwhile.
class Walk {
 public:
  // Moves to the first pair >= the probe, or > the probe if `after` is true.
  Walk(Link root, const Pair& probe, bool after);

  // Returns the leaf at the position and moves to the following one. Returns an empty link after
  // the last leaf.
  Link next();

 private:
  // A node on the path from the root, and the position (search.h) of the child to visit next.
  struct Frame {
    Link node;
    uint32_t position;
  };

  Link follow(Link link, const Pair& probe);
  void push(Link node, uint32_t position);

  Link first_{};  // to visit before the children in the frames, if not empty: a leaf or a node
  uint32_t length_ = 0;
  Frame frames_[kPathMax];  // not initialised
};

}  // namespace keydrome::art
