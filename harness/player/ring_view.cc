// Implements RingView: waits with a futex until the next piece (portion) of a thread's operations
// is in the ring. The ring is the memory into which the referee, the process that runs the
// benchmark, copies the pieces.
#include "harness/player/ring_view.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace keydrome {

bool RingView::has(uint32_t thread, uint32_t number) const {
  return header().thread[thread].filled.load(std::memory_order_relaxed) > number;
}

// The acquire loads pair with the release store of InputRing::publish(). So this thread sees the
// piece that the referee stored before it incremented `filled`. The ring is mapped read-only, but
// waiting for a futex needs no write access.
std::span<const std::byte> RingView::await(uint32_t thread, uint32_t number) const {
  const RingThread& from = header().thread[thread];
  for (uint32_t filled = from.filled.load(std::memory_order_acquire); filled <= number;
       filled = from.filled.load(std::memory_order_acquire)) {
    syscall(SYS_futex, &from.filled, FUTEX_WAIT, filled, nullptr, nullptr, 0);
  }
  return ring_.subspan(from.half_offset[number % 2], from.half_bytes);
}

}  // namespace keydrome
