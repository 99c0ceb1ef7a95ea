// Implements cycles.h: picks one short cycle from each strongly connected component of a graph. The
// nodes of the graph are transactions, and an edge says that one transaction must precede another.
// First searches for a cycle that has only write-write edges. If there is none, allows more and
// more kinds of edges. In a large component, searches only among transactions on short cycles.
#include "checker/certify/cycles.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "checker/certify/rules.h"

namespace keydrome::certify {

using history::kNoNumber;
using history::Transaction;

namespace {

// If a component has more than 2 * kMembersMax nodes, the search uses only about kMembersMax of its
// transactions, which are on short cycles.
constexpr std::size_t kMembersMax = 400;
// Sampler starts its search for short cycles at up to this many nodes of a large component.
constexpr std::size_t kSampledStarts = 64;

// Says which kinds of edges a cycle may have. The values are sorted: a cycle of an earlier value
// breaks a weaker isolation level. The first four are G0, G1c, G-single and G2 of Adya 1999;
// kRealTime also allows edges of real time.
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

// The edges between a few transactions, in which weakest() searches for a cycle.
class Neighbourhood {
 public:
  Neighbourhood(const Context& context, const std::vector<uint32_t>& members,
                const std::vector<Observation>& observations)
      : members_(members), rows_(members.size()) {
    for (std::size_t i = 0; i < members.size(); ++i) local_[members[i]] = i;
    for (const Observation& seen : observations) {
      const auto from = local_.find(seen.from);
      const auto to = local_.find(seen.to);
      if (from == local_.end() || to == local_.end()) continue;
      rows_[from->second].push_back({to->second, {seen.from, seen.to, seen.kind, seen}});
    }
    add_real_time(context);
    for (auto& row : rows_) {
      std::sort(row.begin(), row.end(), [](const Local& a, const Local& b) {
        return a.edge.kind != b.edge.kind ? a.edge.kind < b.edge.kind : a.to < b.to;
      });
    }
  }

  // Returns a shortest cycle of the first level that has a cycle, or no edges if no level has one.
  std::vector<CycleEdge> weakest() const {
    for (const Level level :
         {Level::kWrites, Level::kFlow, Level::kOneAnti, Level::kAnti, Level::kRealTime}) {
      std::vector<CycleEdge> best;
      for (std::size_t start = 0; start < rows_.size() && best.size() != 2; ++start) {
        std::vector<CycleEdge> found = through(start, level, best.size());
        if (!found.empty()) best = std::move(found);
      }
      if (!best.empty()) return best;
    }
    return {};
  }

 private:
  struct Local {
    std::size_t to;
    CycleEdge edge;
  };
  // A node that the search reached. `anti` is true if the path to the node has a read-write edge
  // (is_anti) and the level allows only one.
  struct Reached {
    std::size_t node;
    bool anti;
    std::size_t came_from;  // position in the queue
    const Local* by;
    std::size_t length;
  };

  void add_real_time(const Context& context) {
    if (!context.rule(kRuleRealTime)) return;
    const std::vector<Transaction>& committed = context.transactions.committed;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t j = 0; j < members_.size(); ++j) {
        if (!history::precedes(committed[members_[i]], committed[members_[j]])) continue;
        rows_[i].push_back({j, {members_[i], members_[j], EdgeKind::kRealTime, {}}});
      }
    }
  }

  // Searches breadth-first for a cycle through `start` with fewer than `below` edges, where 0 means
  // any number. Returns no edges if there is no such cycle.
  std::vector<CycleEdge> through(std::size_t start, Level level, std::size_t below) const {
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

  static std::vector<CycleEdge> path(const std::vector<Reached>& queue, std::size_t tail,
                                     const Local& last) {
    std::vector<CycleEdge> edges{last.edge};
    for (std::size_t at = tail; queue[at].by != nullptr; at = queue[at].came_from) {
      edges.push_back(queue[at].by->edge);
    }
    std::reverse(edges.begin(), edges.end());
    return edges;
  }

  const std::vector<uint32_t>& members_;
  std::unordered_map<uint32_t, std::size_t> local_;  // by transaction: its position in members_
  std::vector<std::vector<Local>> rows_;  // by position in members_: edges from this transaction
};

// Collects the edges whose two transactions are in the same component.
class ComponentSink : public DependencySink {
 public:
  ComponentSink(const Context& context, const std::vector<std::vector<uint32_t>>& components,
                bool tentative)
      : context_(context),
        tentative_(tentative),
        component_of_(context.transactions.committed.size(), kNoNumber),
        observations(components.size()) {
    for (uint32_t i = 0; i < components.size(); ++i) {
      for (const uint32_t member : components[i]) component_of_[member] = i;
    }
  }

  void add_edge(const Observation& seen) override {
    const uint32_t component = component_of_[seen.from];
    if (component != kNoNumber && component == component_of_[seen.to] && proves(seen)) {
      observations[component].push_back(seen);
    }
  }
  void add_choice(const Choice& /*choice*/) override {}
  void add_finding(const DirectFinding& /*finding*/) override {}

 private:
  bool proves(const Observation& seen) const {
    const bool open = tentative_ && (context_.versions.notes[seen.element] & kOpenDeleter) != 0;
    return !context_.is_unfinished_element(seen.element) &&
           (!open || seen.kind == EdgeKind::kWriteRead);
  }

  const Context& context_;
  const bool tentative_;
  std::vector<uint32_t> component_of_;

 public:
  std::vector<std::vector<Observation>> observations;  // by component
};

// Finds transactions of a large component that are on short cycles.
class Sampler {
 public:
  Sampler(const Graph& graph, uint32_t transactions)
      : graph_(graph),
        transactions_(transactions),
        parent_(graph.size()),
        visited_in_(graph.size()) {}

  std::vector<uint32_t> sample(const std::vector<uint32_t>& component) {
    const std::set<uint32_t> inside(component.begin(), component.end());
    std::set<uint32_t> members;
    const std::size_t stride = component.size() / kSampledStarts + 1;
    for (std::size_t i = 0; i < component.size() && members.size() < kMembersMax; i += stride) {
      cycle_through(component[i], inside, members);
    }
    return {members.begin(), members.end()};
  }

 private:
  void cycle_through(uint32_t start, const std::set<uint32_t>& inside,
                     std::set<uint32_t>& members) {
    ++search_;
    std::vector<uint32_t> queue{start};
    visited_in_[start] = search_;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (const uint32_t target : graph_.targets(queue[head])) {
        if (target == start) {
          for (uint32_t node = queue[head]; node != start; node = parent_[node])
            keep(node, members);
          keep(start, members);
          return;
        }
        if (visited_in_[target] == search_ || inside.count(target) == 0) continue;
        visited_in_[target] = search_;
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
  std::vector<uint32_t> visited_in_;  // by node: the last search that reached it
  uint32_t search_ = 0;
};

// Returns true if two observations prove the anomaly. With `old_state`, a transaction precedes the
// change of another one; with `new_state`, it follows a change.
bool prove_anomaly(const Context& context, std::string_view name, const Observation& old_state,
                   const Observation& new_state) {
  const bool same_record = old_state.element == new_state.element;
  if (name == "non_repeatable_read") {
    return same_record && old_state.kind == EdgeKind::kReadWrite &&
           new_state.kind == EdgeKind::kPredicateRead;
  }
  if (name == "phantom") {
    return same_record && old_state.kind == EdgeKind::kPredicateWrite &&
           new_state.kind == EdgeKind::kWriteRead;
  }
  // The change of a record is a delete and an insert of another record under the same key.
  return name == "lost_update" && is_anti(old_state.kind) &&
         new_state.kind == EdgeKind::kWriteWrite &&
         context.numbering.element_cells[old_state.element] ==
             context.numbering.element_cells[new_state.element];
}

}  // namespace

std::vector<Cycle> pick_cycles(const Context& context, const Graph& graph,
                               std::vector<std::vector<uint32_t>> components,
                               const std::vector<Observation>& added, std::size_t cycles_max,
                               bool tentative) {
  const auto transactions = static_cast<uint32_t>(context.transactions.committed.size());
  std::sort(components.begin(), components.end(),
            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (components.size() > cycles_max) components.resize(cycles_max);
  Sampler sampler(graph, transactions);
  for (auto& component : components) {
    if (component.size() > kMembersMax * 2) {
      component = sampler.sample(component);
    } else {
      std::erase_if(component, [&](uint32_t node) { return node >= transactions; });
    }
  }
  ComponentSink sink(context, components, tentative);
  find_dependencies(context, /*lean=*/false, sink);
  for (const Observation& seen : added) sink.add_edge(seen);

  std::vector<Cycle> cycles;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Neighbourhood around(context, components[i], sink.observations[i]);
    Cycle cycle{around.weakest(), {}};
    if (cycle.edges.empty()) continue;
    std::set<uint32_t> members;
    for (const CycleEdge& edge : cycle.edges) members.insert(edge.from);
    for (const Observation& seen : sink.observations[i]) {
      if (members.count(seen.from) + members.count(seen.to) == 2) {
        cycle.observations.push_back(seen);
      }
    }
    cycles.push_back(std::move(cycle));
  }
  return cycles;
}

Cycle about_one_record(const Context& context, Cycle cycle, std::string_view name) {
  if (cycle.edges.size() != 2) return cycle;
  if (is_anti(cycle.edges[0].kind) == is_anti(cycle.edges[1].kind)) return cycle;
  const bool first = is_anti(cycle.edges[0].kind);
  CycleEdge& anti = cycle.edges[first ? 0 : 1];
  CycleEdge& flow = cycle.edges[first ? 1 : 0];
  if (flow.kind == EdgeKind::kRealTime) return cycle;
  if (prove_anomaly(context, name, anti.observation, flow.observation)) return cycle;
  for (const Observation& old_state : cycle.observations) {
    if (old_state.from != anti.from || old_state.to != anti.to) continue;
    for (const Observation& new_state : cycle.observations) {
      if (new_state.from != flow.from || new_state.to != flow.to) continue;
      if (!prove_anomaly(context, name, old_state, new_state)) continue;
      anti = {anti.from, anti.to, old_state.kind, old_state};
      flow = {flow.from, flow.to, new_state.kind, new_state};
      return cycle;
    }
  }
  return cycle;
}

}  // namespace keydrome::certify
