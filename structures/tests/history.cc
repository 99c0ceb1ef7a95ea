// Implements history.h: searches for an order of the calls that explains all their results.
#include "structures/tests/history.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

namespace keydrome {
namespace {

// One bit for each payload, set if the key has the payload.
using State = uint32_t;

bool contains(State state, int payload) { return (state >> payload & 1) != 0; }
State with(State state, int payload) { return state | State{1} << payload; }
State without(State state, int payload) { return state & ~(State{1} << payload); }

int smallest_after(State state, int after) {
  for (int payload = after + 1; payload < static_cast<int>(Call::kPayloadsMost); ++payload) {
    if (contains(state, payload)) return payload;
  }
  return Call::kNone;
}

// Returns the state after a replace. If the old payload, `call.payload`, does not exist and the new
// one, `call.now`, does, two results are right: 0 (no old payload) and 2 (the new one exists).
std::optional<State> after_replace(State state, const Call& call) {
  if (call.result == 0 && !contains(state, call.payload)) return state;
  if (call.result == 2 && contains(state, call.now)) return state;
  if (call.result != 1 || !contains(state, call.payload) || contains(state, call.now)) return {};
  return with(without(state, call.payload), call.now);
}

// Returns the state after a call, or nothing if the call cannot return its result in this state.
std::optional<State> after_call(State state, const Call& call) {
  if (call.kind == Call::Kind::kFind) {
    if (call.result != smallest_after(state, call.payload)) return {};
    return state;
  }
  if (call.result < 0) return state;  // an error changes nothing
  if (call.kind == Call::Kind::kReplace) return after_replace(state, call);
  const bool inserts = call.kind == Call::Kind::kPut;
  const bool changes = contains(state, call.payload) != inserts;
  if (call.result != (changes ? 1 : 0)) return {};
  return inserts ? with(state, call.payload) : without(state, call.payload);
}

// A point of the search: how many calls of each thread have taken effect, and the resulting state.
struct Point {
  std::vector<size_t> done;
  State state;

  auto operator<=>(const Point&) const = default;
};

// Returns the earliest end of the calls that have not yet taken effect. A call that begins later
// cannot take effect next.
uint64_t deadline(const History& history, const Point& point) {
  uint64_t first_end = UINT64_MAX;
  for (size_t thread = 0; thread < history.size(); ++thread) {
    if (point.done[thread] == history[thread].size()) continue;
    first_end = std::min(first_end, history[thread][point.done[thread]].end);
  }
  return first_end;
}

}  // namespace

// Tries all orders that the times allow (J. Wing, C. Gong, "Testing and Verifying Concurrent
// Objects", 1993). Visits each point only once (G. Lowe, "Testing for Linearizability", 2017).
bool is_linearizable(const History& history) {
  std::vector<Point> open{{std::vector<size_t>(history.size(), 0), 0}};
  std::set<Point> seen{open.front()};
  while (!open.empty()) {
    const Point point = open.back();
    open.pop_back();
    const uint64_t last_begin = deadline(history, point);
    if (last_begin == UINT64_MAX) return true;  // all calls have taken effect
    for (size_t thread = 0; thread < history.size(); ++thread) {
      if (point.done[thread] == history[thread].size()) continue;
      const Call& call = history[thread][point.done[thread]];
      if (call.begin > last_begin) continue;
      const std::optional<State> state = after_call(point.state, call);
      if (!state) continue;
      Point next{point.done, *state};
      ++next.done[thread];
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return false;
}

}  // namespace keydrome
