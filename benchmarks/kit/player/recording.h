// Recording: writes every call that a thread makes to the thread's log, as an Event
// (checker/history/event.h). From the logs, the checker can later prove whether all results were
// correct.
//
// The interpreter, which executes the thread's program, calls begin() before each call to the
// library and end() after it. The call instruction is the same as in other phases, so its address
// does not tell a library whether the phase is recorded (docs/decisions/0012-recorded-runs.md).
// Each thread of a recorded phase has a Recording of its own.
//
// A recorded call costs a timestamp, a hash of the payload and 32 bytes of memory
// (docs/reference/figures.md). It makes no allocation and takes no lock.
//
// The most expensive timestamp is the one at the begin of a call, so not every call has its own.
// Every beginTransaction, every abortTransaction and every call outside transactions has one. A
// commit, or another call inside a transaction, has one only if the thread paused before the call.
// Otherwise the end of the thread's previous call serves as the begin of the call. This time is
// earlier than the true begin. An early begin is safe, because it can only weaken the real-time
// order that the checker enforces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "benchmarks/kit/format/handle_numbers.h"
#include "benchmarks/kit/player/event_clock.h"
#include "checker/history/event.h"
#include "keydrome/index.h"

namespace keydrome::player {

// The objects that a Recording uses. They are borrowed: all of them must outlive the Recording.
struct RecordingInputs {
  EventClock* clock = nullptr;
  std::span<history::Event> log;
};

// The arguments of a data call, i.e. a get, getNext, insertRecord or deleteRecord. A pointer is
// null unless the function has that argument.
struct RecordedArguments {
  Record* record = nullptr;       // get, getNext, deleteRecord
  const Key* key = nullptr;       // insertRecord
  const char* payload = nullptr;  // insertRecord
};

// Not thread-safe; each thread has its own object.
class Recording {
 public:
  explicit Recording(const RecordingInputs& inputs) : inputs_(inputs) {}

  // The interpreter calls begin() before each call to the library. begin() stores the arguments and
  // the time. `alone` is true if the call passes NULL as its transaction. `index` is the number of
  // the index, or 0 if the function has no index argument. `slot` is the thread's variable for the
  // handle; it is ignored for functions without a handle. For deleteRecord, `call` is kDeletePair.
  // If the payload of the Record is empty, end() logs kDeleteKey instead.
  void begin(history::EventCall call, bool alone, uint16_t index, uint8_t slot,
             const RecordedArguments& arguments);
  // The interpreter calls end() after the call has returned `code`. end() writes the Event.
  void end(uint32_t code);

  // The interpreter calls paused() if this thread waited between two calls. The next call then has
  // a begin timestamp of its own.
  void paused() { last_end_ = 0; }

  // Returns the number of events in the log.
  uint64_t events() const { return events_; }
  // Returns true if at least one call is missing from the log because the log is full.
  bool full() const { return full_; }

 private:
  bool is_data_call() const { return call_ >= history::EventCall::kGet; }
  bool has_handle() const {
    return is_data_call() || call_ == history::EventCall::kOpen ||
           call_ == history::EventCall::kClose;
  }
  // Returns true if the call is inside a transaction, where a cheap timestamp suffices.
  bool is_inside() const { return is_data_call() && !alone_; }
  uint64_t begin_time() const;
  uint64_t end_time() const;
  void note_arguments(const RecordedArguments& arguments);
  void note_result(uint32_t code);

  const RecordingInputs inputs_;
  // The current call. record_ and payload_text_ are valid only for functions with these arguments.
  history::EventCall call_ = history::EventCall::kCreate;
  bool alone_ = false;
  uint16_t index_ = 0;
  uint8_t slot_ = 0;
  KeyType type_ = SHORT;
  const Record* record_ = nullptr;
  const char* payload_text_ = nullptr;
  uint64_t key_ = 0, payload_ = 0, begin_ = 0;
  format::HandleNumbers handles_;
  uint64_t events_ = 0;
  uint64_t last_end_ = 0;  // end of the previous call; 0: first call, or the thread paused since
  bool full_ = false;
};

}  // namespace keydrome::player
