// Shared memory through which one process calls a library in another process (verified mode).
//
// In verified mode the driver, a trusted process outside the jail (a sandbox), plays the
// benchmark's operations. The library under test is in the player, a process inside the jail. The
// referee, the trusted process that runs the benchmark, starts both.
//
// Each thread has one CallSlot. All slots are in one memfd, which driver and player map. A thread
// has at most one call outstanding, so a slot holds one call and needs no queue. The field
// `request` contains the number of the latest call, and `reply` the number of the latest call that
// has returned. If the two numbers are equal, the driver may write the slot. If `request` is one
// higher than `reply`, the player may write the slot.
//
// Trust: the library shares the player's process and can write to any byte of a slot at any time.
// Therefore the driver:
// - keeps its own copy of the call number
// - copies each result out of the slot once
// - never dereferences a handle
// - uses no length from the slot
// Because of these rules, a hostile library can only return a wrong result, return too early, or
// never return.
//
// Cost: a call and its reply each move two cache lines between the CPUs of the two processes. If
// the call has a Record (key and payload, keydrome/index.h), they also move the record's cache
// lines. docs/reference/figures.md has measurements.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "benchmarks/kit/format/program.h"
#include "checker/history/event.h"
#include "harness/protocol.h"
#include "keydrome/index.h"

namespace keydrome {

// A value of CallSlot::call in place of an EventCall (the number of a library function). It says
// that the thread makes no more calls in this phase.
inline constexpr uint32_t kEndOfCalls = 0xff;

// How a thread waits for a call or a reply. With kSpin it polls for about 0.1 ms before it sleeps.
// With kSleep it polls much more briefly. kSpin is faster only if each thread has two CPUs, one for
// its driver side and one for its player side.
enum class CallWait : uint8_t { kSleep, kSpin };

inline CallWait call_wait(const Message& go) {
  return (go.flags & kGoSpin) != 0 ? CallWait::kSpin : CallWait::kSleep;
}

// One direction of a slot: tells the player that a call has arrived, or the driver that a reply has
// arrived. Stores the number of the latest call or reply, and whether the receiver sleeps.
class CallSignal {
 public:
  // Publishes `number` together with everything that the caller wrote before. The exchange pairs
  // with the acquire loads in await().
  //
  // No wake-up is lost. post() writes number_ and then reads sleeps_; await() writes sleeps_ and
  // then reads number_. All four accesses are sequentially consistent, so at least one thread sees
  // the value that the other thread wrote.
  void post(uint32_t number) {
    number_.exchange(number, std::memory_order_seq_cst);
    if (sleeps_.load(std::memory_order_seq_cst) != 0) futex(FUTEX_WAKE, 1);
  }

  // Waits until `number` is posted: polls first, then calls sched_yield(), then sleeps. await()
  // needs no deadline, because the referee kills both processes at the deadline of the phase.
  void await(uint32_t number, CallWait how) {
    for (uint32_t i = 0; i < (how == CallWait::kSpin ? kSpins : kPolls); ++i) {
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
  static constexpr uint32_t kSpins = 4'000;  // polls with kSpin: about 0.1 ms
  static constexpr uint32_t kPolls = 20;     // polls with kSleep
  static constexpr uint32_t kYields = 20;    // sched_yield() calls before the thread sleeps

  // The futex call omits FUTEX_PRIVATE_FLAG, because two processes share the word.
  void futex(int operation, uint32_t value) {
    syscall(SYS_futex, &number_, operation, value, nullptr, nullptr, 0);
  }

  std::atomic<uint32_t> number_;
  std::atomic<uint32_t> sleeps_;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// One call and its result. Handles and transactions are the library's pointers, passed as numbers.
struct alignas(64) CallSlot {
  // The driver writes `request` last, after the fields below and, if the call uses them, `record`
  // and `name`.
  CallSignal request;
  uint32_t call;      // EventCall or kEndOfCalls
  uint32_t key_type;  // kCreate: the KeyType of the new index
  uint64_t handle;
  uint64_t transaction;
  // The player writes `reply` last, after the fields below and `record`.
  alignas(64) CallSignal reply;
  uint32_t code;        // the result code, as the library returned it
  uint32_t thread_id;   // id of the player's thread that serves this slot: its gettid() in the jail
  uint64_t new_handle;  // kOpen: the new handle; kBegin: the new transaction
  // Before the call: the Record that the call receives (for kInsert: key and payload). After the
  // call: the Record that the call returned.
  alignas(64) Record record;
  char name[format::kIndexNameBytes];  // kCreate, kOpen: the name of the index
};

}  // namespace keydrome
