// Implements numbering.h: assigns numbers to the keys (cells) and records (elements) of a history.
// One pass over all events numbers keys and records as they occur, with two hash tables. Then the
// cells are numbered again, in the order of keys.
#include "checker/history/numbering.h"

#include <algorithm>
#include <numeric>

#include "checker/history/calls.h"
#include "checker/history/flat_table.h"

namespace keydrome::history {
namespace {

int64_t key_of(const History& history, const Event& event) {
  if (history.indexes[event.index].type == SHORT) return static_cast<int32_t>(event.key);
  return static_cast<int64_t>(event.key);
}

bool has_key(const Event& event) {
  const EventCall call = call_of(event);
  return is_data_call(call) && (call != EventCall::kNext || succeeded(event));
}

bool has_payload(const Event& event) {
  switch (call_of(event)) {
    case EventCall::kGet:
    case EventCall::kNext:
      return succeeded(event);
    case EventCall::kInsert:
    case EventCall::kDeletePair:
      return true;
    default:
      return false;
  }
}

// Returns the initial size of the table of elements. In a busy history about one call in five
// inserts a record. The table grows if there are more inserts.
std::size_t guess_elements(const History& history) {
  std::size_t events = 0;
  for (const auto& thread : history.threads) events += thread.size();
  return events / 5;
}

// Numbers keys and records in the order in which events first name them. Also finds the getNext
// calls whose cursor position is unknown (kAnyCursor).
class Binder {
 public:
  Binder(const History& history, Numbering& out)
      : history_(history), out_(out), cells_(1024), elements_(guess_elements(history)) {}

  void bind_thread(std::size_t thread) {
    const std::vector<Event>& events = history_.threads[thread];
    std::vector<Bound>& bounds = out_.bounds[thread];
    bounds.resize(events.size());
    // By cursor: true if the key argument of the last get was a varchar key that is not in
    // History::varchar_keys. The cursor's position is then unknown until the next get.
    std::vector<bool> is_lost(out_.first_cursors.back(), false);
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i + FlatTable::kAhead < events.size()) {
        elements_.prefetch(events[i + FlatTable::kAhead].payload);
        cells_.prefetch(events[i + FlatTable::kAhead].key);
      }
      const Event& event = events[i];
      bounds[i] = bind(event);
      const EventCall call = call_of(event);
      if (call != EventCall::kGet && call != EventCall::kNext) continue;
      const uint32_t cursor = out_.cursor_of(event);
      if (call == EventCall::kGet) {
        is_lost[cursor] = has_unknown_key(history_, event);
      } else if (is_lost[cursor] || is_ambiguous(event) || has_unknown_key(history_, event)) {
        bounds[i].cell = kAnyCursor;
      }
    }
  }

 private:
  // Returns true if each handle has its own cursor, and the event does not say which handle the
  // call passed.
  bool is_ambiguous(const Event& event) const {
    const uint32_t cursors = out_.first_cursors[event.index + 1] - out_.first_cursors[event.index];
    return cursors > 1 && handle_of(event) == kEventManyHandles;
  }

  Bound bind(const Event& event) {
    Bound bound;
    if (!has_key(event)) return bound;
    const int64_t key = key_of(history_, event);
    bound.cell = cells_.number_of(static_cast<uint64_t>(key), event.index);
    if (bound.cell == out_.cells.size()) out_.cells.push_back({key, event.index});
    if (!has_payload(event)) return bound;
    bound.element = elements_.number_of(event.payload, bound.cell);
    if (bound.element == out_.element_cells.size()) out_.element_cells.push_back(bound.cell);
    return bound;
  }

  const History& history_;
  Numbering& out_;
  FlatTable cells_;
  FlatTable elements_;
};

// Returns Numbering::first_cursors.
std::vector<uint32_t> number_cursors(const History& history, CursorScope scope) {
  std::vector<uint32_t> first(history.indexes.size() + 1, 1);
  first[0] = 0;
  for (const std::vector<Event>& events : history.threads) {
    if (scope == CursorScope::kIndex) break;
    for (const Event& event : events) {
      if (handle_of(event) > 0) first[event.index + 1] = kEventManyHandles + 1u;
    }
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  return first;
}

}  // namespace

Numbering::Numbering(const History& history, CursorScope scope)
    : bounds(history.threads.size()), first_cursors(number_cursors(history, scope)) {
  {
    Binder binder(history, *this);
    for (std::size_t thread = 0; thread < history.threads.size(); ++thread) {
      binder.bind_thread(thread);
    }
  }
  std::vector<uint32_t> sorted(cells.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [this](uint32_t a, uint32_t b) {
    return cells[a].index != cells[b].index ? cells[a].index < cells[b].index
                                            : cells[a].key < cells[b].key;
  });
  std::vector<uint32_t> ranks(cells.size());
  std::vector<Cell> in_order(cells.size());
  for (uint32_t rank = 0; rank < sorted.size(); ++rank) {
    ranks[sorted[rank]] = rank;
    in_order[rank] = cells[sorted[rank]];
  }
  cells.swap(in_order);
  for (uint32_t& cell : element_cells) cell = ranks[cell];
  for (auto& thread : bounds) {
    for (Bound& bound : thread) {
      if (bound.cell < kAnyCursor) bound.cell = ranks[bound.cell];
    }
  }
  first_cells.assign(history.indexes.size() + 1, 0);
  for (const Cell& cell : cells) ++first_cells[cell.index + 1];
  std::partial_sum(first_cells.begin(), first_cells.end(), first_cells.begin());
}

bool has_several_handles(const History& history) {
  return std::ranges::any_of(history.threads, [](const std::vector<Event>& events) {
    return std::ranges::any_of(events, [](const Event& event) { return handle_of(event) > 0; });
  });
}

}  // namespace keydrome::history
