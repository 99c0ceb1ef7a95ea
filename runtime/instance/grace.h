// Grace periods: a thread-safe structure *retires* memory that it no longer uses, but that other
// threads may still read. The memory is freed only after the end of every call that ran when it was
// retired. Only calls without a latch need this. With a latch, no other call runs while a structure
// retires memory, so the memory is freed at once (heap.h).
//
//   GracePeriods periods;
//   CallSlot slot(periods);      // one per thread
//   {
//     const LatchlessCall call(slot);
//     store.put(key, payload);   // what put() retires goes into the slot's list
//   }                            // frees the list when its grace period is over
//
// A slot counts the beginnings and ends of its thread's calls, so the count is odd during a call.
// When the list of a thread has kBatch blocks of memory, the thread ends its call and then notes
// the slots with odd counts. The grace period is over when each of these counts has changed. So a
// thread that makes no call delays no reclamation, and a call writes only to the cache line of its
// own slot.
//
// Other threads must see the beginning of a call before the call reads. A memory barrier in each
// call would ensure this, but costs more than a get of a small index. So the thread that begins a
// grace period instead makes all other threads execute a barrier, by the system call membarrier.
// Where the system has no such call, each call executes a barrier.
//
// Memory is bounded: if the list of a thread has kMost blocks, the thread waits, outside of its
// call, until its previous grace period is over. This wait ends, because functions of structures
// never block.
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
  // Who executes the barrier between the beginning of a call and its reads.
  enum class Barrier : uint8_t { kOnDemand, kInEachCall };

  explicit GracePeriods(Barrier barrier = cheapest_barrier()) : barrier_(barrier) {}
  GracePeriods(const GracePeriods&) = delete;
  GracePeriods& operator=(const GracePeriods&) = delete;

  // Returns kOnDemand if the system has membarrier, and prepares this process for it.
  static Barrier cheapest_barrier();

 private:
  friend class CallSlot;

  const Barrier barrier_;
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

  // If the calling thread is in a LatchlessCall, keeps the block until its grace period is over,
  // and returns true. If there is no memory to note the block, it stays allocated for ever. Returns
  // false outside of a LatchlessCall: the caller may free the block at once.
  static bool keep(Heap& heap, void* memory, size_t size, size_t alignment) noexcept;

 private:
  friend class LatchlessCall;
  friend class LatchlessRead;
  struct Retired {
    Heap* heap;
    void* memory;
    size_t size, alignment;
  };
  struct Awaited {
    const CallSlot* slot;
    uint64_t calls;
  };

  uint64_t begin();
  void end(uint64_t calls);
  void reclaim();
  bool is_over();
  void begin_period();
  static void free(std::vector<Retired>& blocks);

  // The slot of the LatchlessCall that runs on this thread. runtime.cc explains the TLS model.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local CallSlot* t_current;

  // Odd during a call. With kInEachCall, other threads read it with a read-modify-write, see
  // begin_period().
  mutable std::atomic<uint64_t> calls_ = 0;
  const bool barrier_in_each_call_;
  GracePeriods& periods_;
  std::vector<Retired> filling_;  // retired since the last grace period began
  std::vector<Retired> waiting_;  // freed when the grace period is over
  std::vector<Awaited> awaited_;  // the calls that the grace period waits for
};

// The store of the count must come before this thread's reads of the structure (see
// begin_period()). The fence prevents the compiler from reordering them, and membarrier prevents
// the processor. With kInEachCall, the exchange is itself a full barrier, which costs about 8 ns.
inline uint64_t CallSlot::begin() {
  const uint64_t calls = calls_.load(std::memory_order_relaxed) + 1;
  if (barrier_in_each_call_) [[unlikely]] {
    calls_.exchange(calls, std::memory_order_acq_rel);
    return calls;
  }
  calls_.store(calls, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return calls;
}

// The release pairs with the reads in begin_period() and is_over(): the reads of this call come
// before memory is freed.
inline void CallSlot::end(uint64_t calls) { calls_.store(calls + 1, std::memory_order_release); }

// A call without a latch. Calls must not be nested.
class LatchlessCall {
 public:
  explicit LatchlessCall(CallSlot& slot) : slot_(slot), calls_(slot.begin()) {
    CallSlot::t_current = &slot;
  }
  LatchlessCall(const LatchlessCall&) = delete;
  LatchlessCall& operator=(const LatchlessCall&) = delete;
  ~LatchlessCall() {
    slot_.end(calls_);
    CallSlot::t_current = nullptr;
    if (slot_.filling_.size() >= CallSlot::kBatch) [[unlikely]] {
      slot_.reclaim();
    }
  }

 private:
  CallSlot& slot_;
  const uint64_t calls_;
};

// Like LatchlessCall, for calls that only read. Such calls retire no memory that other threads may
// use (structure.h), so this class has less to do.
class LatchlessRead {
 public:
  explicit LatchlessRead(CallSlot& slot) : slot_(slot), calls_(slot.begin()) {}
  LatchlessRead(const LatchlessRead&) = delete;
  LatchlessRead& operator=(const LatchlessRead&) = delete;
  ~LatchlessRead() { slot_.end(calls_); }

 private:
  CallSlot& slot_;
  const uint64_t calls_;
};

}  // namespace keydrome::runtime
