// Implements SessionLimits: checks the wall time of a session (one repetition of a benchmark) and
// the CPU time of the player, the jailed process. The CPU time is read less often while it is far
// from its limit.
#include "harness/referee/session/session_limits.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "harness/referee/hang/thread_facts.h"
#include "harness/referee/session/thread_times.h"

namespace keydrome {
namespace {

constexpr uint64_t kSecondNs = 1000 * kNsPerMs;
// Shortest interval between two reads of the CPU time.
constexpr uint64_t kCpuCheckNs = 5 * kNsPerMs;

uint64_t cpu_count() {
  return static_cast<uint64_t>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

std::string limit_text(uint64_t ms) {
  if (ms < 10'000) return std::to_string(ms) + " ms";
  return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s";
}

SessionLimits::SessionLimits(uint64_t wall_ms, std::optional<uint64_t> cpu_seconds)
    : wall_ms_(wall_ms), end_ns_(now_ns() + wall_ms * kNsPerMs) {
  if (cpu_seconds) cpu_ns_ = *cpu_seconds * kSecondNs;
}

std::string SessionLimits::passed(pid_t jail, uint64_t now_ns) {
  if (now_ns >= end_ns_) {
    return "the whole session reached its time limit of " + limit_text(wall_ms_);
  }
  if (!cpu_ns_ || now_ns < cpu_check_ns_) return {};
  const pid_t program = program_of(jail);
  // The jail (sandbox) prevents the player from starting other processes, so this is the CPU time
  // of all threads of the library.
  const uint64_t used_ns = program == 0 ? 0 : process_cpu_ns(program);
  if (used_ns >= *cpu_ns_) {
    return "the library's process reached its limit of " + std::to_string(*cpu_ns_ / kSecondNs) +
           " s of CPU time (jail.cpu_seconds)";
  }
  cpu_check_ns_ = now_ns + std::max(kCpuCheckNs, (*cpu_ns_ - used_ns) / cpu_count());
  return {};
}

uint64_t SessionLimits::next_ns() const {
  return cpu_ns_ ? std::min(end_ns_, cpu_check_ns_) : end_ns_;
}

}  // namespace keydrome
