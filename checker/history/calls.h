// Functions that read an Event (event.h), the record of one API call. They return which call was
// made and on which handle, when it began, whether it succeeded, and whether its result proves that
// a record existed. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "checker/history/event.h"
#include "keydrome/index.h"

namespace keydrome::history {

inline EventCall call_of(const Event& event) {
  constexpr unsigned kCallBits = (1u << kEventHandleShift) - 1;
  return static_cast<EventCall>(event.call & kCallBits);
}

// Returns the number of the handle that the call passed (event.h).
inline uint32_t handle_of(const Event& event) {
  return event.call >> kEventHandleShift & kEventManyHandles;
}

inline bool is_auto_commit(const Event& event) { return (event.call & kEventAutoCommit) != 0; }

inline bool succeeded(const Event& event) { return event.code == SUCCESS; }

// Returns true for the calls that read or change records. These calls belong to a transaction.
inline bool is_data_call(EventCall call) {
  return call >= EventCall::kGet && call <= EventCall::kDeleteKey;
}

// Returns true for the calls that pass or return a handle of an index.
inline bool has_handle(EventCall call) {
  return is_data_call(call) || call == EventCall::kOpen || call == EventCall::kClose;
}

// Returns true if the result proves that one particular record existed. The call returned the
// record, deleted it, or reported it as a duplicate.
inline bool shows_record(const Event& event) {
  switch (call_of(event)) {
    case EventCall::kGet:
    case EventCall::kNext:
    case EventCall::kDeletePair:
      return event.code == SUCCESS;
    case EventCall::kInsert:
      return event.code == ENTRY_EXISTS;
    default:
      return false;
  }
}

// Returns the time in ticks just before the call. `before` is the end of the thread's previous
// event. If the call took longer than an event can express, returns `before`, which may be too
// early. This is safe: the checker orders two transactions by real time only if one had returned
// before the other began. With an early begin it orders fewer pairs, but no pair wrongly.
inline uint64_t begin_of(const Event& event, uint64_t before) {
  return event.duration == kEventLongDuration ? before : event.end - event.duration;
}

}  // namespace keydrome::history
