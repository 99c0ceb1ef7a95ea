#include "checker/precedence.h"

#include <algorithm>
#include <unordered_map>

#include "checker/rules.h"

namespace keydrome {
namespace {

// How many sides are tried before giving up; each costs a few searches of some microseconds.
constexpr uint32_t kTriesMax = 20'000;

class Settler {
 public:
  Settler(const Case& the_case, const Graph& graph, const std::vector<EitherOr>& choices)
      : committed_(the_case.transactions.committed),
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

  // Choices whose transactions all lie before those of another do not bear on it: real time has
  // decided between them. So they are searched apart, in the order of time.
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
      if (depth > 0) take_back(mark);  // what is forced without a guess explains the conflict
      return Settled::kImpossible;
    }
    if (open.empty()) return Settled::kYes;
    const std::size_t number = open.back();
    const EitherOr& choice = choices_[number];
    open.pop_back();
    const bool likely = committed_[choice.reader].end < committed_[choice.inserter].end;
    for (const bool reader_first : {likely, !likely}) {
      if (++tries_ > kTriesMax || depth > kDepthMax) return Settled::kGaveUp;
      const std::size_t before = added_.size();
      add({number, reader_first});
      const Settled settled = search(open, depth + 1);
      if (settled != Settled::kImpossible) return settled;
      take_back(before);
    }
    impossible_ = number;
    if (depth > 0) take_back(mark);
    return Settled::kImpossible;
  }

  // Adds what is forced until nothing is; false when a choice has no side left.
  bool force(std::vector<std::size_t>& open) {
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<std::size_t> left;
      for (const std::size_t i : open) {
        const EitherOr& choice = choices_[i];
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

  void take_back(std::size_t mark) {
    while (added_.size() > mark) {
      const SettledSide side = added_.back();
      extra_[side_of(choices_[side.choice], side.reader_first).from].pop_back();
      added_.pop_back();
    }
  }

  // What begins after the goal has returned stands behind it, so the search stays among the
  // transactions of its time.
  bool reaches(uint32_t from, uint32_t goal) {
    const auto nodes = static_cast<uint32_t>(committed_.size());
    const uint64_t limit = committed_[goal].end;
    ++stamp_;
    stack_.assign(1, from);
    seen_[from] = stamp_;
    while (!stack_.empty()) {
      const uint32_t node = stack_.back();
      stack_.pop_back();
      if (node == goal) return true;
      const auto visit = [&](uint32_t target) {
        const uint64_t at =
            target < nodes ? committed_[target].begin : committed_[target - nodes].end;
        if (at > limit || seen_[target] == stamp_) return;
        seen_[target] = stamp_;
        stack_.push_back(target);
      };
      for (const uint32_t target : graph_.targets(node)) visit(target);
      const auto more = extra_.find(node);
      if (more == extra_.end()) continue;
      for (const uint32_t target : more->second) visit(target);
    }
    return false;
  }

  static constexpr uint32_t kDepthMax = 1000;  // of the recursion

  const std::vector<Transaction>& committed_;
  const Graph& graph_;
  const std::vector<EitherOr>& choices_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> extra_;  // edges chosen so far
  std::vector<SettledSide> added_;
  std::vector<uint32_t> seen_;
  std::vector<uint32_t> stack_;
  uint32_t stamp_ = 0;
  uint32_t tries_ = 0;
  std::size_t impossible_ = 0;
};

// How many transactions had returned before transaction `i` was begun. They end shortly before it
// does, so the search gallops back from there.
uint32_t count_returned_before(const std::vector<Transaction>& committed, uint32_t i) {
  const uint64_t begin = committed[i].begin;
  uint32_t high = i;  // does not end before `begin`
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

}  // namespace

void add_real_time(const Case& the_case, std::vector<GraphEdge>& edges) {
  if (!the_case.rule(kRuleRealTime)) return;
  const std::vector<Transaction>& committed = the_case.transactions.committed;
  const auto count = static_cast<uint32_t>(committed.size());
  for (uint32_t i = 0; i < count; ++i) {
    edges.push_back({i, count + i});
    if (i + 1 < count) edges.push_back({count + i, count + i + 1});
    const uint32_t before = count_returned_before(committed, i);
    if (before > 0) edges.push_back({count + before - 1, i});
  }
}

Observation side_of(const EitherOr& choice, bool reader_first) {
  if (reader_first) {
    return {choice.reader,   choice.inserter, EdgeKind::kPredicateWrite,
            choice.coverage, choice.element,  choice.event};
  }
  return {choice.deleter,  choice.reader,  EdgeKind::kPredicateRead,
          choice.coverage, choice.element, choice.event};
}

SettledChoices settle(const Case& the_case, const Graph& graph,
                      const std::vector<EitherOr>& choices) {
  return Settler(the_case, graph, choices).run();
}

}  // namespace keydrome
