// HandleNumbers: gives each open handle of a thread a number. A handle is what openIndex returns,
// and the open handles of one index have different numbers. The events of a history, the record of
// all calls (checker/history/event.h), contain these numbers.
//
// The player, the process that calls the library, numbers the handles in the log of a recorded
// phase. The referee, the process that judges the run, numbers them again. It checks the log with
// these numbers, and makes events from words, the player's 8-byte reports (control_word.h).
//
// Not thread-safe; one object per thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "benchmarks/kit/format/program.h"
#include "checker/history/event.h"
#include "keydrome/index.h"

namespace keydrome::format {

class HandleNumbers {
 public:
  // Must be called after each openIndex, closeIndex, get, getNext, insertRecord and deleteRecord
  // has returned `code`. `slot` is the thread's variable for the handle, and `index` the number of
  // the index. Returns the handle's number as bits of Event::call; 0 if openIndex failed.
  uint8_t after(history::EventCall call, uint8_t slot, uint32_t index, uint32_t code) {
    Handle& handle = handles_[slot];
    if (call == history::EventCall::kOpen) {
      handle = {};
      if (code == SUCCESS) handle = {index, free_number(index), /*is_open=*/true};
    } else if (call == history::EventCall::kClose && code != DEADLOCK) {
      handle.is_open = false;
    }
    return static_cast<uint8_t>(handle.number << history::kEventHandleShift);
  }

 private:
  struct Handle {
    uint32_t index = 0;
    uint8_t number = 0;
    bool is_open = false;
  };

  // Returns the smallest number that no open handle of the index has, but at most
  // kEventManyHandles, which stands for itself and all larger numbers.
  uint8_t free_number(uint32_t index) const {
    uint8_t number = 0;
    const auto is_taken = [&](const Handle& handle) {
      return handle.is_open && handle.index == index && handle.number == number;
    };
    while (number < history::kEventManyHandles && std::ranges::any_of(handles_, is_taken)) {
      ++number;
    }
    return number;
  }

  std::array<Handle, kSlots> handles_{};
};

}  // namespace keydrome::format
