// What a library used before the first clock of its session: loading, and the untimed phases `create`
// that follow. These steps get no keys, but a library could compute and allocate in them.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/referee/session/session_result.h"

namespace keydrome {

struct Setup {
  std::optional<uint64_t> cpu_us;
  std::optional<uint64_t> memory_bytes;  // growth since before loading
};

// The budget. A library that exceeds it fails. The libraries of this repository use some
// milliseconds and a few MiB.
inline constexpr uint64_t kSetupCpuUsMax = 2'000'000;

// Returns the budget of memory in bytes: a quarter of the jail's limit, but at least 192 MiB.
uint64_t setup_memory_max(const SessionResult& result);

// A value that the machine cannot measure is absent.
Setup setup_of(const SessionResult& result);

}  // namespace keydrome
