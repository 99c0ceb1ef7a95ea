// The CPU time and memory that a library used at the beginning of a session (one repetition of a
// benchmark): in loading, and in the untimed phases `create` that follow. A library receives no
// keys in these steps, but it could compute and allocate memory in advance, while no time is
// measured.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/referee/session/session_result.h"

namespace keydrome {

struct Setup {
  std::optional<uint64_t> cpu_us;
  std::optional<uint64_t> memory_bytes;  // growth since before loading
};

// The budget of CPU time for these steps. A library that exceeds this budget, or the memory budget
// (setup_memory_max()), fails. The libraries of this repository use some milliseconds and a few
// MiB.
inline constexpr uint64_t kSetupCpuUsMax = 2'000'000;

// Returns the memory budget in bytes: a quarter of the jail's limit, but at least 192 MiB.
uint64_t setup_memory_max(const SessionResult& result);

// Returns what loading and the phases `create` used. A value that the machine cannot measure is
// absent.
Setup setup_of(const SessionResult& result);

}  // namespace keydrome
