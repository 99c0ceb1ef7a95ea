// A library with one fault, for tests. The fault shows only in verified mode, in which the driver,
// a process outside the jail (the sandbox), sends the calls through shared memory
// (harness/calls.h). There the 50th insert of a thread overwrites the whole memory through which
// this thread receives its calls, and never returns. In other modes the library works correctly.
// The session must end at the deadline of the phase, and the driver must survive.
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "harness/calls.h"
#include "tests/faulty/honest.h"

namespace {

using keydrome::CallSlot;

// Returns the slot of shared memory that contains the key, or nullptr if the key is elsewhere.
CallSlot* slot_of(Key* key) {
  auto* slot =
      reinterpret_cast<CallSlot*>(reinterpret_cast<std::byte*>(key) - offsetof(CallSlot, record));
  const bool aligned = reinterpret_cast<uintptr_t>(slot) % alignof(CallSlot) == 0;
  const bool called = slot->call == static_cast<uint32_t>(keydrome::history::EventCall::kInsert);
  return aligned && called && slot->thread_id == static_cast<uint32_t>(gettid()) ? slot : nullptr;
}

}  // namespace

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  static thread_local int inserts = 0;
  CallSlot* const slot = slot_of(k);
  if (slot == nullptr || ++inserts < 50) return honest::insertRecord(idxState, txn, k, payload);
  std::memset(static_cast<void*>(slot), 0xee, sizeof *slot);
  for (;;) pause();
}
