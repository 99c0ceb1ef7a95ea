// Reads the manifest of a benchmark (benchmark.json) and resolves the parameters of a session.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace keydrome::workload {

using ParameterValues = std::map<std::string, int64_t, std::less<>>;

// The parameters of one session. An instance is a benchmark with values for all parameters. The
// session takes the values of its instance at a scale (smoke, laptop or paper), and the user may
// override them. All values are within the bounds of the manifest.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(ParameterValues values) : values_(std::move(values)) {}

  // Returns the value of a parameter. REQUIRES (checked): the manifest declares the parameter.
  int64_t operator[](std::string_view name) const;
  // Return the value as an unsigned number. REQUIRES (checked): the value fits into this type. The
  // bounds in the manifest ensure this.
  uint32_t u32(std::string_view name) const;
  uint64_t u64(std::string_view name) const;
  // Returns the value for an estimate, in which products may exceed 64 bits.
  double number(std::string_view name) const;
  const ParameterValues& values() const { return values_; }

 private:
  ParameterValues values_;
};

// What the manifest says about one parameter.
struct ParameterBounds {
  std::string unit;
  std::string description;
  int64_t min = 0;
  int64_t max = 0;
};

// What the manifest says about one instance.
struct InstanceManifest {
  std::string title;
  std::string description;
  std::string keys;       // type of the keys that a file may replace: int64 or varchar; empty: none
  bool trace = false;     // true: plays the recorded trace of a user, if there is one
  bool advisory = false;  // true: findings are warnings, except a crash or hang in legal calls
  std::map<std::string, ParameterValues, std::less<>> scales;  // by scale: smoke, laptop, paper
};

// The checked contents of benchmarks/NAME/benchmark.json. Every instance has all three scales,
// every scale has every parameter within its bounds, and there are no unknown members.
struct Manifest {
  std::string name;
  uint32_t version = 0;
  std::string kind;  // "correctness" or "performance"
  std::string title;
  std::map<std::string, ParameterBounds, std::less<>> parameters;
  std::map<std::string, InstanceManifest, std::less<>> instances;
  // The limits of each scale: phase_timeout_ms, memory_bytes, tmpfs_bytes and, if the manifest
  // gives it, session_timeout_ms.
  std::map<std::string, ParameterValues, std::less<>> limits;

  // Parses and checks the text of a benchmark.json. The error names the file and the wrong member.
  static Result<Manifest> parse(std::string_view json);

  // Returns the parameters of an instance at a scale, with overrides. The error names the possible
  // choices or the violated bound.
  Result<Parameters> resolve(std::string_view instance, std::string_view scale,
                             const ParameterValues& overrides) const;
};

}  // namespace keydrome::workload
