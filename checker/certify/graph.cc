// Implements graph.h: finds strongly connected components (Tarjan 1972) and a topological order
// (Kahn 1962) without recursion.
#include "checker/certify/graph.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace keydrome::certify {
namespace {

// Runs Tarjan's algorithm with an explicit stack instead of recursion.
class Tarjan {
 public:
  explicit Tarjan(const Graph& graph)
      : graph_(graph), number_(graph.size(), 0), low_(graph.size(), 0), next_(graph.size(), 0) {}

  std::vector<std::vector<uint32_t>> run() {
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      if (number_[node] == 0) visit(node);
    }
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kDone = 0xffffffff;  // value of low_ once a node's component is known

  void visit(uint32_t root) {
    enter(root);
    while (!calls_.empty()) {
      const uint32_t node = calls_.back();
      const std::span<const uint32_t> targets = graph_.targets(node);
      if (next_[node] < targets.size()) {
        const uint32_t target = targets[next_[node]++];
        if (number_[target] == 0) {
          enter(target);
        } else if (low_[target] != kDone) {
          low_[node] = std::min(low_[node], number_[target]);
        }
        continue;
      }
      calls_.pop_back();
      const uint32_t low = low_[node];
      if (low == number_[node]) close(node);
      if (!calls_.empty()) low_[calls_.back()] = std::min(low_[calls_.back()], low);
    }
  }

  void enter(uint32_t node) {
    number_[node] = low_[node] = ++count_;
    calls_.push_back(node);
    open_.push_back(node);
  }

  // Takes a component from the stack open_: `node` and all nodes above it.
  void close(uint32_t node) {
    if (open_.back() != node) found_.emplace_back();
    const bool keep = open_.back() != node;
    uint32_t member = kDone;
    do {
      member = open_.back();
      open_.pop_back();
      low_[member] = kDone;
      if (keep) found_.back().push_back(member);
    } while (member != node);
  }

  const Graph& graph_;
  std::vector<uint32_t> number_;  // by node, in the order of discovery; 0 until discovered
  std::vector<uint32_t> low_;     // by node: Tarjan's low link, or kDone
  std::vector<uint32_t> next_;    // by node: position of the next target to visit
  std::vector<uint32_t> calls_;   // the path of the search: replaces the stack of recursive calls
  std::vector<uint32_t> open_;    // nodes that were reached and whose component is not known yet
  std::vector<std::vector<uint32_t>> found_;
  uint32_t count_ = 0;
};

}  // namespace

Graph::Graph(uint32_t nodes, const std::vector<GraphEdge>& edges)
    : starts_(nodes + 2, 0), targets_(edges.size()) {
  // Sorts the edges by source with a counting sort. While the targets are copied, starts_[n + 1] is
  // the position of the next target of node n. After the copy, starts_[n + 1] is the position of
  // the first target of node n + 1.
  for (const GraphEdge& edge : edges) ++starts_[edge.from + 2];
  for (std::size_t i = 2; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  for (const GraphEdge& edge : edges) targets_[starts_[edge.from + 1]++] = edge.to;
  starts_.pop_back();
}

std::vector<std::vector<uint32_t>> Graph::components() const { return Tarjan(*this).run(); }

std::vector<uint32_t> Graph::order(const std::vector<uint32_t>& priorities) const {
  std::vector<uint32_t> waits_for(size(), 0);
  for (const uint32_t target : targets_) ++waits_for[target];
  using Ready = std::pair<uint32_t, uint32_t>;  // priority, node
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (uint32_t node = 0; node < size(); ++node) {
    if (waits_for[node] == 0) ready.emplace(priorities[node], node);
  }
  std::vector<uint32_t> order;
  order.reserve(size());
  while (!ready.empty()) {
    const uint32_t node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (const uint32_t target : targets(node)) {
      if (--waits_for[target] == 0) ready.emplace(priorities[target], target);
    }
  }
  return order;
}

}  // namespace keydrome::certify
