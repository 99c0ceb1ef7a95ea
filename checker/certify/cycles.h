// Picks short cycles of transactions from the strongly connected components of the precedence graph
// (precedence.h). Each cycle proves a violation.
//
// The kinds of edges in a cycle decide which isolation level the cycle breaks. pick_cycles() takes
// the cycle that breaks the weakest level, because a library that fails this level also fails all
// stronger levels.
//
// pick_cycles() runs only if there is a violation, so its speed matters little. Cost: one more pass
// over the history, and searches among at most some hundred transactions of each component.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/certify/dependencies.h"
#include "checker/certify/graph.h"

namespace keydrome::certify {

struct CycleEdge {
  uint32_t from;
  uint32_t to;
  EdgeKind kind;
  Observation observation;  // the call whose result implies the edge; unused for kRealTime
};

// The edges of one cycle in order, and all observations between any two of its transactions.
struct Cycle {
  std::vector<CycleEdge> edges;
  std::vector<Observation> observations;
};

// Returns one cycle for each of the smallest components, at most `cycles_max`. `components` are the
// strongly connected components of `graph`, and may contain its time nodes (precedence.h). `added`
// has the edges that stand for the chosen side of each Choice (dependencies.h). pick_cycles()
// derives all other edges from the history again. It leaves out the edges that prove nothing: about
// keys that a transaction which never ended has written and, if `tentative` is true, about open
// elements (versions.h).
std::vector<Cycle> pick_cycles(const Context& context, const Graph& graph,
                               std::vector<std::vector<uint32_t>> components,
                               const std::vector<Observation>& added, std::size_t cycles_max,
                               bool tentative);

}  // namespace keydrome::certify
