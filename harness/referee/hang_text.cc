#include "harness/referee/hang_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace keydrome {
namespace {

constexpr std::size_t kThreadsTold = 12;
constexpr std::size_t kEdgesTold = 8;
constexpr std::size_t kTouchesTold = 8;
constexpr uint64_t kBusyMs = 20;

// `from` asks for what the open transaction of `to` has touched: positions in the list of threads.
struct Edge {
  std::size_t from = 0, to = 0;
  const Touch* touched = nullptr;
};

std::string seconds(uint64_t ms) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ms) / 1000);
  return text.data();
}

std::string name_of(const HungThread& thread) {
  if (thread.number) return "thread " + std::to_string(*thread.number);
  return thread.loads ? "the thread that loads the library" : "a thread of the library's own";
}

bool runs(const HungThread& thread) {
  return thread.facts && (thread.facts->state == 'R' || thread.busy_ms >= kBusyMs);
}

class Text {
 public:
  Text(const Script& script, const std::vector<HungThread>& threads, bool gone)
      : script_(script), threads_(threads), gone_(gone) {}

  std::string all() {
    if (!gone_) add_waits();
    std::size_t told = 0, untold = 0, finished = 0;
    for (const HungThread& thread : threads_) {
      if (thread.number && thread.standing.finished) {
        ++finished;
      } else if (++told <= kThreadsTold) {
        add_thread(thread);
      } else {
        ++untold;
      }
    }
    if (untold > 0) line(std::to_string(untold) + " more threads are not told");
    if (finished > 0) line(std::to_string(finished) + " threads have played their part");
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += (text_.empty() ? "" : "\n") + text; }

  // Circles first by what both name, since whole indexes are touched by nearly everybody.
  void add_waits() {
    for (const bool exactly : {true, false}) {
      const std::vector<Edge> edges = edges_of(exactly);
      const std::vector<Edge> circle = circle_in(edges);
      if (!circle.empty()) return tell("They wait for each other", circle);
    }
    std::vector<Edge> edges = edges_of(true);
    if (edges.empty()) edges = edges_of(false);
    if (!edges.empty()) return tell("Who may have to wait for whom", edges);
    const bool waits = std::ranges::any_of(
        threads_, [](const HungThread& thread) { return thread.standing.wants && !runs(thread); });
    if (waits) line("Nobody's open transaction has touched what the waiting threads ask for");
  }

  std::vector<Edge> edges_of(bool exactly) const {
    std::vector<Edge> edges;
    for (std::size_t from = 0; from < threads_.size(); ++from) {
      const std::optional<Touch>& wants = threads_[from].standing.wants;
      if (!wants) continue;
      for (std::size_t to = 0; to < threads_.size(); ++to) {
        const std::vector<Touch>& touched = threads_[to].standing.touched;
        const auto way = std::ranges::find_if(
            touched, [&](const Touch& touch) { return in_the_way(*wants, touch, exactly); });
        if (from != to && way != touched.end()) edges.push_back({from, to, &*way});
      }
    }
    return edges;
  }

  // Edges of one circle, in order; empty when there is none. Depth first, each thread once.
  std::vector<Edge> circle_in(const std::vector<Edge>& edges) const {
    std::vector<bool> seen(threads_.size());
    for (std::size_t start = 0; start < threads_.size(); ++start) {
      std::vector<Edge> path;
      if (extend(edges, start, seen, path)) return path;
    }
    return {};
  }

  // Follows edges from `at`; true when `path` has come round, and holds nothing but the circle.
  static bool extend(const std::vector<Edge>& edges, std::size_t at, std::vector<bool>& seen,
                     std::vector<Edge>& path) {
    const auto known = std::ranges::find(path, at, &Edge::from);
    if (known != path.end()) {
      path.erase(path.begin(), known);
      return true;
    }
    if (seen[at]) return false;
    seen[at] = true;
    for (const Edge& edge : edges) {
      if (edge.from != at) continue;
      path.push_back(edge);
      if (extend(edges, edge.to, seen, path)) return true;
      path.pop_back();
    }
    return false;
  }

  void tell(const std::string& title, const std::vector<Edge>& edges) {
    line(title + ":");
    for (std::size_t i = 0; i < edges.size() && i < kEdgesTold; ++i) {
      const Edge& edge = edges[i];
      line("- " + name_of(threads_[edge.from]) + " asks for " +
           touch_text(script_, *threads_[edge.from].standing.wants) + "; " +
           name_of(threads_[edge.to]) + " has touched " + touch_text(script_, *edge.touched) +
           " in its open transaction (operation " + std::to_string(edge.touched->op) + ")");
    }
    if (edges.size() > kEdgesTold) {
      line("- and " + std::to_string(edges.size() - kEdgesTold) + " more such waits");
    }
  }

  void add_thread(const HungThread& thread) {
    std::string text = name_of(thread);
    if (thread.number) text += ": " + standing_text(thread);
    if (gone_) return line(text);
    line(text + (thread.number ? "; " : ": ") + kernel_text(thread));
    if (!thread.standing.touched.empty()) line("  " + touched_text(thread.standing));
    line("  " + (thread.stack.empty()
                     ? std::string("no stack: it wrote none within a second; the library may block "
                                   "the signal that asks for it")
                     : "stack: " + thread.stack));
  }

  static std::string standing_text(const HungThread& thread) {
    const Standing& standing = thread.standing;
    const std::string where = "(operation " + std::to_string(standing.op) + ")";
    const std::string since = " for at least " + seconds(thread.still_ms);
    if (standing.taking_back) {
      return "the attempt that " + standing.call + " " + where +
             " ended is being taken back, and abortTransaction has not returned" + since;
    }
    if (!standing.in_call) return "waits for other threads " + where + ", in no call" + since;
    return standing.call + " " + where + " has not returned" + since;
  }

  std::string kernel_text(const HungThread& thread) const {
    if (!thread.facts) return "the kernel does not show what it does";
    const ThreadFacts& facts = *thread.facts;
    const std::string cpu = ", " + seconds(facts.cpu_ms) + " of CPU time so far";
    if (runs(thread)) {
      return "it runs: " + std::to_string(thread.busy_ms) + " of the last " +
             std::to_string(kHangLookMs) + " ms" + cpu;
    }
    if (facts.waits_in.empty()) return std::string("it waits, in state ") + facts.state + cpu;
    return "it waits in " + facts.waits_in + futex_text(thread) + cpu;
  }

  std::string futex_text(const HungThread& thread) const {
    const ThreadFacts& facts = *thread.facts;
    if (facts.futex == 0) return "";
    std::string text = facts.endless ? " without a time limit" : " with a time limit";
    for (const HungThread& other : threads_) {
      const bool same = other.facts && other.facts->futex == facts.futex;
      if (&other == &thread || !same || !other.number) continue;
      return text + ", on the same word as thread " + std::to_string(*other.number);
    }
    return text;
  }

  std::string touched_text(const Standing& standing) const {
    std::string text = "its open transaction, begun at operation " +
                       std::to_string(standing.begin.value_or(0)) + ", has touched ";
    const std::size_t count = standing.touched.size();
    const std::size_t first = count > kTouchesTold ? count - kTouchesTold : 0;
    if (first > 0) text += std::to_string(first) + " earlier things, ";
    for (std::size_t i = first; i < count; ++i) {
      text += (i == first ? "" : ", ") + touch_text(script_, standing.touched[i]) +
              (standing.touched[i].writes ? " (written)" : "");
    }
    return text;
  }

  const Script& script_;
  const std::vector<HungThread>& threads_;
  bool gone_;  // the process: nothing but where its threads stood is known
  std::string text_;
};

}  // namespace

std::string hang_text(const Script& script, const std::vector<HungThread>& threads) {
  return Text(script, threads, false).all();
}

std::string last_stand_text(const Script& script, const std::vector<HungThread>& threads) {
  return Text(script, threads, true).all();
}

}  // namespace keydrome
