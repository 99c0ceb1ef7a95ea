#include "checker/circles.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "checker/rules.h"

namespace keydrome {
namespace {

// A component with more transactions is cut down to those on short circles first.
constexpr std::size_t kMembersMax = 400;
constexpr std::size_t kSampledStarts = 64;

bool is_anti(EdgeKind kind) {
  return kind == EdgeKind::kReadWrite || kind == EdgeKind::kPredicateWrite;
}

// What a circle may be made of, from the weakest level to the strongest (Adya 1999: G0, G1c,
// G-single, G2, and real time on top).
enum class Level : uint8_t { kWrites, kFlow, kOneAnti, kAnti, kRealTime };

bool admits(Level level, EdgeKind kind) {
  switch (level) {
    case Level::kWrites:
      return kind == EdgeKind::kWriteWrite;
    case Level::kFlow:
      return kind <= EdgeKind::kPredicateRead;
    case Level::kOneAnti:
    case Level::kAnti:
      return kind != EdgeKind::kRealTime;
    case Level::kRealTime:
      return true;
  }
  return false;
}

// The edges among few transactions, all kinds, each with one observation.
class Neighbourhood {
 public:
  Neighbourhood(const Case& the_case, const std::vector<uint32_t>& members,
                const std::vector<Observation>& observations)
      : members_(members), rows_(members.size()) {
    for (std::size_t i = 0; i < members.size(); ++i) local_[members[i]] = i;
    for (const Observation& seen : observations) {
      const auto from = local_.find(seen.from);
      const auto to = local_.find(seen.to);
      if (from == local_.end() || to == local_.end()) continue;
      rows_[from->second].push_back({to->second, {seen.from, seen.to, seen.kind, seen}});
    }
    add_real_time(the_case);
    for (auto& row : rows_) {
      std::sort(row.begin(), row.end(), [](const Local& a, const Local& b) {
        return a.edge.kind != b.edge.kind ? a.edge.kind < b.edge.kind : a.to < b.to;
      });
    }
  }

  // The shortest circle of the weakest level that has one.
  std::vector<CircleEdge> weakest() const {
    for (const Level level :
         {Level::kWrites, Level::kFlow, Level::kOneAnti, Level::kAnti, Level::kRealTime}) {
      std::vector<CircleEdge> best;
      for (std::size_t start = 0; start < rows_.size() && best.size() != 2; ++start) {
        std::vector<CircleEdge> found = through(start, level, best.size());
        if (!found.empty()) best = std::move(found);
      }
      if (!best.empty()) return best;
    }
    return {};
  }

 private:
  struct Local {
    std::size_t to;
    CircleEdge edge;
  };
  // A node reached, with or without an anti-dependency on the way.
  struct Reached {
    std::size_t node;
    bool anti;
    std::size_t came_from;  // position in the queue
    const Local* by;
    std::size_t length;
  };

  void add_real_time(const Case& the_case) {
    if (!the_case.rule(kRuleRealTime)) return;
    const std::vector<Transaction>& committed = the_case.transactions.committed;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t j = 0; j < members_.size(); ++j) {
        if (committed[members_[i]].end >= committed[members_[j]].begin) continue;
        rows_[i].push_back({j, {members_[i], members_[j], EdgeKind::kRealTime, {}}});
      }
    }
  }

  // Breadth first; empty when there is no circle through `start` shorter than `below` (0: any).
  std::vector<CircleEdge> through(std::size_t start, Level level, std::size_t below) const {
    std::vector<Reached> queue{{start, false, 0, nullptr, 0}};
    std::vector<bool> seen(rows_.size() * 2, false);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const Reached at = queue[head];
      if (below != 0 && at.length + 1 >= below) break;
      for (const Local& local : rows_[at.node]) {
        if (!admits(level, local.edge.kind)) continue;
        const bool limited = level == Level::kOneAnti;
        const bool anti = limited && (at.anti || is_anti(local.edge.kind));
        if (limited && at.anti && is_anti(local.edge.kind)) continue;
        if (local.to == start) return path(queue, head, local);
        const std::size_t state = local.to * 2 + (anti ? 1 : 0);
        if (seen[state]) continue;
        seen[state] = true;
        queue.push_back({local.to, anti, head, &local, at.length + 1});
      }
    }
    return {};
  }

  static std::vector<CircleEdge> path(const std::vector<Reached>& queue, std::size_t tail,
                                      const Local& last) {
    std::vector<CircleEdge> edges{last.edge};
    for (std::size_t at = tail; queue[at].by != nullptr; at = queue[at].came_from) {
      edges.push_back(queue[at].by->edge);
    }
    std::reverse(edges.begin(), edges.end());
    return edges;
  }

  const std::vector<uint32_t>& members_;
  std::unordered_map<uint32_t, std::size_t> local_;
  std::vector<std::vector<Local>> rows_;
};

// Keeps the edges whose ends are in the same chosen component.
class ComponentSink : public SweepSink {
 public:
  ComponentSink(std::size_t transactions, const std::vector<std::vector<uint32_t>>& components)
      : component_of_(transactions, kNoNumber), observations(components.size()) {
    for (uint32_t i = 0; i < components.size(); ++i) {
      for (const uint32_t member : components[i]) component_of_[member] = i;
    }
  }

  void edge(const Observation& seen) override {
    const uint32_t component = component_of_[seen.from];
    if (component != kNoNumber && component == component_of_[seen.to]) {
      observations[component].push_back(seen);
    }
  }
  void either_or(const EitherOr& /*choice*/) override {}
  void finding(const DirectFinding& /*finding*/) override {}

 private:
  std::vector<uint32_t> component_of_;

 public:
  std::vector<std::vector<Observation>> observations;  // by component
};

// The transactions on short circles through some of a large component's nodes.
class Sampler {
 public:
  Sampler(const Graph& graph, uint32_t transactions)
      : graph_(graph), transactions_(transactions), parent_(graph.size()), stamps_(graph.size()) {}

  std::vector<uint32_t> sample(const std::vector<uint32_t>& component) {
    const std::set<uint32_t> inside(component.begin(), component.end());
    std::set<uint32_t> members;
    const std::size_t stride = component.size() / kSampledStarts + 1;
    for (std::size_t i = 0; i < component.size() && members.size() < kMembersMax; i += stride) {
      circle_through(component[i], inside, members);
    }
    return {members.begin(), members.end()};
  }

 private:
  void circle_through(uint32_t start, const std::set<uint32_t>& inside,
                      std::set<uint32_t>& members) {
    ++stamp_;
    std::vector<uint32_t> queue{start};
    stamps_[start] = stamp_;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (const uint32_t target : graph_.targets(queue[head])) {
        if (target == start) {
          for (uint32_t node = queue[head]; node != start; node = parent_[node])
            keep(node, members);
          keep(start, members);
          return;
        }
        if (stamps_[target] == stamp_ || inside.count(target) == 0) continue;
        stamps_[target] = stamp_;
        parent_[target] = queue[head];
        queue.push_back(target);
      }
    }
  }

  void keep(uint32_t node, std::set<uint32_t>& members) const {
    if (node < transactions_) members.insert(node);
  }

  const Graph& graph_;
  const uint32_t transactions_;
  std::vector<uint32_t> parent_;
  std::vector<uint32_t> stamps_;
  uint32_t stamp_ = 0;
};

}  // namespace

std::vector<Circle> pick_circles(const Case& the_case, const Graph& graph,
                                 std::vector<std::vector<uint32_t>> components,
                                 const std::vector<Observation>& added, std::size_t circles_max) {
  const auto transactions = static_cast<uint32_t>(the_case.transactions.committed.size());
  std::sort(components.begin(), components.end(),
            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (components.size() > circles_max) components.resize(circles_max);
  Sampler sampler(graph, transactions);
  for (auto& component : components) {
    if (component.size() > kMembersMax * 2) {
      component = sampler.sample(component);
    } else {
      std::erase_if(component, [&](uint32_t node) { return node >= transactions; });
    }
  }
  ComponentSink sink(transactions, components);
  sweep(the_case, /*lean=*/false, sink);
  for (const Observation& seen : added) sink.edge(seen);

  std::vector<Circle> circles;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Neighbourhood around(the_case, components[i], sink.observations[i]);
    Circle circle{around.weakest(), {}};
    if (circle.edges.empty()) continue;
    std::set<uint32_t> members;
    for (const CircleEdge& edge : circle.edges) members.insert(edge.from);
    for (const Observation& seen : sink.observations[i]) {
      if (members.count(seen.from) + members.count(seen.to) == 2) {
        circle.observations.push_back(seen);
      }
    }
    circles.push_back(std::move(circle));
  }
  return circles;
}

}  // namespace keydrome
