// The resources that a jail (the sandbox of the library under test) has used so far. The jail
// program reports them over a socket to the referee, the process that runs the benchmark. The jail
// program reads the values from its cgroups and performance counters (jail/command.h). A value that
// the machine cannot measure is absent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "jail/command.h"

namespace keydrome {

// Counter values, indexed by keydrome_jail_counter.
using JailCounters = std::array<std::optional<uint64_t>, KEYDROME_JAIL_COUNTERS>;

struct JailUsage {
  std::optional<uint64_t> cpu_us;
  std::optional<uint64_t> cpu_before_us;  // CPU time before the jail executed the command
  std::optional<uint64_t> memory_bytes;   // charged to the jail at present
  JailCounters counters;
};

// Returns the growth of a total. Returns nothing if a value is absent or the total shrank.
inline std::optional<uint64_t> growth(std::optional<uint64_t> before,
                                      std::optional<uint64_t> after) {
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

// Returns the growth of memory. Memory may shrink; this counts as a growth of 0.
inline std::optional<uint64_t> memory_growth(std::optional<uint64_t> before,
                                             std::optional<uint64_t> after) {
  if (!before || !after) return std::nullopt;
  return growth(before, after).value_or(0);
}

}  // namespace keydrome
