// Implements relaxed_time.h: moves transactions back in time, so that certify() can find a serial
// order that contradicts real time. For each moved transaction it computes a *window*: the interval
// in which the transaction may have taken effect. Each call of the transaction then gets the whole
// window as its time.
#include "checker/certify/relaxed_time.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "checker/certify/graph.h"
#include "checker/certify/precedence.h"
#include "checker/history/calls.h"

namespace keydrome::certify {

using history::Event;
using history::EventCall;
using history::History;
using history::kEventLongDuration;
using history::kNoNumber;
using history::Transaction;

namespace {

// The largest number of committed transactions for which move_back() tries windows_of_deleters(),
// its third group of transactions (relaxed_time.h). Recorded runs of the correctness tests have a
// few thousand transactions. With more transactions, the wider windows of this group leave so many
// possible orders that the search takes minutes.
constexpr std::size_t kDeletersMax = 4000;

// Collects edges between transactions. `edges` contains the edges that do not depend on real time.
// A reader that did not see a record precedes its inserter or follows its deleter. If real time
// excludes the first case, find_dependencies() gives an edge from the deleter to the reader.
// Without real time this edge may be wrong, so it goes to `doubtful`.
//
// An open element is a record whose deleter is not known, so the checker has chosen one for the
// time being. If `as_chosen` is true, the edges between readers and the chosen deleters of open
// elements are doubtful. If `as_chosen` is false, the only edges collected for an open element lead
// from its inserter to its readers. For other records, an edge from a deleter to a reader is left
// out if the deleter had returned before the reader began, because add_real_time() adds the same
// edge.
class EdgeSink : public DependencySink {
 public:
  EdgeSink(const Context& context, bool as_chosen) : context_(context), as_chosen_(as_chosen) {}

  void add_edge(const Observation& seen) override {
    const std::vector<Transaction>& committed = context_.transactions.committed;
    const bool open = is_open(seen.element);
    if (open && !as_chosen_ && seen.kind != EdgeKind::kWriteRead) return;
    if (seen.kind != EdgeKind::kPredicateRead && !(open && seen.kind == EdgeKind::kReadWrite)) {
      edges.push_back({seen.from, seen.to});
    } else if (open || committed[seen.from].end >= committed[seen.to].begin) {
      doubtful.push_back(seen);
    }
  }
  void add_choice(const Choice& choice) override {
    if (as_chosen_ || !is_open(choice.element)) choices.push_back(choice);
  }
  void add_finding(const DirectFinding& /*finding*/) override {}

  std::vector<GraphEdge> edges;
  std::vector<Observation> doubtful;
  std::vector<Choice> choices;

 private:
  bool is_open(uint32_t element) const {
    return (context_.versions.notes[element] & kOpenDeleter) != 0;
  }

  const Context& context_;
  const bool as_chosen_;
};

struct Window {
  uint64_t begin;
  uint64_t end;
};
using Windows = std::map<uint32_t, Window>;  // by position in Transactions::committed

// Returns windows for the transactions that began too late: after the end of a transaction that
// they must precede.
Windows late_windows(const std::vector<GraphEdge>& edges,
                     const std::vector<Transaction>& committed) {
  const auto count = static_cast<uint32_t>(committed.size());
  const Graph graph(count, edges);
  std::vector<uint32_t> priorities(count);
  std::iota(priorities.begin(), priorities.end(), 0);
  const std::vector<uint32_t> order = graph.order(priorities);
  if (order.size() < count) return {};  // the edges have a cycle, so moving does not help
  // By transaction: the earliest end of this transaction and of all that it must precede.
  std::vector<uint64_t> latest(count);
  for (std::size_t i = count; i-- > 0;) {
    latest[order[i]] = committed[order[i]].end;
    for (const uint32_t later : graph.targets(order[i])) {
      latest[order[i]] = std::min(latest[order[i]], latest[later]);
    }
  }
  Windows windows;
  // By transaction: the latest begin of the transactions that must precede it. For a transaction
  // that gets a window, the begin of the window counts.
  std::vector<uint64_t> earliest(count, 0);
  for (const uint32_t number : order) {
    uint64_t begin = committed[number].begin;
    if (latest[number] < begin) {
      begin = std::min(latest[number], earliest[number]);
      windows[number] = {begin, latest[number]};
    }
    for (const uint32_t later : graph.targets(number)) {
      earliest[later] = std::max(earliest[later], begin);
    }
  }
  return windows;
}

// A choice is a pair of edges, its sides, of which at least one must hold (dependencies.h). Returns
// the strongly connected components that prove that both sides of some choice are impossible.
// Returns none if settle() did not prove this.
std::vector<std::vector<uint32_t>> impossible_choices(const Context& context, EdgeSink& found) {
  const auto nodes = static_cast<uint32_t>(context.transactions.committed.size() * 2);
  const SettledChoices settled = settle(context, Graph(nodes, found.edges), found.choices);
  if (settled.settled != Settled::kImpossible) return {};
  std::vector<Observation> sides{side_of(found.choices[settled.impossible], true),
                                 side_of(found.choices[settled.impossible], false)};
  for (const SettledSide side : settled.sides) {
    sides.push_back(side_of(found.choices[side.choice], side.reader_first));
  }
  for (const Observation& side : sides) found.edges.push_back({side.from, side.to});
  return Graph(nodes, found.edges).components();
}

using Components = std::vector<std::vector<uint32_t>>;

// Returns the strongly connected components of the graph with all doubtful edges. If the graph has
// no cycle, returns the components of impossible_choices().
Components cycles_of(const Context& context, EdgeSink& found) {
  for (const Observation& seen : found.doubtful) found.edges.push_back({seen.from, seen.to});
  add_real_time(context, found.edges);
  const auto nodes = static_cast<uint32_t>(context.transactions.committed.size() * 2);
  Components components = Graph(nodes, found.edges).components();
  return components.empty() ? impossible_choices(context, found) : components;
}

std::vector<uint32_t> component_of(const Components& components, std::size_t transactions) {
  std::vector<uint32_t> numbers(transactions, kNoNumber);
  for (uint32_t i = 0; i < components.size(); ++i) {
    for (const uint32_t node : components[i]) {
      if (node < transactions) numbers[node] = i;
    }
  }
  return numbers;
}

uint32_t reader_of(const Observation& seen) {
  return seen.kind == EdgeKind::kReadWrite ? seen.from : seen.to;
}

bool writes(const Context& context, const Transaction& transaction) {
  bool found = false;
  for_each_call(context.history, transaction, [&](uint32_t, const Event& event) {
    const EventCall call = call_of(event);
    found |= succeeded(event) && (call == EventCall::kInsert || call == EventCall::kDeletePair ||
                                  call == EventCall::kDeleteKey);
  });
  return found;
}

// Collects windows that begin before the recorded begin of their transaction.
class Widener {
 public:
  explicit Widener(const Context& context) : context_(context) {}

  // Makes the window of the reader begin at the time at which the inserter of the record returned.
  void widen(const Observation& seen) {
    widen(reader_of(seen), committed_[context_.versions.of[seen.element].inserter].end);
  }

  void widen(uint32_t number, uint64_t begin) {
    if (committed_[number].begin <= begin) return;
    const auto [window, added] = windows.try_emplace(number, Window{begin, committed_[number].end});
    if (!added) window->second.begin = std::min(window->second.begin, begin);
  }

  Windows windows;

 private:
  const Context& context_;
  const std::vector<Transaction>& committed_ = context_.transactions.committed;
};

// Returns windows for the readers of doubtful edges within a component. The window of a reader
// begins when the inserter of the edge's record returned.
Windows wider_windows(const Context& context, const EdgeSink& found, const Components& components) {
  Widener wider(context);
  const std::vector<uint32_t> numbers =
      component_of(components, context.transactions.committed.size());
  for (const Observation& seen : found.doubtful) {
    const uint32_t number = numbers[seen.to];
    if (number != kNoNumber && number == numbers[seen.from]) wider.widen(seen);
  }
  return std::move(wider.windows);
}

// Returns windows for all transactions in the components. A window begins when the first
// transaction of the component began. The window of a reader of a doubtful edge begins when the
// inserter of the edge's record returned, if this was earlier.
Windows widest_windows(const Context& context, const EdgeSink& found,
                       const Components& components) {
  const std::vector<Transaction>& committed = context.transactions.committed;
  Widener wider(context);
  for (const std::vector<uint32_t>& component : components) {
    uint64_t begin = UINT64_MAX;
    for (const uint32_t node : component) {
      if (node < committed.size()) begin = std::min(begin, committed[node].begin);
    }
    for (const uint32_t node : component) {
      if (node < committed.size()) wider.widen(node, begin);
    }
  }
  const std::vector<uint32_t> numbers = component_of(components, committed.size());
  for (const Observation& seen : found.doubtful) {
    if (numbers[reader_of(seen)] != kNoNumber) wider.widen(seen);
  }
  return std::move(wider.windows);
}

// Returns windows for the third group of move_back(): transactions in cycles that depend on the
// chosen deleters of open elements. Transactions with writes are moved only if no read-only
// transaction can be moved, because a moved write overlaps more readers and so leaves more orders
// to search.
Windows windows_of_deleters(const Context& context) {
  EdgeSink found(context, /*as_chosen=*/true);
  find_dependencies(context, /*lean=*/false, found);
  const Components components = cycles_of(context, found);
  const auto is_writer = [&](const auto& window) {
    return writes(context, context.transactions.committed[window.first]);
  };
  Windows windows = wider_windows(context, found, components);
  std::erase_if(windows, is_writer);
  if (!windows.empty()) return windows;
  const Windows widest = widest_windows(context, found, components);
  windows = widest;
  std::erase_if(windows, is_writer);
  return windows.empty() ? widest : windows;
}

// Returns the calls of a transaction from the `events` of its thread, and marks them in `gone`.
std::vector<Event> take_calls(const Transaction& transaction, std::vector<Event>& events,
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

bool move_back(const Context& context, History& moved) {
  EdgeSink found(context, /*as_chosen=*/false);
  find_dependencies(context, /*lean=*/false, found);
  Windows windows = late_windows(found.edges, context.transactions.committed);
  if (windows.empty()) windows = wider_windows(context, found, cycles_of(context, found));
  const bool is_short = context.transactions.committed.size() <= kDeletersMax;
  if (windows.empty() && is_short) windows = windows_of_deleters(context);
  const std::size_t threads = moved.threads.size();
  std::vector<std::vector<bool>> gone(threads);
  for (const auto& [number, window] : windows) {
    const Transaction& transaction = context.transactions.committed[number];
    std::vector<Event> calls =
        take_calls(transaction, moved.threads[transaction.thread], gone[transaction.thread]);
    // Each call takes the whole window, because it is unknown when in the window the call was made.
    // If the window is too long for Event::duration, the begin of the call becomes unknown
    // (event.h). This is safe, because an unknown begin gives fewer edges.
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

}  // namespace keydrome::certify
