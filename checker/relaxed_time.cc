#include "checker/relaxed_time.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "checker/calls.h"
#include "checker/graph.h"
#include "checker/precedence.h"

namespace keydrome {
namespace {

// The edges of a full sweep that do not rest on time or on who deleted an open element. Apart from
// them those that say that a reader stands behind the deleter of a record that it did not see,
// because time says so.
class EdgeSink : public SweepSink {
 public:
  explicit EdgeSink(const Case& the_case) : case_(the_case) {}

  void edge(const Observation& seen) override {
    const std::vector<Transaction>& committed = case_.transactions.committed;
    const bool is_open = (case_.writers.notes[seen.element] & kOpenDeleter) != 0;
    if (is_open && seen.kind != EdgeKind::kWriteRead) return;
    if (seen.kind != EdgeKind::kPredicateRead) {
      edges.push_back({seen.from, seen.to});
    } else if (committed[seen.from].end >= committed[seen.to].begin) {
      told_by_time.push_back(seen);
    }
  }
  void either_or(const EitherOr& choice) override {
    if ((case_.writers.notes[choice.element] & kOpenDeleter) == 0) choices.push_back(choice);
  }
  void finding(const DirectFinding& /*finding*/) override {}

  std::vector<GraphEdge> edges;
  std::vector<Observation> told_by_time;
  std::vector<EitherOr> choices;

 private:
  const Case& case_;
};

struct Window {
  uint64_t begin;
  uint64_t end;
};
using Windows = std::map<uint32_t, Window>;  // by position in Transactions::committed

// Of every transaction that began too late for what must stand behind it.
Windows late_ones(const std::vector<GraphEdge>& edges, const std::vector<Transaction>& committed) {
  const auto count = static_cast<uint32_t>(committed.size());
  const Graph graph(count, edges);
  std::vector<uint32_t> priorities(count);
  std::iota(priorities.begin(), priorities.end(), 0);
  const std::vector<uint32_t> order = graph.order(priorities);
  if (order.size() < count) return {};  // a circle that needs no time: nothing helps
  std::vector<uint64_t> latest(count);  // the first end among what stands behind, and its own
  for (std::size_t i = count; i-- > 0;) {
    latest[order[i]] = committed[order[i]].end;
    for (const uint32_t behind : graph.targets(order[i])) {
      latest[order[i]] = std::min(latest[order[i]], latest[behind]);
    }
  }
  Windows windows;
  std::vector<uint64_t> earliest(count, 0);  // the last begin among what stands before
  for (const uint32_t number : order) {
    uint64_t begin = committed[number].begin;
    if (latest[number] < begin) {
      begin = std::min(latest[number], earliest[number]);
      windows[number] = {begin, latest[number]};
    }
    for (const uint32_t behind : graph.targets(number)) {
      earliest[behind] = std::max(earliest[behind], begin);
    }
  }
  return windows;
}

// The circles that arise whichever side of some choice is taken.
std::vector<std::vector<uint32_t>> impossible_choices(const Case& the_case, EdgeSink& found) {
  const auto nodes = static_cast<uint32_t>(the_case.transactions.committed.size() * 2);
  const SettledChoices settled = settle(the_case, Graph(nodes, found.edges), found.choices);
  if (settled.settled != Settled::kImpossible) return {};
  std::vector<Observation> sides{side_of(found.choices[settled.impossible], true),
                                 side_of(found.choices[settled.impossible], false)};
  for (const SettledSide side : settled.sides) {
    sides.push_back(side_of(found.choices[side.choice], side.reader_first));
  }
  for (const Observation& side : sides) found.edges.push_back({side.from, side.to});
  return Graph(nodes, found.edges).circles();
}

// In circles: a reader from the time of the record on that it did not see.
Windows wider_ones(const Case& the_case, EdgeSink& found) {
  const std::vector<Transaction>& committed = the_case.transactions.committed;
  const auto count = static_cast<uint32_t>(committed.size());
  for (const Observation& seen : found.told_by_time) found.edges.push_back({seen.from, seen.to});
  add_real_time(the_case, found.edges);
  std::vector<std::vector<uint32_t>> components = Graph(count * 2, found.edges).circles();
  if (components.empty()) components = impossible_choices(the_case, found);
  std::vector<uint32_t> component_of(count, kNoNumber);
  for (uint32_t i = 0; i < components.size(); ++i) {
    for (const uint32_t node : components[i]) {
      if (node < count) component_of[node] = i;
    }
  }
  Windows windows;
  for (const Observation& seen : found.told_by_time) {
    const uint32_t component = component_of[seen.to];
    if (component == kNoNumber || component != component_of[seen.from]) continue;
    const Transaction& reader = committed[seen.to];
    const uint64_t begin = committed[the_case.writers.of[seen.element].inserter].end;
    if (reader.begin <= begin) continue;
    const auto [window, added] = windows.try_emplace(seen.to, Window{begin, reader.end});
    if (!added) window->second.begin = std::min(window->second.begin, begin);
  }
  return windows;
}

// Takes the calls of a transaction out of its thread's.
std::vector<Event> take_out(const Transaction& transaction, std::vector<Event>& events,
                            std::vector<bool>& gone) {
  std::vector<Event> calls;
  gone.resize(events.size());
  for (uint32_t i = transaction.first; i <= transaction.last; ++i) {
    if (is_auto_commit(events[i]) != transaction.auto_commit) continue;
    calls.push_back(events[i]);
    gone[i] = true;
  }
  return calls;
}

}  // namespace

bool move_back(const Case& the_case, History& moved) {
  EdgeSink found(the_case);
  sweep(the_case, /*lean=*/false, found);
  Windows windows = late_ones(found.edges, the_case.transactions.committed);
  if (windows.empty()) windows = wider_ones(the_case, found);
  const std::size_t threads = moved.threads.size();
  std::vector<std::vector<bool>> gone(threads);
  for (const auto& [number, window] : windows) {
    const Transaction& transaction = the_case.transactions.committed[number];
    std::vector<Event> calls =
        take_out(transaction, moved.threads[transaction.thread], gone[transaction.thread]);
    // When in the window each call was made is not known, so all take as long as it is. One that is
    // very long began at any time (event.h), which only says less.
    for (Event& call : calls) {
      call.end = window.end;
      call.duration =
          static_cast<uint32_t>(std::min<uint64_t>(window.end - window.begin, kEventLongDuration));
    }
    moved.threads.push_back(std::move(calls));
  }
  for (std::size_t thread = 0; thread < threads; ++thread) {
    if (gone[thread].empty()) continue;
    std::size_t position = 0;
    std::erase_if(moved.threads[thread],
                  [&](const Event&) { return bool{gone[thread][position++]}; });
  }
  return !windows.empty();
}

}  // namespace keydrome
