// Fault, in verified mode only: spoils the slot over which its calls come (harness/calls.h):
// numbers of calls, handle, code and record, and never answers again. Elsewhere it works honestly.
// Must be found by: the phase deadline; and the driver must survive it.
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "harness/calls.h"
#include "tests/faulty/honest.h"

namespace {

using keydrome::CallSlot;

// The slot around that key, if the key lies in one.
CallSlot* slot_of(Key* key) {
  auto* slot =
      reinterpret_cast<CallSlot*>(reinterpret_cast<std::byte*>(key) - offsetof(CallSlot, record));
  const bool aligned = reinterpret_cast<uintptr_t>(slot) % alignof(CallSlot) == 0;
  const bool called = slot->call == static_cast<uint32_t>(keydrome::EventCall::kInsert);
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
