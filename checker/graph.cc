#include "checker/graph.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace keydrome {
namespace {

// Tarjan's algorithm with its own stack of calls.
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
  static constexpr uint32_t kDone = 0xffffffff;  // low_ of a node whose component is known

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

  // The nodes above `node` on the stack are its component.
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
  std::vector<uint32_t> number_;  // in the order of discovery; 0: not yet
  std::vector<uint32_t> low_;
  std::vector<uint32_t> next_;  // the next target to look at
  std::vector<uint32_t> calls_;
  std::vector<uint32_t> open_;
  std::vector<std::vector<uint32_t>> found_;
  uint32_t count_ = 0;
};

}  // namespace

Graph::Graph(uint32_t nodes, const std::vector<GraphEdge>& edges)
    : starts_(nodes + 2, 0), targets_(edges.size()) {
  // starts_[n + 1] is where the next target of n goes, and in the end where n + 1 begins.
  for (const GraphEdge& edge : edges) ++starts_[edge.from + 2];
  for (std::size_t i = 2; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  for (const GraphEdge& edge : edges) targets_[starts_[edge.from + 1]++] = edge.to;
  starts_.pop_back();
}

std::vector<std::vector<uint32_t>> Graph::circles() const { return Tarjan(*this).run(); }

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

}  // namespace keydrome
