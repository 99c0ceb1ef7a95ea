// Grace periods: memory that a thread-safe structure retires is freed only after every call has
// ended that ran at that time. Only calls without a latch need this; with a latch, no other call
// runs while a structure retires memory, and it is freed at once (heap.h).
//
//   GracePeriods periods;
//   CallSlot slot(periods);      // one per thread
//   {
//     const LatchlessCall call(slot);
//     store.put(key, payload);   // what this retires goes into the slot's list
//   }                            // frees the list when its grace period is over
//
// A slot counts the begins and ends of its thread's calls; the count is odd during a call. When the
// list of a thread is full, the thread notes the slots with odd counts, after its call. The grace
// period is over when each of these counts has changed. So a thread that makes no call delays
// no reclamation, and a call writes only to the cache line of its own slot.
//
// Memory is bounded: a thread whose list has kMost blocks waits, outside of its call, until the
// grace period of the list before is over. Functions of structures never block, so this ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cache_line.h"
#include "base/thread_annotations.h"

namespace keydrome::runtime {

class Heap;
class CallSlot;

// Knows all slots. Any thread may call any function.
class GracePeriods {
 public:
  GracePeriods() = default;
  GracePeriods(const GracePeriods&) = delete;
  GracePeriods& operator=(const GracePeriods&) = delete;

 private:
  friend class CallSlot;

  Mutex mutex_;
  std::vector<CallSlot*> slots_ KEYDROME_GUARDED_BY(mutex_);
};

// The calls of one thread and the memory that they have retired. Only this thread calls the
// functions.
class alignas(kCacheLine) CallSlot {
 public:
  // A thread begins a grace period when its list has kBatch blocks.
  static constexpr size_t kBatch = 64;
  static constexpr size_t kMost = 64 * kBatch;

  // The grace periods must outlive the slot. Throws std::bad_alloc.
  explicit CallSlot(GracePeriods& periods);
  CallSlot(const CallSlot&) = delete;
  CallSlot& operator=(const CallSlot&) = delete;
  // Frees everything. Precondition: no call runs in any thread.
  ~CallSlot();

  // If the calling thread is in a LatchlessCall, keeps the block until its grace period is over, and
  // returns true. If memory runs out, the block stays allocated for ever.
  static bool keep(Heap& heap, void* memory, size_t size, size_t alignment) noexcept;

 private:
  friend class LatchlessCall;
  struct Retired {
    Heap* heap;
    void* memory;
    size_t size, alignment;
  };
  struct Awaited {
    const CallSlot* slot;
    uint64_t calls;
  };

  void begin();
  void end();
  void reclaim();
  bool is_over();
  void begin_period();
  static void free(std::vector<Retired>& blocks);

  static thread_local CallSlot* t_current;  // the slot of the call that runs on this thread

  // Odd during a call. Other threads read it with a read-modify-write, see begin_period().
  mutable std::atomic<uint64_t> calls_ = 0;
  GracePeriods& periods_;
  std::vector<Retired> filling_;  // retired since the last grace period began
  std::vector<Retired> waiting_;  // freed when the grace period is over
  std::vector<Awaited> awaited_;  // the calls that the grace period waits for
};

// A call without a latch. It must not contain another one.
class LatchlessCall {
 public:
  explicit LatchlessCall(CallSlot& slot) : slot_(slot) { slot_.begin(); }
  LatchlessCall(const LatchlessCall&) = delete;
  LatchlessCall& operator=(const LatchlessCall&) = delete;
  ~LatchlessCall() { slot_.end(); }

 private:
  CallSlot& slot_;
};

// The count orders this thread's reads of the structure after the begin of its call for all other
// threads, see begin_period(). The exchange is a full barrier and costs about 8 ns.
inline void CallSlot::begin() {
  t_current = this;
  calls_.exchange(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_acq_rel);
}

// The release pairs with the read in is_over(): the call's reads come before the memory is freed.
inline void CallSlot::end() {
  calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  t_current = nullptr;
  if (filling_.size() >= kBatch) [[unlikely]] {
    reclaim();
  }
}

}  // namespace keydrome::runtime
