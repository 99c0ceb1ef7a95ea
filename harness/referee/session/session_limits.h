// Checks the wall time limit and the CPU time limit of a whole session (one repetition of a
// benchmark with one library).
//
// The jail (sandbox) enforces the same limits a little later (JailOptions). The referee, the
// process that runs the session, must act first, because it reports what the threads were doing
// (hang/hang.h); the jail would only kill them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace keydrome {

// Returns a time limit for a message: "8000 ms", or, from 10 s on, "135.0 s".
std::string limit_text(uint64_t ms);

class SessionLimits {
 public:
  // The wall time starts here. Create the object before the jail, so that the jail's limit passes
  // later.
  SessionLimits(uint64_t wall_ms, std::optional<uint64_t> cpu_seconds);

  // If a limit has passed at `now_ns`, returns the beginning of a sentence that names this limit.
  // Otherwise returns "". `jail` is the process id of the jail.
  std::string passed(pid_t jail, uint64_t now_ns);

  // Returns the time at which the wall time limit passes.
  uint64_t end_ns() const { return end_ns_; }

  // Returns the earliest time at which a limit can pass, computed by the last call of passed().
  uint64_t next_ns() const;

 private:
  const uint64_t wall_ms_;
  uint64_t end_ns_;
  std::optional<uint64_t> cpu_ns_;
  uint64_t cpu_check_ns_ = 0;  // before this time, even all CPUs together cannot reach cpu_ns_
};

}  // namespace keydrome
