// Implements idle_work.h: starts the thread, and changes its priority.
#include "harness/referee/session/idle_work.h"

#include <pthread.h>
#include <sched.h>

#include <system_error>
#include <utility>

namespace keydrome {

IdleWork::IdleWork(std::function<void()> work) : work_(std::move(work)) {
  try {
    thread_ = std::thread([this] {
      const sched_param parameters{};
      // If the kernel refuses, the work still ends before the next timed phase begins.
      (void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &parameters);
      try {
        work_();
      } catch (...) {
        failure_ = std::current_exception();
      }
      done_ = true;
    });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): finish() does the work
  }
}

IdleWork::~IdleWork() { join(); }

void IdleWork::finish() {
  join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (!done_) work_();
  done_ = true;
}

// Only a thread of ordinary priority is sure to end soon on a busy machine.
void IdleWork::join() {
  if (!thread_.joinable()) return;
  const sched_param parameters{};
  (void)pthread_setschedparam(thread_.native_handle(), SCHED_OTHER, &parameters);
  thread_.join();
}

}  // namespace keydrome
