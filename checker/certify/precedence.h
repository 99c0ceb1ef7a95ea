// Completes the graph of the transactions of a recorded history. An edge says that one transaction
// must precede another in every serial order. add_real_time() adds the edges of real time: if T1
// had returned before T2 began, T1 precedes T2. settle() takes one edge of each Choice. A Choice
// (dependencies.h) is a pair of edges of which at least one must hold.
//
// If every two transactions that do not overlap had an edge, the number of edges would grow with
// the square of the number of transactions. So the graph instead has one *time node* for each
// transaction, and at most three edges of real time for each transaction. Transactions are numbered
// in the order in which they returned:
// - An edge leads from transaction i to time node i.
// - An edge leads from time node i to time node i + 1.
// - An edge leads to transaction i from time node j, if j is the last transaction that had returned
//   before transaction i began.
// For n transactions, node i of the graph is transaction i, and node n + i is its time node.
//
// Timestamps can be too coarse to show that a transaction began after an earlier one of its thread
// had returned. Then an edge leads directly from the earlier transaction to the later one.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/certify/dependencies.h"
#include "checker/certify/graph.h"

namespace keydrome::certify {

// Adds the edges of real time to `edges`. Adds none if kRuleRealTime is switched off.
void add_real_time(const Context& context, std::vector<GraphEdge>& edges);

enum class Settled : uint8_t { kYes, kImpossible, kGaveUp };

// The side that was chosen for a choice. If `reader_first` is true, the reader precedes the
// inserter. Otherwise the deleter precedes the reader.
struct SettledSide {
  std::size_t choice;  // position in the list of choices
  bool reader_first;
};

// Returns the edge that a side of a choice stands for.
Observation side_of(const Choice& choice, bool reader_first);

struct SettledChoices {
  Settled settled = Settled::kYes;
  // If kYes, one side for each choice. If kImpossible, the sides that were settled before the
  // search found the impossible choice, including all forced sides.
  std::vector<SettledSide> sides;
  std::size_t impossible = 0;  // if kImpossible: a choice of which both sides close a cycle
};

// Chooses a side for every choice so that the edges form no cycle. First takes every side whose
// alternative is impossible, which may force further sides. Then finds the remaining sides by
// backtracking, up to a maximum number of tries. `graph` must have no cycle. To be fast, the search
// assumes real time: no transaction T precedes a transaction that had returned before T began. So
// if `graph` lacks the edges of real time, only the result kImpossible is reliable. Cost: for each
// choice, a search among the transactions that overlap it in time.
SettledChoices settle(const Context& context, const Graph& graph,
                      const std::vector<Choice>& choices);

}  // namespace keydrome::certify
