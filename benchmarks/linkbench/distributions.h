// Defines the random distributions of the benchmark "linkbench": operations, links per node, and
// links requested at once.
//
// Source: T. Armstrong et al. (SIGMOD 2013), with the constants of the configuration FBWorkload of
// its published program. Thread-safe, except for the caller's Rng.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/workload/rng.h"

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

Operation random_operation(workload::Rng& rng);

// Returns the fraction of nodes with more than `links` links. LinkBench reads this fraction from a
// table of Facebook's graph. For 0 links the result is the table's number. Otherwise it is the sum
// of two fitted functions, which differ from the table by at most a quarter up to 20,000 links.
double share_above(uint32_t links);

// Returns the number of links of each node, in descending order. The numbers follow from
// share_above() without random numbers. For 100,000 nodes the mean is 4.5; for fewer nodes it is
// lower.
std::vector<uint32_t> out_degrees(uint32_t nodes);

// Returns a random number of links that one getlink requests: geometric, 1 to 128, 2.6 on average.
uint32_t random_multiget(workload::Rng& rng);

}  // namespace keydrome::linkbench
