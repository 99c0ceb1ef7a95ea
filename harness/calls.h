// Calls that cross processes, for verified mode: the driver asks, the library's side answers.
//
// Each thread has one CallSlot, and all slots lie in one memfd that both sides map. The contract is
// synchronous, so a thread has one call outstanding and its ring one place. `asked` and `answered`
// hold call numbers: equal, the slot is the driver's; `asked` one ahead, it is the library's.
//
// Trust: the library's process can write to every byte here at any time. The driver keeps the
// number of its call to itself, copies an answer out once, and neither reads through a handle nor
// believes a length; so a library can answer wrongly, early or never, and nothing else.
//
// Cost: two cache-line transfers each way and the record's; docs/reference/figures.md has numbers.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "benchmarks/kit/program.h"
#include "checker/event.h"
#include "harness/protocol.h"
#include "keydrome/index.h"

namespace keydrome {

// Instead of an EventCall: the driver's thread has no more calls in this phase.
inline constexpr uint32_t kLeaveCall = 0xff;

// Whether a thread that waits may keep a processor busy: each side of each thread needs one of its
// own for that.
enum class CallWait : uint8_t { kSleep, kSpin };

inline CallWait call_wait(const Message& go) {
  return (go.flags & kGoSpin) != 0 ? CallWait::kSpin : CallWait::kSleep;
}

// One direction of a slot: the number of the newest message, and whether its receiver sleeps.
class CallSignal {
 public:
  // What was written before is seen by the one that await() lets go on: the exchange is the release
  // partner of its acquire. It is also ordered before the look at `sleeps_`, as the receiver's
  // store there is before its last look at the number, so a wake-up is never lost.
  void post(uint32_t number) {
    number_.exchange(number, std::memory_order_seq_cst);
    if (sleeps_.load(std::memory_order_seq_cst) != 0) futex(FUTEX_WAKE, 1);
  }

  // Waits until that number was posted; for ever, if need be: deadlines are the referee's.
  void await(uint32_t number, CallWait how) {
    for (uint32_t i = 0; i < (how == CallWait::kSpin ? kSpins : kLooks); ++i) {
      if (number_.load(std::memory_order_acquire) == number) return;
      __builtin_ia32_pause();
    }
    for (uint32_t i = 0; i < kYields; ++i) {
      sched_yield();
      if (number_.load(std::memory_order_acquire) == number) return;
    }
    sleeps_.store(1, std::memory_order_seq_cst);
    for (uint32_t seen = 0; (seen = number_.load(std::memory_order_seq_cst)) != number;) {
      futex(FUTEX_WAIT, seen);
    }
    sleeps_.store(0, std::memory_order_relaxed);
  }

  uint32_t number() const { return number_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kSpins = 4'000;  // some 0.1 ms
  static constexpr uint32_t kLooks = 20;
  static constexpr uint32_t kYields = 20;

  // Shared between processes, so not FUTEX_PRIVATE.
  void futex(int operation, uint32_t value) {
    syscall(SYS_futex, &number_, operation, value, nullptr, nullptr, 0);
  }

  std::atomic<uint32_t> number_;
  std::atomic<uint32_t> sleeps_;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// Handles and transactions are the library's pointers as numbers.
struct alignas(64) CallSlot {
  // Written by the driver, with `record` and `name` where the call has them.
  CallSignal asked;
  uint32_t call;      // EventCall or kLeaveCall
  uint32_t key_type;  // kCreate: KeyType
  uint64_t handle;
  uint64_t transaction;
  // Written by the library's side, with `record`.
  alignas(64) CallSignal answered;
  uint32_t code;       // as returned
  uint32_t thread_id;  // gettid() of the thread that answers, in the jail
  uint64_t made;       // kOpen: the handle; kBegin: the transaction
  // What the call passes, and what the library made of it. kInsert: its key and payload.
  alignas(64) Record record;
  char name[kIndexNameBytes];  // kCreate, kOpen
};

}  // namespace keydrome
