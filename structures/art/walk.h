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

  // Stores the links to at most `most` leaves at the position, moves past them, and returns their
  // number. It is smaller than `most` only after the last leaf. Asks for the memory of the leaves,
  // and does not read them.
  uint32_t collect(Link* leaves, uint32_t most);

 private:
  // A node on the path from the root, and the position (search.h) of the child to visit next.
  struct Frame {
    Link node;
    uint32_t position;
  };
  struct Collector;

  Link follow(Link link, const Pair& probe);
  void push(Link node, uint32_t position) { frames_[length_++] = {node, position}; }

  Link first_{};  // to visit before the children in the frames, if not empty: a leaf or a node
  uint32_t length_ = 0;
  Frame frames_[kPathMax];  // not initialised
};

}  // namespace keydrome::art
