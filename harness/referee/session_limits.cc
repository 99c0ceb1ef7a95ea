#include "harness/referee/session_limits.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "harness/referee/thread_facts.h"

namespace keydrome {
namespace {

constexpr uint64_t kSecondNs = 1000 * kNsPerMs;
// A limit that is nearly reached is looked at no more often than that.
constexpr uint64_t kCpuLookNs = 5 * kNsPerMs;

uint64_t processors() {
  return static_cast<uint64_t>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
}

// Of all threads of the jail's program, those that have ended included; it can start no process.
uint64_t cpu_time_ns(pid_t jail) {
  const pid_t program = program_of(jail);
  clockid_t clock{};
  timespec time{};
  if (program == 0 || clock_getcpuclockid(program, &clock) != 0) return 0;
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * kSecondNs + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

uint64_t jail_spare_cpu_seconds() { return kJailSpareMs / 1000 * processors(); }

SessionLimits::SessionLimits(uint64_t wall_ms, std::optional<uint64_t> cpu_seconds)
    : end_ns_(now_ns() + wall_ms * kNsPerMs) {
  if (cpu_seconds) cpu_ns_ = *cpu_seconds * kSecondNs;
}

std::string_view SessionLimits::passed(pid_t jail, uint64_t now_ns) {
  if (now_ns >= end_ns_) return "the time limit of the whole session was reached";
  if (!cpu_ns_ || now_ns < cpu_look_ns_) return {};
  const uint64_t used_ns = cpu_time_ns(jail);
  if (used_ns >= *cpu_ns_) return "the CPU time limit was reached";
  cpu_look_ns_ = now_ns + std::max(kCpuLookNs, (*cpu_ns_ - used_ns) / processors());
  return {};
}

uint64_t SessionLimits::next_ns() const {
  return cpu_ns_ ? std::min(end_ns_, cpu_look_ns_) : end_ns_;
}

}  // namespace keydrome
