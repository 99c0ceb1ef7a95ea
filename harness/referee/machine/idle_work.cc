// Implements idle_work.h, which does work of the referee (this process) while other processes work:
// starts the thread for the work, and changes the priority of this thread.
#include "harness/referee/machine/idle_work.h"

#include <pthread.h>
#include <sched.h>

#include <system_error>
#include <utility>

namespace keydrome {

// If the system refuses to start a thread, finish() does the work.
void IdleWork::start() {
  if (!work_ || std::exchange(started_, true)) return;
  try {
    thread_ = std::thread([this] {
      priority_set_.wait();
      try {
        work_();
      } catch (...) {
        failure_ = std::current_exception();
      }
      done_ = true;
    });
  } catch (const std::system_error&) {  // finish() does the work
    return;
  }
  // If the kernel refuses the low priority, the work runs at ordinary priority, and still ends
  // before finish() returns.
  const sched_param parameters{};
  (void)pthread_setschedparam(thread_.native_handle(), SCHED_IDLE, &parameters);
  priority_set_.count_down();
}

IdleWork::~IdleWork() { join(); }

void IdleWork::finish() {
  join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (started_ && !done_) work_();
  done_ = started_;
}

// Gives the thread ordinary priority first, because only such a thread is sure to end soon on a
// busy machine.
void IdleWork::join() {
  if (!thread_.joinable()) return;
  const sched_param parameters{};
  (void)pthread_setschedparam(thread_.native_handle(), SCHED_OTHER, &parameters);
  thread_.join();
}

}  // namespace keydrome
