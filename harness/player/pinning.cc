// Implements Cpus, which binds threads to one CPU each: reads and sets the CPUs of a thread with
// sched_getaffinity() and sched_setaffinity(), which the jail (sandbox) allows.
#include "harness/player/pinning.h"

namespace keydrome {

Cpus::Cpus() {
  CPU_ZERO(&all_);
  if (sched_getaffinity(0, sizeof all_, &all_) != 0) {
    error_ = errno;
    return;
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all_)) numbers_.push_back(cpu);
  }
}

bool Cpus::bind(uint32_t thread) const {
  if (numbers_.empty()) {
    errno = error_;
    return false;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(numbers_[thread % numbers_.size()], &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

void Cpus::release() const {
  if (!numbers_.empty()) sched_setaffinity(0, sizeof all_, &all_);
}

}  // namespace keydrome
