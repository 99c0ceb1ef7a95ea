// Picks short cycles of transactions from the strongly connected components of the precedence graph
// (precedence.h). Each cycle proves a violation.
//
// The kinds of edges in a cycle decide which isolation level the cycle breaks. In each component,
// pick_cycles() picks a cycle that breaks the weakest level, because a library that fails this
// level also fails all stronger levels.
//
// pick_cycles() runs only if there is a violation, so its speed matters little. Cost: one more pass
// over the history, and searches among at most about 800 transactions of each component.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "checker/certify/dependencies.h"
#include "checker/certify/graph.h"

namespace keydrome::certify {

// Returns true if the edge leads from a transaction that saw an old state of a record to the
// transaction that changed this state.
inline bool is_anti(EdgeKind kind) {
  return kind == EdgeKind::kReadWrite || kind == EdgeKind::kPredicateWrite;
}

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

// Returns at most one cycle for each component. Uses only the `cycles_max` smallest components.
// `components` are the strongly connected components of `graph`. Besides transactions, they may
// contain the graph's time nodes, which represent real time (precedence.h).
//
// A Choice is a pair of edges of which at least one must hold (dependencies.h). `added` contains
// the edges that were chosen from such pairs. pick_cycles() derives all other edges from the
// history again.
//
// A transaction whose end is not in the history may have committed. So the edges about the keys of
// the records that it wrote prove nothing, and are left out. An *open element* is a record whose
// deleter is not known (versions.h). If `tentative` is true, the edges that depend on the deleter
// of an open element are also left out.
std::vector<Cycle> pick_cycles(const Context& context, const Graph& graph,
                               std::vector<std::vector<uint32_t>> components,
                               const std::vector<Observation>& added, std::size_t cycles_max,
                               bool tentative);

// Returns the cycle with both edges about the same record, or for "lost_update" about the same key.
// Often several calls prove an edge, but the sentence about the anomaly speaks of one record.
// Returns the cycle unchanged if the anomaly `name` concerns several records, or if the cycle has
// no such observations.
Cycle about_one_record(const Context& context, Cycle cycle, std::string_view name);

}  // namespace keydrome::certify
