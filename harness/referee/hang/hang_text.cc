// Writes the text of the findings `hang`, `too_slow` and `crashed`, by which a report explains why
// a session (one repetition of a benchmark) hung, was too slow or crashed. For a hang, the text
// first lists which thread waits for which other thread. Then it describes each thread in a few
// lines.
#include "harness/referee/hang/hang_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace keydrome {
namespace {

// Limits of the text. A report shows this many threads, waits and records, and counts the rest.
constexpr std::size_t kThreadsShown = 12;
constexpr std::size_t kWaitsShown = 8;
constexpr std::size_t kTouchesShown = 8;
// A thread that used this much CPU time within kHangLookMs counts as running, even if the kernel
// shows it asleep.
constexpr uint64_t kBusyMs = 20;

// Thread `from` requests a record that the open transaction of thread `to` has touched. Threads are
// given as positions in the list of threads.
struct Wait {
  std::size_t from = 0, to = 0;
  const Touch* touched = nullptr;
};

std::string seconds(uint64_t ms) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ms) / 1000);
  return text.data();
}

std::string counted_threads(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " thread has" : " threads have");
}

std::string name_of(const HungThread& thread) {
  if (thread.number) return "thread " + std::to_string(*thread.number);
  return thread.loads_library ? "the thread that loads the library"
                              : "a thread that the library started";
}

bool runs(const HungThread& thread) {
  return thread.facts && (thread.facts->state == 'R' || thread.busy_ms >= kBusyMs);
}

// Returns the possible waits between threads. With `exactly`, a thread waits for another only if
// both name the same key. Without `exactly`, the same index is enough (may_block()).
std::vector<Wait> waits_between(const std::vector<HungThread>& threads, bool exactly) {
  std::vector<Wait> waits;
  for (std::size_t from = 0; from < threads.size(); ++from) {
    const std::optional<Touch>& wants = threads[from].position.wants;
    if (!wants) continue;
    for (std::size_t to = 0; to < threads.size(); ++to) {
      const std::vector<Touch>& touched = threads[to].position.touched;
      const auto blocker = std::ranges::find_if(
          touched, [&](const Touch& touch) { return may_block(*wants, touch, exactly); });
      if (from != to && blocker != touched.end()) waits.push_back({from, to, &*blocker});
    }
  }
  return waits;
}

// Searches for a cycle of waits that is reachable from thread `at`: depth first, each thread once.
// If there is a cycle, returns true and leaves only the waits of the cycle in `path`.
bool extend(const std::vector<Wait>& waits, std::size_t at, std::vector<bool>& seen,
            std::vector<Wait>& path) {
  const auto known = std::ranges::find(path, at, &Wait::from);
  if (known != path.end()) {
    path.erase(path.begin(), known);
    return true;
  }
  if (seen[at]) return false;
  seen[at] = true;
  for (const Wait& wait : waits) {
    if (wait.from != at) continue;
    path.push_back(wait);
    if (extend(waits, wait.to, seen, path)) return true;
    path.pop_back();
  }
  return false;
}

// Returns the waits of one cycle, in the order of the cycle, or an empty list if there is no cycle.
std::vector<Wait> cycle_in(const std::vector<Wait>& waits, std::size_t threads) {
  std::vector<bool> seen(threads);
  for (std::size_t start = 0; start < threads; ++start) {
    std::vector<Wait> path;
    if (extend(waits, start, seen, path)) return path;
  }
  return {};
}

enum class How {
  kHangs,
  kSlow,
  // The process has died, so only what its threads wrote is known: their positions in their
  // programs (lists of operations), and the stack of a thread that crashed.
  kDied,
};

// Returns the title of a list of waits. `exactly` is false if the waits are only on the same index,
// not on the same key.
std::string titled(const std::string& title, bool exactly) {
  return exactly ? title : title + ", if the library locks whole indexes or parts of them";
}

class HangWriter {
 public:
  HangWriter(const script::Script& script, const std::vector<HungThread>& threads, How how)
      : script_(script), threads_(threads), how_(how), dead_(how == How::kDied) {}

  std::string all() {
    if (how_ == How::kHangs) add_waits();
    std::size_t shown = 0, left_out = 0, finished = 0, outside = 0;
    for (const HungThread& thread : threads_) {
      if (thread.number && thread.position.finished && !crashed(thread)) {
        ++finished;
      } else if (dead_ && is_outside(thread)) {
        ++outside;
      } else if (shown < kThreadsShown) {
        ++shown;
        add_thread(thread);
      } else {
        ++left_out;
      }
    }
    if (left_out > 0) line("not shown: " + more_threads(left_out));
    if (outside > 0) {
      line(std::to_string(outside) + (outside == 1 ? " thread was" : " threads were") +
           " waiting for other threads, outside any call of the library");
    }
    if (finished > 0) line(counted_threads(finished) + " finished the phase");
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += (text_.empty() ? "" : "\n") + text; }

  // Looks for waits on the same key first. Almost every transaction touches the same indexes, so a
  // wait on a whole index is less likely to be the cause of the hang.
  void add_waits() {
    for (const bool exactly : {true, false}) {
      const std::vector<Wait> cycle = cycle_in(waits_between(threads_, exactly), threads_.size());
      if (cycle.empty()) continue;
      add_list(titled("These threads wait for each other", exactly), cycle);
      return line(
          "If transactions wait for each other, one of their calls must return DEADLOCK, so that "
          "the client aborts its transaction");
    }
    for (const bool exactly : {true, false}) {
      const std::vector<Wait> waits = waits_between(threads_, exactly);
      if (!waits.empty()) return add_list(titled("Possible waits", exactly), waits);
    }
    const bool any = std::ranges::any_of(
        threads_, [](const HungThread& thread) { return thread.position.wants && !runs(thread); });
    if (!any) return;
    line(
        "No open transaction has touched the records that the waiting threads request, so a "
        "transaction that has ended may have kept a lock, or a wake-up was lost");
  }

  void add_list(const std::string& title, const std::vector<Wait>& waits) {
    line(title + ":");
    for (std::size_t i = 0; i < waits.size() && i < kWaitsShown; ++i) {
      const Wait& wait = waits[i];
      line("- " + name_of(threads_[wait.from]) + " requests " +
           touch_text(script_, *threads_[wait.from].position.wants) + "; the open transaction of " +
           name_of(threads_[wait.to]) + " has touched " + touch_text(script_, *wait.touched) +
           " (operation " + std::to_string(wait.touched->op) + ")");
    }
    if (waits.size() > kWaitsShown) {
      line("- and " + std::to_string(waits.size() - kWaitsShown) + " more such waits");
    }
  }

  bool crashed(const HungThread& thread) const { return dead_ && !thread.stack.empty(); }

  // Returns true if the thread was waiting for other threads, so it cannot have caused a crash.
  bool is_outside(const HungThread& thread) const {
    const ProgramPosition& position = thread.position;
    return thread.number && !position.in_call && !position.rolling_back && !position.awaits_piece &&
           !crashed(thread);
  }

  void add_thread(const HungThread& thread) {
    if (dead_) return add_dead(thread);
    const std::string position = thread.number ? ": " + position_text(thread) + "; " : ": ";
    line(name_of(thread) + position + kernel_text(thread));
    if (how_ == How::kHangs && !thread.position.touched.empty())
      line("  " + touched_text(thread.position));
    if (!thread.facts) return;
    line("  " + (thread.stack.empty()
                     ? std::string("no stack: the thread wrote none within a second; the library "
                                   "may block the signal that requests the stack")
                     : "stack: " + thread.stack));
  }

  // Of the threads without a number, only those that crashed are known.
  void add_dead(const HungThread& thread) {
    if (thread.number) {
      line(name_of(thread) + ": " + last_text(thread));
    } else {
      line(thread.loads_library ? "a thread crashed while the library was loaded"
                                : "a thread that the library started: it crashed");
    }
    for (const std::string& call : thread.before) line("  " + call);
    if (crashed(thread)) line("  stack at the crash: " + thread.stack);
  }

  std::string position_text(const HungThread& thread) const {
    const ProgramPosition& position = thread.position;
    const std::string where = "(operation " + std::to_string(position.op) + ")";
    if (how_ == How::kSlow && position.in_call && !position.rolling_back)
      return position.call + " " + where + " was running";
    const std::string since =
        how_ == How::kHangs ? " for at least " + seconds(thread.stuck_ms) : std::string();
    if (position.rolling_back) {
      return "abortTransaction, called because of the result of " + position.call + " " + where +
             ", has not returned" + since;
    }
    if (position.awaits_piece) {
      return "waits for the next operations from the referee " + where +
             ", without calling the library" + since;
    }
    if (!position.in_call)
      return "waits for other threads " + where + " without calling the library" + since;
    return position.call + " " + where + " has not returned" + since;
  }

  // Says what a thread was doing when the process ended. cli/output/crash_text.py reads this text.
  std::string last_text(const HungThread& thread) const {
    const ProgramPosition& position = thread.position;
    const std::string where = " (operation " + std::to_string(position.op) + ")";
    const char* end = crashed(thread) ? " when it crashed" : " when the process ended";
    if (position.finished) return std::string("had finished the phase") + end;
    if (position.awaits_piece) {
      return "was waiting for the next operations from the referee" + where +
             ", without calling the library," + end;
    }
    if (!position.in_call && !position.rolling_back)
      return "was waiting for other threads" + where + ", without calling the library," + end;
    // A thread has position 0 from the start of the phase on, so it may not have begun this call.
    const bool may_not_run = position.op == 0 && !crashed(thread);
    const std::string call =
        position.rolling_back
            ? "abortTransaction, called because of the result of " + position.call + where + ","
            : position.call + where;
    return call + " was running" + (may_not_run ? " or about to begin" : "") +
           " when the process ended" + (thread.before.empty() ? "" : "; the calls before it:");
  }

  // A thread has position 0 from the start of the phase on, so it may not have begun.
  static std::string missing_text(const ProgramPosition& position) {
    if (position.op == 0)
      return "the kernel does not list the thread, so it has ended or not begun";
    const bool in_call = position.in_call || position.rolling_back;
    return std::string("the kernel no longer lists the thread, so it has ended") +
           (in_call ? " within this call, which a library must not cause" : "");
  }

  std::string kernel_text(const HungThread& thread) const {
    if (!thread.facts) return missing_text(thread.position);
    const ThreadFacts& facts = *thread.facts;
    const std::string cpu = ", " + seconds(facts.cpu_ms) + " of CPU time so far";
    if (runs(thread)) {
      return "it runs: on a CPU for " + std::to_string(thread.busy_ms) + " of the last " +
             std::to_string(kHangLookMs) + " ms" + cpu;
    }
    if (facts.waits_in.empty())
      return std::string("it waits, in kernel state ") + facts.state + cpu;
    return "it waits in " + facts.waits_in + futex_text(thread) + cpu;
  }

  std::string futex_text(const HungThread& thread) const {
    const ThreadFacts& facts = *thread.facts;
    if (facts.futex == 0) return "";
    std::string text = facts.endless ? " without a time limit" : " with a time limit";
    for (const HungThread& other : threads_) {
      const bool same = other.facts && other.facts->futex == facts.futex;
      if (&other == &thread || !same || !other.number) continue;
      return text + ", on the same futex as thread " + std::to_string(*other.number);
    }
    return text;
  }

  // Shows only the end of a long list, because the records that the transaction touched last are
  // most likely to explain the hang.
  std::string touched_text(const ProgramPosition& position) const {
    std::string text = "its open transaction, begun at operation " +
                       std::to_string(position.begin.value_or(0)) + ", has touched ";
    const std::size_t count = position.touched.size();
    const std::size_t first = count > kTouchesShown ? count - kTouchesShown : 0;
    if (first > 0) text += std::to_string(first) + " earlier records, ";
    for (std::size_t i = first; i < count; ++i) {
      text += (i == first ? "" : ", ") + touch_text(script_, position.touched[i]) +
              (position.touched[i].writes ? " (written)" : "");
    }
    return text;
  }

  const script::Script& script_;
  const std::vector<HungThread>& threads_;
  const How how_;
  const bool dead_;
  std::string text_;
};

}  // namespace

std::string more_threads(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " more thread" : " more threads");
}

std::string hang_text(const script::Script& script, const std::vector<HungThread>& threads) {
  return HangWriter(script, threads, How::kHangs).all();
}

std::string slow_text(const script::Script& script, const std::vector<HungThread>& threads) {
  return HangWriter(script, threads, How::kSlow).all();
}

std::string last_calls_text(const script::Script& script, const std::vector<HungThread>& threads) {
  return HangWriter(script, threads, How::kDied).all();
}

}  // namespace keydrome
