// Precedence: the graph of "must stand before" among the committed transactions, real time
// included, and the choices that are left.
//
// Real time would be quadratic; a chain of one time node for each commit says the same with three
// edges a transaction: transaction i (by end) leads to time node i, that to time node i + 1, and
// the last commit before a transaction's begin leads to that transaction. Node i of the graph is
// transaction i, node n + i its time node.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/graph.h"
#include "checker/sweep.h"

namespace keydrome {

// The edges of real time; empty when the rule is off or time does not count.
void add_real_time(const Case& the_case, std::vector<GraphEdge>& edges);

enum class Settled : uint8_t { kYes, kImpossible, kGaveUp };

// The reader of a choice stands before the inserter, or behind the deleter.
struct SettledSide {
  std::size_t choice;
  bool reader_first;
};

// The edge that a side stands for.
Observation side_of(const EitherOr& choice, bool reader_first);

struct SettledChoices {
  Settled settled = Settled::kYes;
  std::vector<SettledSide> sides;  // kYes: one for each choice; kImpossible: those that are forced
  std::size_t impossible = 0;      // kImpossible: a choice of which neither side is possible
};

// Chooses a side for every either-or so that no circle arises: what only one side allows is forced,
// until nothing is; then by trying and taking back, within a bound. `graph` has no circle and
// includes real time. Cost: for each choice a search among the transactions of its time.
SettledChoices settle(const Case& the_case, const Graph& graph,
                      const std::vector<EitherOr>& choices);

}  // namespace keydrome
