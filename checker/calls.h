// What an event says, in one place: which calls carry data, and which answers each call may give.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "checker/event.h"
#include "keydrome/index.h"

namespace keydrome {

inline EventCall call_of(const Event& event) {
  return static_cast<EventCall>(event.call & ~kEventAutoCommit);
}

inline bool is_auto_commit(const Event& event) { return (event.call & kEventAutoCommit) != 0; }

inline bool succeeded(const Event& event) { return event.code == SUCCESS; }

// A call on the records of an index, which belongs to a transaction.
inline bool is_data_call(EventCall call) {
  return call >= EventCall::kGet && call <= EventCall::kDeleteKey;
}

// The call returned, or deleted, one record that was there.
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

// Just before the call; when it took longer than the event can say, `before`, the end of the
// thread's event before it: an earlier time than the true one only makes real-time order weaker.
inline uint64_t begin_of(const Event& event, uint64_t before) {
  return event.duration == kEventLongDuration ? before : event.end - event.duration;
}

}  // namespace keydrome
