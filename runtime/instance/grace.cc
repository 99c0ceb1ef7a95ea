// Implements grace periods (grace.h): memory that a structure has retired is freed when every call
// that may still read it has ended.
#include "runtime/instance/grace.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <thread>

#include "base/check.h"
#include "runtime/instance/heap.h"

namespace keydrome::runtime {

constinit thread_local CallSlot* CallSlot::t_current = nullptr;

namespace {

// Returns true if the command succeeded.
bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

GracePeriods::Barrier GracePeriods::cheapest_barrier() {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return registered ? Barrier::kOnDemand : Barrier::kInEachCall;
}

CallSlot::CallSlot(GracePeriods& periods)
    : barrier_in_each_call_(periods.barrier_ == GracePeriods::Barrier::kInEachCall),
      periods_(periods) {
  const MutexLock guard(periods_.mutex_);
  periods_.slots_.push_back(this);
}

CallSlot::~CallSlot() {
  free(waiting_);
  free(filling_);
  const MutexLock guard(periods_.mutex_);
  std::erase(periods_.slots_, this);
}

bool CallSlot::keep(Heap& heap, void* memory, size_t size, size_t alignment) noexcept {
  if (t_current == nullptr) return false;
  try {
    t_current->filling_.push_back({&heap, memory, size, alignment});
    // NOLINTNEXTLINE(bugprone-empty-catch): no memory to note the block, so it is never freed
  } catch (const std::bad_alloc&) {
  }
  return true;
}

// Precondition: this thread is not in a call.
void CallSlot::reclaim() {
  while (!is_over()) {
    if (filling_.size() < kMost) return;
    std::this_thread::yield();
  }
  free(waiting_);
  try {
    begin_period();
  } catch (const std::bad_alloc&) {
    awaited_.clear();  // the blocks stay in filling_, and a later call tries again
  }
}

// Returns true if no awaited call runs any more.
bool CallSlot::is_over() {
  std::erase_if(awaited_, [](const Awaited& awaited) {
    return awaited.slot->calls_.load(std::memory_order_acquire) != awaited.calls;
  });
  return awaited_.empty();
}

// Notes all calls that run now. The system call membarrier makes each other thread execute a
// barrier. There are two cases. If another thread's call began before this barrier, the count of
// that thread's slot is odd here, and this thread waits for the call. If the call begins later, its
// reads come after the barrier. The call then sees everything that this thread did before, so it no
// longer finds the retired blocks in the structure. The acquire load in is_over() pairs with the
// release in end(): reads of a call that is over come before the memory is freed.
//
// Without membarrier, the read of a count is a read-modify-write, and the same two cases follow
// from its order with the exchange in begin().
void CallSlot::begin_period() {
  const MutexLock guard(periods_.mutex_);
  awaited_.reserve(periods_.slots_.size());
  if (!barrier_in_each_call_) KEYDROME_CHECK(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
  for (const CallSlot* slot : periods_.slots_) {
    const uint64_t calls = barrier_in_each_call_
                               ? slot->calls_.fetch_add(0, std::memory_order_acq_rel)
                               : slot->calls_.load(std::memory_order_acquire);
    if (calls % 2 == 1) awaited_.push_back({slot, calls});
  }
  waiting_.swap(filling_);
}

void CallSlot::free(std::vector<Retired>& blocks) {
  for (const Retired& block : blocks) block.heap->free(block.memory, block.size, block.alignment);
  blocks.clear();
}

}  // namespace keydrome::runtime
