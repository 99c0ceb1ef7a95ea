// Implements fit_memory(): adds up the need of a session and searches for the parameter to lower.
#include "harness/referee/session/memory_fit.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace keydrome {
namespace {

// Estimates that exceed this number of bytes fit no machine. The bound keeps sums within 64 bits.
constexpr double kBytesMax = 1e18;

uint64_t whole_bytes(double bytes) { return static_cast<uint64_t>(std::min(bytes, kBytesMax)); }

std::string gib(uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text.data();
}

// A parameter that makes the session fit if it is lowered to `value`.
struct Remedy {
  std::string parameter;
  int64_t value = 0;
  double kept = 0;  // the new value divided by the present one
};

// Returns the largest value of a parameter between `least` and `present` with which `fits` is true,
// or nothing if even `least` does not fit. The need grows with the value, so a binary search finds
// it.
template <typename Fits>
std::optional<int64_t> largest_fitting(int64_t least, int64_t present, const Fits& fits) {
  int64_t low = least, high = present;  // fits(low) is true, fits(high) is false
  if (present <= low || !fits(low)) return std::nullopt;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// Returns the parameter that has to be lowered least. If no parameter alone helps, the name is "".
template <typename Fits>
Remedy best_remedy(const workload::Manifest& manifest, const workload::ParameterValues& values,
                   const Fits& fits) {
  Remedy best;
  for (const auto& [name, present] : values) {
    const int64_t least = manifest.parameters.find(name)->second.min;
    const auto value = largest_fitting(least, present, [&](int64_t candidate) {
      workload::ParameterValues changed = values;
      changed[name] = candidate;
      return fits(workload::Parameters(std::move(changed)));
    });
    if (!value) continue;
    const double kept = static_cast<double>(*value) / static_cast<double>(present);
    if (kept > best.kept) best = {.parameter = name, .value = *value, .kept = kept};
  }
  return best;
}

}  // namespace

MemoryNeed memory_need(const workload::Workload& workload, const workload::Parameters& parameters,
                       uint64_t least_bytes, uint64_t limit_bytes) {
  const workload::Demand demand = workload.demand(parameters);
  const uint64_t computed = std::max(least_bytes, whole_bytes(demand.library_bytes()));
  return {.referee_bytes = whole_bytes(demand.referee_bytes()),
          .library_bytes = limit_bytes > 0 ? limit_bytes : computed};
}

Result<MemoryNeed> fit_memory(const workload::Workload& workload,
                              const workload::Manifest& manifest,
                              const workload::Parameters& parameters, uint64_t least_bytes,
                              uint64_t limit_bytes, uint64_t machine_bytes) {
  const MemoryNeed need = memory_need(workload, parameters, least_bytes, limit_bytes);
  const uint64_t allowed = machine_bytes / 100 * kMemoryPercentMax;
  const auto fits = [&](const workload::Parameters& candidate) {
    return memory_need(workload, candidate, least_bytes, limit_bytes).least() <= allowed;
  };
  if (machine_bytes == 0 || need.least() <= allowed) return need;
  const Remedy remedy = best_remedy(manifest, parameters.values(), fits);
  const std::string advice =
      !remedy.parameter.empty()
          ? "lower " + remedy.parameter + " to " + std::to_string(remedy.value) + " or less"
      : limit_bytes > 0 ? "lower the library's memory limit"
                        : "choose a smaller scale";
  return Error{"the session needs up to " + gib(need.total()) + " of memory (library " +
               gib(need.library_bytes) + ", referee " + gib(need.referee_bytes) +
               "), but may use only " + gib(allowed) + " here, " +
               std::to_string(kMemoryPercentMax) + " % of the machine's memory: " + advice};
}

}  // namespace keydrome
