#include "checker/relaxed_time.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "checker/calls.h"
#include "checker/graph.h"
#include "checker/precedence.h"

namespace keydrome {
namespace {

// Committed transactions. A round of the gate has some thousand; with more of them, what the wider
// windows leave to choose was seen to take minutes.
constexpr std::size_t kDoubtfulMax = 4000;

// What a full sweep says that does not rest on time: `edges`. Apart from it what may be otherwise:
// that a reader stands behind the deleter of a record that it did not see, because time says so;
// and `as_chosen`, where a reader stands by who is taken now for the deleter of an open element.
// Otherwise open elements count only for who saw them.
class EdgeSink : public SweepSink {
 public:
  EdgeSink(const Case& the_case, bool as_chosen) : case_(the_case), as_chosen_(as_chosen) {}

  void edge(const Observation& seen) override {
    const std::vector<Transaction>& committed = case_.transactions.committed;
    const bool open = is_open(seen.element);
    if (open && !as_chosen_ && seen.kind != EdgeKind::kWriteRead) return;
    if (seen.kind != EdgeKind::kPredicateRead && !(open && seen.kind == EdgeKind::kReadWrite)) {
      edges.push_back({seen.from, seen.to});
    } else if (open || committed[seen.from].end >= committed[seen.to].begin) {
      doubtful.push_back(seen);
    }
  }
  void either_or(const EitherOr& choice) override {
    if (as_chosen_ || !is_open(choice.element)) choices.push_back(choice);
  }
  void finding(const DirectFinding& /*finding*/) override {}

  std::vector<GraphEdge> edges;
  std::vector<Observation> doubtful;
  std::vector<EitherOr> choices;

 private:
  bool is_open(uint32_t element) const {
    return (case_.writers.notes[element] & kOpenDeleter) != 0;
  }

  const Case& case_;
  const bool as_chosen_;
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

using Components = std::vector<std::vector<uint32_t>>;

// The circles when all that is doubtful is believed, or else those of an impossible choice.
Components circles_of(const Case& the_case, EdgeSink& found) {
  for (const Observation& seen : found.doubtful) found.edges.push_back({seen.from, seen.to});
  add_real_time(the_case, found.edges);
  const auto nodes = static_cast<uint32_t>(the_case.transactions.committed.size() * 2);
  Components components = Graph(nodes, found.edges).circles();
  return components.empty() ? impossible_choices(the_case, found) : components;
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

bool writes(const Case& the_case, const Transaction& transaction) {
  bool found = false;
  for_each_call(the_case.history, transaction, [&](uint32_t, const Event& event) {
    const EventCall call = call_of(event);
    found |= succeeded(event) && (call == EventCall::kInsert || call == EventCall::kDeletePair ||
                                  call == EventCall::kDeleteKey);
  });
  return found;
}

// Windows that reach further back than their transactions do.
class Wider {
 public:
  explicit Wider(const Case& the_case) : case_(the_case) {}

  // A reader from the time of the record on that it saw or missed.
  void widen(const Observation& seen) {
    widen(reader_of(seen), committed_[case_.writers.of[seen.element].inserter].end);
  }

  void widen(uint32_t number, uint64_t begin) {
    if (committed_[number].begin <= begin) return;
    const auto [window, added] = windows.try_emplace(number, Window{begin, committed_[number].end});
    if (!added) window->second.begin = std::min(window->second.begin, begin);
  }

  Windows windows;

 private:
  const Case& case_;
  const std::vector<Transaction>& committed_ = case_.transactions.committed;
};

// In circles: readers by what is doubtful in the same circle.
Windows wider_ones(const Case& the_case, const EdgeSink& found, const Components& components) {
  Wider wider(the_case);
  const std::vector<uint32_t> numbers =
      component_of(components, the_case.transactions.committed.size());
  for (const Observation& seen : found.doubtful) {
    const uint32_t number = numbers[seen.to];
    if (number != kNoNumber && number == numbers[seen.from]) wider.widen(seen);
  }
  return std::move(wider.windows);
}

// In circles: readers over the whole time of the circle, and by all else that is doubtful of them.
Windows widest_ones(const Case& the_case, const EdgeSink& found, const Components& components) {
  const std::vector<Transaction>& committed = the_case.transactions.committed;
  Wider wider(the_case);
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

// Where nothing is wrong for certain: readers that are in the way of the deleters chosen last.
// Those that wrote only if there are no others, for what may have been written earlier opens more
// choices.
Windows doubtful_ones(const Case& the_case) {
  EdgeSink found(the_case, /*as_chosen=*/true);
  sweep(the_case, /*lean=*/false, found);
  const Components components = circles_of(the_case, found);
  const auto is_writer = [&](const auto& window) {
    return writes(the_case, the_case.transactions.committed[window.first]);
  };
  Windows windows = wider_ones(the_case, found, components);
  std::erase_if(windows, is_writer);
  if (!windows.empty()) return windows;
  const Windows widest = widest_ones(the_case, found, components);
  windows = widest;
  std::erase_if(windows, is_writer);
  return windows.empty() ? widest : windows;
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
  EdgeSink found(the_case, /*as_chosen=*/false);
  sweep(the_case, /*lean=*/false, found);
  Windows windows = late_ones(found.edges, the_case.transactions.committed);
  if (windows.empty()) windows = wider_ones(the_case, found, circles_of(the_case, found));
  const bool is_short = the_case.transactions.committed.size() <= kDoubtfulMax;
  if (windows.empty() && is_short) windows = doubtful_ones(the_case);
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
