// Implements in_parallel(): the threads take the next part from a shared counter.
#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace keydrome {
namespace {

// Other programs need CPUs too, such as other runs of benchmarks on a large machine.
constexpr std::size_t kThreadsMax = 4;

std::size_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

}  // namespace

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& part) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(count);  // the thread that runs part i writes element i
  const auto work = [&] {
    // relaxed: the parts share nothing, and joining a thread publishes what it has written.
    for (std::size_t i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        part(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;  // the destructor joins them
    // A thread with the scheduling policy SCHED_IDLE runs only on idle CPUs. If the result becomes
    // urgent, another thread gives an ordinary policy to the caller of in_parallel()
    // (harness/referee/machine/idle_work.h). Threads that in_parallel() had started would keep
    // SCHED_IDLE. So in_parallel() starts no thread for a caller with this policy.
    const bool idle = sched_getscheduler(0) == SCHED_IDLE;
    const std::size_t wanted = idle ? 1 : std::min({count, kThreadsMax, usable_cpus()});
    threads.reserve(wanted);
    try {
      while (threads.size() + 1 < wanted) threads.emplace_back(work);
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the others are enough
    }
    work();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace keydrome
