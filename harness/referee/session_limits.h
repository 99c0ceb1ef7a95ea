// What a session may take as a whole: wall time and CPU time.
//
// The jail knows both limits too, but each is so much later there that the referee comes first
// whenever it is alive: of what it ends itself it can still say where the threads stood
// (hang.h), and what the jail ends is gone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace keydrome {

// By how much the jail's wall time is longer. Beyond anything that the referee does between two
// looks at the limits, such as building a round, and beyond the second that looking at threads
// takes.
inline constexpr uint64_t kJailSpareMs = 60'000;

// By how much its CPU time is longer, so that no number of threads uses it up in kJailSpareMs.
uint64_t jail_spare_cpu_seconds();

class SessionLimits {
 public:
  // Time counts from here on. Before the jail is started, so that the jail's time ends later.
  SessionLimits(uint64_t wall_ms, std::optional<uint64_t> cpu_seconds);

  // The limit that has passed at `now_ns`, in words; empty: none. `jail` is its process.
  std::string_view passed(pid_t jail, uint64_t now_ns);

  // The earliest time at which a limit can pass, as of the last passed().
  uint64_t next_ns() const;

 private:
  uint64_t end_ns_;
  std::optional<uint64_t> cpu_ns_;
  uint64_t cpu_look_ns_ = 0;  // while no processor of the machine can have used the limit up
};

}  // namespace keydrome
