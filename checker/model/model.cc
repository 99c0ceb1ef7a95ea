// Implements model.h: checks recorded calls against a sequential model of contract A, the ten
// functions of an index library (keydrome/index.h). An *element* is a record, and a *cell* is a key
// of an index (numbering.h).
//
// contents_ contains the records that exist. Cursor::left counts the records of the cursor's key
// that getNext must still return. notes_ remembers which records a cursor has returned or may leave
// out. The position of a *loose* cursor (Place::kLoose) is unknown; model.h says when a cursor
// becomes loose.
#include "checker/model/model.h"

#include "checker/history/calls.h"

namespace keydrome::model {

using history::Bound;
using history::Event;
using history::EventCall;
using history::kAnyCursor;
using history::kNoNumber;
using history::Numbering;

std::string text_of(Mismatch mismatch, EventCall call) {
  const bool names_pair = call == EventCall::kInsert || call == EventCall::kDeletePair;
  switch (mismatch) {
    case Mismatch::kNone:
      return "the result is right";
    case Mismatch::kRecordIsMissing:
      return "the record does not exist at this point";
    case Mismatch::kRecordIsThere:
      return names_pair ? "the record exists at this point"
                        : "a record under this key exists at this point";
    case Mismatch::kShownTwice:
      return "the scan has returned this record before";
    case Mismatch::kNotTheNext:
      return "another record is the next one of the scan";
    case Mismatch::kRecordsAreLeft:
      return "the scan has not yet returned all records";
    case Mismatch::kNothingToDelete:
      return "the key has no payload to delete at this point";
  }
  return "";
}

Model::Model(const Numbering& numbering)
    : numbering_(numbering),
      contents_(numbering),
      notes_(numbering.element_cells.size()),
      cursors_(numbering.first_cursors.back(), Cursor{.position = {.is_further = true}}) {
  for (const uint32_t first : numbering.first_cursors) {
    if (first < cursors_.size()) cursors_[first].position.is_further = false;
  }
}

void Model::begin() {
  ++transaction_;
  notes_.begin();
}

Mismatch Model::apply(const Event& event, Bound bound) {
  breaks_delete_code_ = false;
  switch (call_of(event)) {
    case EventCall::kOpen:
    case EventCall::kClose:
      loosen_cursors(event.index);
      return Mismatch::kNone;
    case EventCall::kGet:
      return get(event, bound);
    case EventCall::kNext:
      return next(event, bound);
    case EventCall::kInsert:
      return insert(event, bound);
    case EventCall::kDeletePair:
      return delete_pair(event, bound);
    case EventCall::kDeleteKey:
      return delete_key(event, bound);
    default:
      return Mismatch::kNone;
  }
}

void Model::rewind(std::size_t mark) {
  while (journal_.size() > mark) {
    const auto element = static_cast<uint32_t>(journal_.back() >> 1);
    if ((journal_.back() & 1) != 0) {
      contents_.remove(element);
    } else {
      contents_.insert(element);
    }
    journal_.pop_back();
  }
}

Mismatch Model::get(const Event& event, Bound bound) {
  if (event.code != SUCCESS && event.code != KEY_NOTFOUND) return Mismatch::kNone;
  Cursor& at = cursor(event);
  move_to(at, bound.cell);
  if (event.code == KEY_NOTFOUND) return at.left == 0 ? Mismatch::kNone : Mismatch::kRecordIsThere;
  if (!contents_.contains(bound.element)) return Mismatch::kRecordIsMissing;
  return step_in_key(at, bound.element);
}

Mismatch Model::next(const Event& event, Bound bound) {
  if (event.code != SUCCESS && event.code != DB_END) return Mismatch::kNone;
  Cursor& at = cursor(event);
  if (bound.cell == kAnyCursor) at.place = Place::kLoose;
  if (event.code == DB_END) return end_of_scan(event, at);
  if (!contents_.contains(bound.element)) return Mismatch::kRecordIsMissing;
  if (bound.cell == kAnyCursor) return Mismatch::kNone;
  // After DB_END, a record under a larger key continues the scan. A record under the cursor's key
  // or a smaller key starts the scan again. This breaks only an advisory promise, i.e. causes a
  // warning. The record must be the first one of the index. Exception: a record that the
  // transaction inserted under the cursor's key may continue the scan or start it again, and the
  // model cannot tell which. So the record *anchors* the cursor: the scan may then return or leave
  // out the other records of the key.
  const bool returns_back = at.at_end && at.place == Place::kAtCell && bound.cell <= at.cell;
  const bool is_unclear =
      returns_back && bound.cell == at.cell && notes_.is_optional(at.position, bound.element);
  if (is_unclear || at.place == Place::kLoose) {
    anchor(at, bound.element);
    return Mismatch::kNone;
  }
  if (returns_back) at.place = Place::kStart;
  at.at_end = false;
  return step_to(event, at, bound);
}

Mismatch Model::step_to(const Event& event, Cursor& at, Bound bound) {
  if (at.place == Place::kAtCell && bound.cell == at.cell) return step_in_key(at, bound.element);
  uint32_t from = numbering_.first_cells[event.index];
  if (at.place == Place::kAtCell) {
    if (at.left > 0) return Mismatch::kNotTheNext;
    from = at.cell + 1;
  }
  if (occupied_from(event.index, from) != bound.cell) return Mismatch::kNotTheNext;
  move_to(at, bound.cell);
  return step_in_key(at, bound.element);
}

Mismatch Model::step_in_key(Cursor& at, uint32_t element) {
  if (notes_.is_returned(at.position, element)) return Mismatch::kShownTwice;
  if (!notes_.is_optional(at.position, element) && !at.anchored) --at.left;
  notes_.set_returned(at.position, element);
  return Mismatch::kNone;
}

Mismatch Model::end_of_scan(const Event& event, Cursor& at) {
  if (at.place == Place::kLoose) return Mismatch::kNone;
  const bool at_cell = at.place == Place::kAtCell;
  const uint32_t from = at_cell ? at.cell + 1 : numbering_.first_cells[event.index];
  if (at_cell && at.left > 0) return Mismatch::kRecordsAreLeft;
  if (occupied_from(event.index, from) != kNoNumber) return Mismatch::kRecordsAreLeft;
  at.at_end = true;
  return Mismatch::kNone;
}

Mismatch Model::insert(const Event& event, Bound bound) {
  if (event.code != SUCCESS && event.code != ENTRY_EXISTS) return Mismatch::kNone;
  const bool there = contents_.contains(bound.element) || is_there_from_before(bound.element);
  if (event.code == ENTRY_EXISTS) return there ? Mismatch::kNone : Mismatch::kRecordIsMissing;
  if (there) return Mismatch::kRecordIsThere;
  contents_.insert(bound.element);
  journal_.push_back(uint64_t{bound.element} * 2 + 1);
  for_each_cursor(event.index, [&](const Cursor& at) {
    const bool is_here = at.place == Place::kAtCell && at.cell == bound.cell;
    if (is_here) notes_.set_optional(at.position, bound.element);
  });
  return Mismatch::kNone;
}

bool Model::is_there_from_before(uint32_t element) const {
  if (numbering_.earlier.empty()) return false;
  for (uint32_t at = numbering_.earlier[element]; at != kNoNumber; at = numbering_.earlier[at]) {
    if (contents_.contains(at)) return true;
  }
  return false;
}

Mismatch Model::delete_pair(const Event& event, Bound bound) {
  const bool there = contents_.contains(bound.element);
  if (event.code == ENTRY_DNE || event.code == KEY_NOTFOUND) {
    if (there) return Mismatch::kRecordIsThere;
    breaks_delete_code_ = event.code == KEY_NOTFOUND && contents_.count(bound.cell) > 0;
    return Mismatch::kNone;
  }
  if (event.code != SUCCESS) return Mismatch::kNone;
  if (!there) return Mismatch::kRecordIsMissing;
  erase(bound.element);
  loosen_cursors(event.index);
  return Mismatch::kNone;
}

Mismatch Model::delete_key(const Event& event, Bound bound) {
  const bool there = contents_.count(bound.cell) > 0;
  if (event.code == KEY_NOTFOUND) return there ? Mismatch::kRecordIsThere : Mismatch::kNone;
  if (event.code != SUCCESS) return Mismatch::kNone;
  if (!there) return Mismatch::kNothingToDelete;
  for (uint32_t element = contents_.first(bound.cell); element != kNoNumber;) {
    const uint32_t following = contents_.after(element);
    erase(element);
    element = following;
  }
  for_each_cursor(event.index, [&](Cursor& at) {
    if (at.place == Place::kAtCell && at.cell == bound.cell) at.left = 0;
  });
  return Mismatch::kNone;
}

Model::Cursor& Model::cursor(uint32_t number) {
  Cursor& at = cursors_[number];
  if (at.transaction != transaction_) {
    at = Cursor{.transaction = transaction_, .position = {.is_further = at.position.is_further}};
  }
  return at;
}

void Model::loosen_cursors(uint32_t index) {
  for_each_cursor(index, [](Cursor& at) { at.place = Place::kLoose; });
}

void Model::move_to(Cursor& at, uint32_t cell) {
  at.place = Place::kAtCell;
  at.at_end = false;
  at.cell = cell;
  at.position.serial = ++serial_;
  at.left = contents_.count(cell);
  at.anchored = false;
}

void Model::anchor(Cursor& at, uint32_t element) {
  move_to(at, numbering_.element_cells[element]);
  at.left = 0;
  at.anchored = true;
  notes_.set_returned(at.position, element);
}

bool Model::owes(uint32_t cursor, uint32_t element) const {
  const Cursor& at = cursors_[cursor];
  return at.transaction == transaction_ && at.place == Place::kAtCell && !at.anchored &&
         at.cell == numbering_.element_cells[element] && contains(element) &&
         !notes_.is_noted(at.position, element);
}

uint32_t Model::occupied_from(uint32_t index, uint32_t cell) const {
  const uint32_t found = contents_.next_occupied(cell);
  return found < numbering_.first_cells[index + 1] ? found : kNoNumber;
}

void Model::erase(uint32_t element) {
  contents_.remove(element);
  journal_.push_back(uint64_t{element} * 2);
}

}  // namespace keydrome::model
