// The ten functions of contract A, the interface of an index library (keydrome/index.h), for a
// library that is in another process. Each function sends its call through the calling thread's
// CallSlot, a struct in shared memory, and returns the result (harness/calls.h).
//
// The library is in the player, a process in the jail (sandbox). The driver runs outside the jail
// and passes this table of functions to the interpreter, which executes the benchmark's operations.
// This arrangement is verified mode. Verified mode uses the same interpreter as ordinary runs, in
// which the player executes the operations itself. The class Recording, which logs calls, runs in
// the driver too, so the library cannot reach the log.
#pragma once

#include <cstdint>

#include "benchmarks/kit/player/index_api.h"
#include "harness/calls.h"

namespace keydrome {

// Connects the calling thread to its slot during one phase. The thread itself creates and destroys
// the object. Each thread has at most one RemoteThread at a time.
class RemoteThread {
 public:
  // Borrows its arguments. `number` is the number of the slot's last call. This variable is outside
  // the shared memory, so the library cannot change it.
  RemoteThread(CallSlot& slot, uint32_t& number, CallWait wait);
  // Tells the player that the thread makes no more calls in this phase (kEndOfCalls), and waits for
  // the reply.
  ~RemoteThread();
  RemoteThread(const RemoteThread&) = delete;
  RemoteThread& operator=(const RemoteThread&) = delete;

 private:
  friend struct RemoteCalls;

  // Sends `call` with the arguments that the slot contains, and returns the call's result code.
  uint32_t send(uint32_t call);

  CallSlot& slot_;
  uint32_t& number_;
  const CallWait wait_;
};

// Returns the table of functions. Every thread that calls one of the functions must have a
// RemoteThread; without a RemoteThread the function aborts the process.
const player::IndexApi& remote_api();

}  // namespace keydrome
