// The library's side of verified mode: threads that take calls from their slots (harness/calls.h),
// make them, and write the answers back. They know no program; that is with the driver, outside.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/thread_annotations.h"
#include "benchmarks/kit/index_api.h"
#include "harness/calls.h"
#include "harness/player/control.h"

namespace keydrome {

class Service {
 public:
  // Borrows all of it.
  Service(const Control& control, const IndexApi& api, std::span<CallSlot> slots)
      : control_(control), api_(api), slots_(slots) {}

  // One phase: a thread for each of the first `threads` slots, at least one, until each was told to
  // leave; the calling thread takes the first. Does not return when that is not possible: then the
  // referee has been told why.
  void serve(Address address, uint32_t threads, CallWait wait);

 private:
  void run_thread(Address address, CallSlot& slot, CallWait wait);
  void take_calls(CallSlot& slot, CallWait wait);
  uint32_t make(CallSlot& slot);
  char* kept_name(const CallSlot& slot);
  [[noreturn]] void give_up(Address address, DoneStatus status, std::string_view reason) const;

  const Control& control_;
  const IndexApi& api_;
  const std::span<CallSlot> slots_;

  Mutex mutex_;
  // The contract promises names that stay where they are, writable, for as long as the process
  // runs.
  std::map<std::string, std::unique_ptr<char[]>, std::less<>> names_ KEYDROME_GUARDED_BY(mutex_);
};

}  // namespace keydrome
