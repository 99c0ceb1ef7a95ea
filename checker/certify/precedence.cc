// Implements precedence.h: adds the edges of real time to the graph of transactions, and settles
// choices. An edge says that one transaction precedes another. A choice is a pair of edges, called
// its sides, of which at least one must hold. The goal is to take one side of every choice so that
// the graph has no cycle. A side is forced if the other side would close a cycle. The search takes
// the forced sides first, and finds the other sides by backtracking.
#include "checker/certify/precedence.h"

#include <algorithm>
#include <unordered_map>

#include "checker/certify/rules.h"

namespace keydrome::certify {

using history::Transaction;

namespace {

// The search gives up after trying this many sides. Each side costs a few searches in the graph, of
// some microseconds each.
constexpr uint32_t kTriesMax = 20'000;

// Chooses a side for each choice.
class Settler {
 public:
  Settler(const Context& context, const Graph& graph, const std::vector<Choice>& choices)
      : committed_(context.transactions.committed),
        graph_(graph),
        choices_(choices),
        seen_(graph.size(), 0) {}

  SettledChoices run() {
    for (std::vector<std::size_t>& cluster : clusters()) {
      const Settled settled = search(std::move(cluster), 0);
      if (settled != Settled::kYes) return {settled, added_, impossible_};
    }
    return {Settled::kYes, added_, 0};
  }

 private:
  struct Window {
    uint64_t begin;
    uint64_t end;
    std::size_t choice;
  };

  // Groups the choices into clusters, in order of time. Choices whose transactions overlap in time
  // are in the same cluster. All transactions of one cluster return before any transaction of the
  // next cluster begins. So sides of two clusters cannot be in one cycle. Each cluster is therefore
  // searched alone.
  std::vector<std::vector<std::size_t>> clusters() const {
    std::vector<Window> windows;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      Window window{UINT64_MAX, 0, i};
      for (const uint32_t one : {choices_[i].reader, choices_[i].inserter, choices_[i].deleter}) {
        window.begin = std::min(window.begin, committed_[one].begin);
        window.end = std::max(window.end, committed_[one].end);
      }
      windows.push_back(window);
    }
    std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.choice < b.choice;
    });
    std::vector<std::vector<std::size_t>> found;
    uint64_t end = 0;
    for (const Window& window : windows) {
      if (found.empty() || window.begin > end) found.emplace_back();
      found.back().push_back(window.choice);
      end = std::max(end, window.end);
    }
    return found;
  }

  Settled search(std::vector<std::size_t> open, uint32_t depth) {
    const std::size_t mark = added_.size();
    if (!force(open)) {
      if (depth > 0) undo(mark);  // at depth 0 the forced sides stay, to explain the conflict
      return Settled::kImpossible;
    }
    if (open.empty()) return Settled::kYes;
    const std::size_t number = open.back();
    const Choice& choice = choices_[number];
    open.pop_back();
    const bool likely = committed_[choice.reader].end < committed_[choice.inserter].end;
    for (const bool reader_first : {likely, !likely}) {
      if (++tries_ > kTriesMax || depth > kDepthMax) return Settled::kGaveUp;
      const std::size_t before = added_.size();
      add({number, reader_first});
      const Settled settled = search(open, depth + 1);
      if (settled != Settled::kImpossible) return settled;
      undo(before);
    }
    impossible_ = number;
    if (depth > 0) undo(mark);
    return Settled::kImpossible;
  }

  // Adds all forced sides and removes their choices from `open`. Returns false if both sides of
  // some choice would close a cycle.
  bool force(std::vector<std::size_t>& open) {
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<std::size_t> left;
      for (const std::size_t i : open) {
        const Choice& choice = choices_[i];
        const bool first = !reaches(choice.inserter, choice.reader);
        const bool last = !reaches(choice.reader, choice.deleter);
        if (!first && !last) {
          impossible_ = i;
          return false;
        }
        if (first && last) {
          left.push_back(i);
        } else {
          add({i, first});
          changed = true;
        }
      }
      open.swap(left);
    }
    return true;
  }

  void add(SettledSide side) {
    const Observation edge = side_of(choices_[side.choice], side.reader_first);
    added_.push_back(side);
    extra_[edge.from].push_back(edge.to);
  }

  void undo(std::size_t mark) {
    while (added_.size() > mark) {
      const SettledSide side = added_.back();
      extra_[side_of(choices_[side.choice], side.reader_first).from].pop_back();
      added_.pop_back();
    }
  }

  // Returns true if a path leads from the transaction `from` to the transaction `goal`. The search
  // skips transactions that began after `goal` had returned, because they cannot precede `goal`.
  bool reaches(uint32_t from, uint32_t goal) {
    const auto nodes = static_cast<uint32_t>(committed_.size());
    const uint64_t limit = committed_[goal].end;
    ++search_;
    stack_.assign(1, from);
    seen_[from] = search_;
    while (!stack_.empty()) {
      const uint32_t node = stack_.back();
      stack_.pop_back();
      if (node == goal) return true;
      const auto visit = [&](uint32_t target) {
        const uint64_t at =
            target < nodes ? committed_[target].begin : committed_[target - nodes].end;
        if (at > limit || seen_[target] == search_) return;
        seen_[target] = search_;
        stack_.push_back(target);
      };
      for (const uint32_t target : graph_.targets(node)) visit(target);
      const auto more = extra_.find(node);
      if (more == extra_.end()) continue;
      for (const uint32_t target : more->second) visit(target);
    }
    return false;
  }

  static constexpr uint32_t kDepthMax = 1000;  // deepest recursion of search()

  const std::vector<Transaction>& committed_;
  const Graph& graph_;
  const std::vector<Choice>& choices_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> extra_;  // edges chosen so far
  std::vector<SettledSide> added_;
  std::vector<uint32_t> seen_;  // by node: the last search that reached it
  std::vector<uint32_t> stack_;
  uint32_t search_ = 0;
  uint32_t tries_ = 0;
  std::size_t impossible_ = 0;
};

// Returns how many transactions had returned before transaction `i` began. `committed` is sorted by
// end, so these transactions come first. The last of them is usually close to `i`. The search
// therefore starts at `i` and moves backwards in steps of doubling size.
uint32_t count_returned_before(const std::vector<Transaction>& committed, uint32_t i) {
  const uint64_t begin = committed[i].begin;
  uint32_t high = i;  // transaction `high` and all later ones ended at `begin` or later
  uint32_t step = 1;
  while (step <= high && committed[high - step].end >= begin) {
    high -= step;
    step *= 2;
  }
  const uint32_t low = step <= high ? high - step : 0;
  const auto first =
      std::partition_point(committed.begin() + low, committed.begin() + high,
                           [&](const Transaction& other) { return other.end < begin; });
  return static_cast<uint32_t>(first - committed.begin());
}

// Adds edges between transactions of the same thread, where their times do not show the order. An
// auto-committed call inside an open transaction overlaps this transaction, so these two get no
// edge.
class ThreadOrder {
 public:
  ThreadOrder(const std::vector<Transaction>& committed, std::vector<GraphEdge>& edges)
      : committed_(committed), edges_(edges) {}

  // Visits the next transaction. REQUIRES: the transactions of a thread come in the order in which
  // they returned.
  void visit(uint32_t number) {
    const Transaction& now = committed_[number];
    if (now.thread >= threads_.size()) threads_.resize(now.thread + std::size_t{1});
    Thread& thread = threads_[now.thread];
    // Auto-committed calls inside this transaction are at the end of `singles`. The call before
    // them is the last one that had returned before this transaction began.
    const auto later =
        std::partition_point(thread.singles.begin(), thread.singles.end(),
                             [&](uint32_t single) { return committed_[single].last < now.first; });
    if (later != thread.singles.begin()) add(*(later - 1), number);
    if (thread.last != history::kNoNumber) add(thread.last, number);
    if (now.auto_commit) {
      thread.singles.push_back(number);
    } else {
      thread.last = number;
    }
  }

 private:
  struct Thread {
    uint32_t last = history::kNoNumber;  // its last transaction other than an auto-committed call
    std::vector<uint32_t> singles;       // its auto-committed calls
  };

  void add(uint32_t from, uint32_t to) {
    if (committed_[from].end >= committed_[to].begin) edges_.push_back({from, to});
  }

  const std::vector<Transaction>& committed_;
  std::vector<GraphEdge>& edges_;
  std::vector<Thread> threads_;
};

}  // namespace

void add_real_time(const Context& context, std::vector<GraphEdge>& edges) {
  if (!context.rule(kRuleRealTime)) return;
  const std::vector<Transaction>& committed = context.transactions.committed;
  const auto count = static_cast<uint32_t>(committed.size());
  ThreadOrder threads(committed, edges);
  for (uint32_t i = 0; i < count; ++i) {
    threads.visit(i);
    edges.push_back({i, count + i});
    if (i + 1 < count) edges.push_back({count + i, count + i + 1});
    const uint32_t before = count_returned_before(committed, i);
    if (before > 0) edges.push_back({count + before - 1, i});
  }
}

Observation side_of(const Choice& choice, bool reader_first) {
  if (reader_first) {
    return {choice.reader,   choice.inserter, EdgeKind::kPredicateWrite,
            choice.coverage, choice.element,  choice.event};
  }
  return {choice.deleter,  choice.reader,  EdgeKind::kPredicateRead,
          choice.coverage, choice.element, choice.event};
}

SettledChoices settle(const Context& context, const Graph& graph,
                      const std::vector<Choice>& choices) {
  return Settler(context, graph, choices).run();
}

}  // namespace keydrome::certify
