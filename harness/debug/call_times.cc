// Implements call_times.h: puts a function that measures in front of each function of the library.
#include "harness/debug/call_times.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <vector>

#include "base/clock.h"

namespace keydrome {
namespace {

using player::IndexApi;

constexpr std::array kNames{
    "create",           "openIndex",         "closeIndex", "beginTransaction",
    "abortTransaction", "commitTransaction", "get",        "getNext",
    "insertRecord",     "deleteRecord"};

struct Times {
  uint64_t calls = 0, ns = 0;
};
using AllTimes = std::array<Times, kNames.size()>;

IndexApi g_api;  // the functions of the library
std::mutex g_lock;
AllTimes g_kept;  // guarded by g_lock
thread_local AllTimes t_times;

// Measures the time from its construction to its destruction. Adds this time to the thread's sum
// for one function.
class Stopwatch {
 public:
  explicit Stopwatch(std::size_t number) : times_(t_times[number]), start_ns_(now_ns()) {}
  ~Stopwatch() {
    ++times_.calls;
    times_.ns += now_ns() - start_ns_;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Times& times_;
  const uint64_t start_ns_;
};

// Calls a function of the library and measures the call. `Number` is its position in kNames.
template <std::size_t Number, auto Member, typename... Arguments>
ErrCode measured(Arguments... arguments) {
  const Stopwatch stopwatch(Number);
  return (g_api.*Member)(arguments...);
}

// Sets `function`, which must have the type of the member, to the measuring function.
template <std::size_t Number, auto Member, typename... Arguments>
void measure(ErrCode (*&function)(Arguments...)) {
  function = &measured<Number, Member, Arguments...>;
}

}  // namespace

player::IndexApi timed_calls(const player::IndexApi& api) {
  g_api = api;
  IndexApi timed = api;
  measure<0, &IndexApi::create>(timed.create);
  measure<1, &IndexApi::openIndex>(timed.openIndex);
  measure<2, &IndexApi::closeIndex>(timed.closeIndex);
  measure<3, &IndexApi::beginTransaction>(timed.beginTransaction);
  measure<4, &IndexApi::abortTransaction>(timed.abortTransaction);
  measure<5, &IndexApi::commitTransaction>(timed.commitTransaction);
  measure<6, &IndexApi::get>(timed.get);
  measure<7, &IndexApi::getNext>(timed.getNext);
  measure<8, &IndexApi::insertRecord>(timed.insertRecord);
  measure<9, &IndexApi::deleteRecord>(timed.deleteRecord);
  return timed;
}

void keep_call_times() {
  const std::lock_guard<std::mutex> guard(g_lock);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    g_kept[i].calls += t_times[i].calls;
    g_kept[i].ns += t_times[i].ns;
  }
  t_times = {};
}

std::string call_times_text() {
  const std::lock_guard<std::mutex> guard(g_lock);
  uint64_t all_ns = 0;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    all_ns += g_kept[i].ns;
    if (g_kept[i].calls > 0) order.push_back(i);
  }
  if (all_ns == 0) return "";
  std::ranges::sort(order,
                    [](std::size_t a, std::size_t b) { return g_kept[a].ns > g_kept[b].ns; });
  std::string text =
      "time in each function of the library, including the time that its calls waited:\n";
  for (const std::size_t i : order) {
    const Times& times = g_kept[i];
    std::array<char, 128> line{};
    std::snprintf(line.data(), line.size(), "  %-17s %5.1f %%  %10llu calls  %10.2f us each\n",
                  kNames[i], 100.0 * static_cast<double>(times.ns) / static_cast<double>(all_ns),
                  static_cast<unsigned long long>(times.calls),
                  static_cast<double>(times.ns) / static_cast<double>(times.calls) / 1000);
    text += line.data();
  }
  return text;
}

}  // namespace keydrome
