// HandleNumbers: numbers a thread's open handles of each index, for the events of a history
// (checker/history/event.h). The player numbers them in the log of a recorded phase. The referee
// numbers them to check this log, and to make events from words (control_word.h).
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

  // Returns the smallest number that no open handle of the index has, or kEventManyHandles.
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
