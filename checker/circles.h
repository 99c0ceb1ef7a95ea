// Circles: picks, from the strong components of the precedence graph, short circles that need as
// little as possible, so that the weakest isolation level that was broken gets its name.
//
// Only on the way to a violation, so cost matters little: one more sweep, and searches confined to
// small components or to the neighbourhood of short circles.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/graph.h"
#include "checker/sweep.h"

namespace keydrome {

struct CircleEdge {
  uint32_t from;
  uint32_t to;
  EdgeKind kind;
  Observation observation;  // not of kRealTime
};

// The edges of one circle in order, and everything else that was observed among its transactions.
struct Circle {
  std::vector<CircleEdge> edges;
  std::vector<Observation> observations;
};

// One circle for each of the smallest components, at most `circles_max`. `components` are those of
// `graph`, which may include time nodes; edges come from a sweep that leaves nothing out, and those
// of `added`, the sides chosen of either-ors.
std::vector<Circle> pick_circles(const Case& the_case, const Graph& graph,
                                 std::vector<std::vector<uint32_t>> components,
                                 const std::vector<Observation>& added, std::size_t circles_max);

}  // namespace keydrome
