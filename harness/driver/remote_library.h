// The library of another process, behind the ten functions: remote_api() sends each call over the
// calling thread's CallSlot and returns what comes back.
//
// So a session plays its program in the driver as it does in the player, and Recording notes calls
// where the library cannot reach.
#pragma once

#include <cstdint>

#include "benchmarks/kit/index_api.h"
#include "harness/calls.h"

namespace keydrome {

// A thread's end of its slot, from its first call of a phase to its last. Made and destroyed by
// that thread; one at a time.
class RemoteThread {
 public:
  // Borrows the slot and the number of the slot's last call, which outlive it.
  RemoteThread(CallSlot& slot, uint32_t& number, CallWait wait);
  // Tells the library's side that no more calls come in this phase, and waits until it has heard.
  ~RemoteThread();
  RemoteThread(const RemoteThread&) = delete;
  RemoteThread& operator=(const RemoteThread&) = delete;

 private:
  friend struct RemoteCalls;

  uint32_t ask(uint32_t call);

  CallSlot& slot_;
  uint32_t& number_;
  const CallWait wait_;
};

// The table of threads that have a RemoteThread. Others may not use it (checked).
const IndexApi& remote_api();

}  // namespace keydrome
