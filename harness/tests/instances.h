// All instances of all benchmarks, for tests that play no benchmark.
#pragma once

#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::testing {

// One instance of a benchmark (a named set of parameter values). The workload is the code that
// estimates the memory of a session (one repetition of a benchmark) and generates its operations.
// The manifest describes the benchmark.
struct Instance {
  std::string name;  // of the benchmark and of the instance, with a blank in between
  workload::Manifest manifest;
  std::string scale_of;  // the instance's name in the manifest
  std::unique_ptr<workload::Workload> workload;
};

inline std::vector<Instance> all_instances() {
  std::vector<Instance> all;
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const workload::Manifest manifest = workload::Manifest::parse(entry.manifest_json).value();
    for (const auto& [name, unused] : manifest.instances) {
      all.push_back({.name = std::string(entry.name) + " " + name,
                     .manifest = manifest,
                     .scale_of = name,
                     .workload = entry.make(name)});
    }
  }
  return all;
}

// `refusal` is an error message that refuses a session. If it tells the user to lower a parameter,
// lowers this parameter and returns true. Otherwise returns false.
inline bool follow(const std::string& refusal, workload::Parameters& parameters) {
  static const std::regex advice("lower the parameter ([a-z0-9_]+) to ([0-9]+) or less");
  std::smatch found;
  if (!std::regex_search(refusal, found, advice)) return false;
  workload::ParameterValues values = parameters.values();
  values[found[1]] = std::stoll(found[2]);
  parameters = workload::Parameters(std::move(values));
  return true;
}

}  // namespace keydrome::testing
