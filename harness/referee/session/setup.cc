// Implements setup.h: adds up the CPU time and memory that loading the library and the untimed
// phases `create` used.
#include "harness/referee/session/setup.h"

#include <algorithm>

namespace keydrome {

uint64_t setup_memory_max(const SessionResult& result) {
  // Some entries of the SIGMOD 2009 contest have 128 MiB of static data, which the budget must
  // allow.
  constexpr uint64_t kLeastBytes = uint64_t{192} << 20;
  return std::max(kLeastBytes, result.memory_limit_bytes / 4);
}

Setup setup_of(const SessionResult& result) {
  Setup setup{result.loading.cpu_us, result.loading.memory_bytes};
  for (const PhaseResult& phase : result.phases) {
    if (phase.timed || phase.name != "create") break;
    setup.cpu_us =
        setup.cpu_us && phase.cpu_us ? std::optional(*setup.cpu_us + *phase.cpu_us) : std::nullopt;
    setup.memory_bytes = memory_growth(result.memory_before_loading_bytes, phase.memory_bytes);
  }
  return setup;
}

}  // namespace keydrome
