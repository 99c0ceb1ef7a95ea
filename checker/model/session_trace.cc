// Implements session_trace.h: remembers what each call of a single client did, and finds the
// records and earlier calls that contradict a wrong result. An *element* is the number of a record,
// a *cell* the number of a key (numbering.h).
#include "checker/model/session_trace.h"

#include <algorithm>

#include "checker/history/calls.h"

namespace keydrome::model {

using history::Bound;
using history::Event;
using history::EventCall;
using history::History;
using history::kNoNumber;
using history::Numbering;

SessionTrace::SessionTrace(const History& history, const Numbering& numbering)
    : numbering_(numbering),
      records_(numbering.element_cells.size()),
      elements_(numbering.cells.size()),
      rolled_back_by_(history.threads[0].size(), kNoCall),
      scans_(numbering.first_cursors.back()) {
  for (uint32_t i = 0; i < numbering.element_cells.size(); ++i) {
    elements_[numbering.element_cells[i]].push_back(i);
  }
}

void SessionTrace::note(uint32_t call, const Event& event, Bound bound) {
  switch (call_of(event)) {
    case EventCall::kGet: {
      ScanTrace& at = scan(numbering_.cursor_of(event));
      at.call = at.entered = call;
      at.cell = bound.cell;
      if (succeeded(event)) records_[bound.element].returned = call;
      return;
    }
    case EventCall::kNext:
      return note_next(call, event, bound);
    case EventCall::kInsert:
      if (succeeded(event)) records_[bound.element].inserted = call;
      return;
    case EventCall::kDeletePair:
      if (succeeded(event)) records_[bound.element].deleted = call;
      return;
    case EventCall::kDeleteKey:
      if (!succeeded(event)) return;
      for (const uint32_t element : elements_[bound.cell]) records_[element].deleted = call;
      return;
    default:
      return;
  }
}

void SessionTrace::note_next(uint32_t call, const Event& event, Bound bound) {
  if (!succeeded(event)) return;
  // The cell is taken from the record, because bound.cell is kAnyCursor if the cursor's position is
  // unknown.
  const uint32_t cell = numbering_.element_cells[bound.element];
  ScanTrace& at = scan(numbering_.cursor_of(event));
  if (!at.is_placed() || at.cell != cell) at.entered = call;
  at.call = call;
  at.cell = cell;
  records_[bound.element].returned = call;
}

void SessionTrace::roll_back(uint32_t begin, uint32_t abort) {
  for (uint32_t call = begin; call < abort; ++call) rolled_back_by_[call] = abort;
}

void SessionTrace::reset_scans(uint32_t index) {
  numbering_.for_each_cursor(index, [&](uint32_t cursor) { scan(cursor).call = kNoCall; });
}

ScanTrace& SessionTrace::scan(uint32_t cursor) {
  ScanTrace& at = scans_[cursor];
  if (at.transaction != transaction_) at = {.transaction = transaction_};
  return at;
}

uint32_t SessionTrace::record_under(uint32_t cell, const Model& model) const {
  const std::vector<uint32_t>& elements = elements_[cell];
  const auto present =
      std::ranges::find_if(elements, [&](uint32_t element) { return model.contains(element); });
  if (present != elements.end()) return *present;
  const auto last = std::ranges::max_element(
      elements, {}, [this](uint32_t element) { return last_change(element); });
  return last == elements.end() ? kNoNumber : *last;
}

// Returns the position, plus 1, of the last call that inserted the record, deleted it, or rolled
// back such a change. Returns 0 if there is no such call.
uint32_t SessionTrace::last_change(uint32_t element) const {
  uint32_t last = 0;
  for (const uint32_t call : {records_[element].inserted, records_[element].deleted}) {
    if (call == kNoCall) continue;
    last = std::max(last, call + 1);
    if (rolled_back_by_[call] != kNoCall) last = std::max(last, rolled_back_by_[call] + 1);
  }
  return last;
}

uint32_t SessionTrace::skipped(uint32_t index, uint32_t cursor, uint32_t to, const Model& model) {
  const ScanTrace from = scan(cursor);
  const uint32_t first = from.is_placed() ? from.cell : numbering_.first_cells[index];
  const uint32_t end = std::min(to, numbering_.first_cells[index + 1]);
  for (uint32_t cell = first; cell < end; ++cell) {
    const bool is_own_key = from.is_placed() && cell == from.cell;
    for (const uint32_t element : elements_[cell]) {
      if (is_own_key ? model.owes(cursor, element) : model.contains(element)) return element;
    }
  }
  return kNoNumber;
}

}  // namespace keydrome::model
