// What LinkBench draws: which operation, how many links a node has, how many of them are asked for
// at once.
//
// T. Armstrong et al. (SIGMOD 2013), with the constants of the configuration FBWorkload of its
// published program. Not thread-safe beyond the caller's Rng.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/rng.h"

namespace keydrome::linkbench {

enum Operation : uint32_t {
  kAddLink,
  kDeleteLink,
  kUpdateLink,
  kCountLinks,
  kGetLinks,
  kGetLinkList,
  kGetNode,
  kAddNode,
  kUpdateNode,
  kDeleteNode,
  kOperations
};

Operation draw_operation(Rng& rng);

// The share of nodes with more links than that. LinkBench reads it from a table of Facebook's
// graph. Of nodes without links this is the table's; beyond, two laws that were fitted to it,
// within a quarter of what it says up to 20,000 links.
double share_above(uint32_t links);

// How many links each of that many nodes has, most first: those whose shares follow the law,
// without chance: 4.5 links a node of 100,000, fewer of a smaller graph.
std::vector<uint32_t> out_degrees(uint32_t nodes);

// Geometric, 1 to 128, 2.6 in the mean.
uint32_t draw_multiget(Rng& rng);

}  // namespace keydrome::linkbench
