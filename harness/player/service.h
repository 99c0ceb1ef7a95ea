// The player's part of verified mode. The player is the process in the jail (sandbox) that contains
// the library. Its threads read calls from their slots (harness/calls.h), call the library, and
// write the results back. The driver, a process outside the jail, decides which calls to make.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/thread_annotations.h"
#include "benchmarks/kit/player/index_api.h"
#include "harness/calls.h"
#include "harness/player/pinning.h"
#include "harness/player/referee_channel.h"

namespace keydrome {

class Service {
 public:
  // All arguments must outlive the object.
  Service(const RefereeChannel& channel, const player::IndexApi& api, std::span<CallSlot> slots)
      : channel_(channel), api_(api), slots_(slots) {}

  // Serves one phase with one thread for each of the first `threads` slots (at least 1). The
  // calling thread serves the first slot. Returns when the driver has ended the calls of each slot
  // (kEndOfCalls). After an error serve() sends the reason to the referee, in the message DONE
  // (harness/protocol.h), and does not return. If the phase is pinned, `pins` are the CPUs for its
  // threads; otherwise `pins` is nullptr.
  void serve(PhaseId phase, uint32_t threads, CallWait wait, const Cpus* pins = nullptr);

 private:
  void run_thread(PhaseId phase, uint32_t number, CallWait wait, const Cpus* pins);
  void serve_slot(CallSlot& slot, CallWait wait);
  uint32_t call(CallSlot& slot);
  char* stable_name(const CallSlot& slot);
  [[noreturn]] void give_up(PhaseId phase, DoneStatus status, std::string_view reason) const;

  const RefereeChannel& channel_;
  const player::IndexApi& api_;
  const std::span<CallSlot> slots_;

  Mutex mutex_;
  // One writable copy of each index name. The copies are never freed, because keydrome/index.h
  // promises the library that a name stays at its address until the process exits.
  std::map<std::string, std::unique_ptr<char[]>, std::less<>> names_ KEYDROME_GUARDED_BY(mutex_);
};

}  // namespace keydrome
