// Recording: notes every call of a thread as an Event (checker/event.h) in the thread's own log.
//
// recording_api() is a table of the ten calls that pass on to the library's; a session plays its
// program against either, so a run that is not recorded pays nothing and no workload knows whether
// it is recorded (docs/decisions/0012-recorded-runs.md). Each thread of a recorded phase makes one
// Recording, which the table finds by a thread-local pointer.
//
// Cost: a stamp, a hash of the payload and 32 bytes of memory a call; figures in
// docs/reference/figures.md. No allocation and no lock. A call inside a transaction is said to have
// begun where the one before it ended, unless the thread paused between them: that claims less, and
// saves the stamp that would cost most. Begins of transactions and calls outside are stamped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "benchmarks/kit/event_clock.h"
#include "benchmarks/kit/index_api.h"
#include "benchmarks/kit/index_names.h"
#include "benchmarks/kit/program.h"
#include "checker/event.h"

namespace keydrome {

// What a thread records into; all of it outlives the Recording.
struct RecordingInputs {
  const IndexApi* api = nullptr;  // the library's
  const IndexNames* names = nullptr;
  EventClock* clock = nullptr;
  std::span<Event> log;
};

// One for each thread of a recorded phase, made and destroyed by that thread; one at a time.
class Recording {
 public:
  explicit Recording(const RecordingInputs& inputs);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  uint64_t events() const { return events_; }
  // Whether the log was full: the calls behind it are not in it.
  bool full() const { return full_; }

  // This thread, whether recorded or not, waited between two calls: the next one's begin is
  // stamped.
  static void paused();

 private:
  friend struct RecordedCalls;

  // A library may give the same pointer for every opening of an index.
  struct Handle {
    const IdxState* handle = nullptr;
    uint16_t index = 0;
    uint32_t open = 0;  // 0: the entry is free
  };

  void note(Event event) {
    last_end_ = event.end;
    if (events_ == inputs_.log.size()) [[unlikely]] {
      full_ = true;
      return;
    }
    inputs_.log[events_++] = event;
  }
  void opened(const IdxState* handle, uint16_t index);
  void closed(const IdxState* handle);
  uint16_t index_of(const IdxState* handle) const;

  const RecordingInputs inputs_;
  uint64_t events_ = 0;
  uint64_t last_end_ = 0;  // of the call before; 0: unknown, or before a pause
  bool full_ = false;
  std::array<Handle, kSlots> handles_{};  // a program has at most kSlots open
};

// The table that notes the calls of threads that have a Recording. Others may not use it (checked).
const IndexApi& recording_api();

}  // namespace keydrome
