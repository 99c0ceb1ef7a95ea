// Manifest and Parameters: benchmark.json as the harness and the generators see it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace keydrome {

using ParameterValues = std::map<std::string, int64_t, std::less<>>;

// The named integers of one session: an instance's scale plus overrides, all within their bounds.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(ParameterValues values) : values_(std::move(values)) {}

  // A parameter that the manifest declares (checked).
  int64_t operator[](std::string_view name) const;
  const ParameterValues& values() const { return values_; }

 private:
  ParameterValues values_;
};

struct ParameterBounds {
  std::string unit;
  std::string description;
  int64_t min = 0;
  int64_t max = 0;
};

struct InstanceManifest {
  std::string title;
  std::string description;
  bool advisory = false;  // whatever happens, a crash too, is a warning and never decides
  std::map<std::string, ParameterValues, std::less<>> scales;  // smoke, laptop, paper
};

// benchmarks/NAME/benchmark.json, checked: every instance has all three scales, every scale lists
// every parameter within its bounds, nothing is unknown.
struct Manifest {
  std::string name;
  uint32_t version = 0;
  std::string kind;  // "correctness" or "performance"
  std::string title;
  std::map<std::string, ParameterBounds, std::less<>> parameters;
  std::map<std::string, InstanceManifest, std::less<>> instances;
  std::map<std::string, ParameterValues, std::less<>>
      limits;  // by scale: phase_timeout_ms, memory_bytes, ...

  static Result<Manifest> parse(std::string_view json);

  // The parameters of an instance at a scale with some of them replaced. The error lists what there
  // is to choose from or names the bound that was passed.
  Result<Parameters> resolve(std::string_view instance, std::string_view scale,
                             const ParameterValues& overrides) const;
};

}  // namespace keydrome
