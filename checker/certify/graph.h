// Graph: a directed graph that can compute its strongly connected components and a topological
// order. In certify(), which judges recorded histories, nodes are transactions. An edge leads from
// the transaction that must come first to the one that must come later.
//
// Nodes are numbers. The edges of each node are stored together. All algorithms are iterative,
// because a path can contain millions of nodes, and recursion that deep would overflow the stack.
// Cost: O(nodes + edges); order() takes O(nodes log nodes + edges). Memory: 8 bytes for each node
// and 4 bytes for each edge. Thread safety: constant after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace keydrome::certify {

struct GraphEdge {
  uint32_t from;
  uint32_t to;
};

class Graph {
 public:
  Graph(uint32_t nodes, const std::vector<GraphEdge>& edges);

  uint32_t size() const { return static_cast<uint32_t>(starts_.size() - 1); }
  std::span<const uint32_t> targets(uint32_t node) const {
    return {targets_.data() + starts_[node], targets_.data() + starts_[node + 1]};
  }

  // The strongly connected components of more than one node (Tarjan 1972).
  std::vector<std::vector<uint32_t>> components() const;

  // Returns a topological order, in which every edge leads to a later node (Kahn 1962). Among the
  // nodes that could come next, takes the node with the smallest priority. If the graph has a
  // cycle, the result has fewer than size() nodes.
  std::vector<uint32_t> order(const std::vector<uint32_t>& priorities) const;

 private:
  std::vector<uint64_t> starts_;
  std::vector<uint32_t> targets_;
};

}  // namespace keydrome::certify
