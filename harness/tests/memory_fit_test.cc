// Tests that the memory of a session is known before it is generated: for all parameters within the
// bounds of every benchmark, a session either is generated within the estimate or is refused with
// the numbers and a remedy.
#include "harness/referee/session/memory_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <vector>

namespace keydrome {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

// One instance of a benchmark, ready to estimate and to generate.
struct Instance {
  std::string name;
  workload::Manifest manifest;
  std::string scale_of;  // the instance's name in the manifest
  std::unique_ptr<workload::Workload> workload;
};

std::vector<Instance> all_instances() {
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

uint64_t bytes_of(const script::Script& script) {
  uint64_t bytes = 0;
  for (const script::PhaseScript& phase : script.phases) {
    for (const std::vector<format::Op>& ops : phase.threads) bytes += ops.size() * sizeof ops[0];
  }
  const script::Pools& pools = script.pools;
  bytes += pools.int32_keys.size() * sizeof(int32_t) + pools.int64_keys.size() * sizeof(int64_t);
  bytes += pools.parameters.size() * sizeof(int64_t);
  for (std::size_t i = 0; i < pools.varchar_keys.size(); ++i) bytes += pools.varchar_keys[i].size();
  for (std::size_t i = 0; i < pools.payloads.size(); ++i) bytes += pools.payloads[i].size();
  return bytes;
}

// Draws each parameter from its whole range: small and large values alike, extremes included.
workload::Parameters random_parameters(const workload::Manifest& manifest, std::mt19937_64& rng) {
  workload::ParameterValues values;
  for (const auto& [name, bounds] : manifest.parameters) {
    const auto range = static_cast<double>(bounds.max - bounds.min);
    const double exponent = std::uniform_real_distribution<>(0, 1.2)(rng) - 0.1;
    const double offset = std::pow(range + 1, std::clamp(exponent, 0.0, 1.0)) - 1;
    values[name] = std::min(bounds.max, bounds.min + static_cast<int64_t>(offset));
  }
  return workload::Parameters(std::move(values));
}

// Lowers the parameter that a refusal names, and returns true. Returns false if it names none.
bool follow(const std::string& refusal, workload::Parameters& parameters) {
  static const std::regex advice("lower ([a-z0-9_]+) to ([0-9]+) or less");
  std::smatch found;
  if (!std::regex_search(refusal, found, advice)) return false;
  workload::ParameterValues values = parameters.values();
  values[found[1]] = std::stoll(found[2]);
  parameters = workload::Parameters(std::move(values));
  return true;
}

TEST(FitMemory, TheRemedyOfARefusalFits) {
  constexpr uint64_t kMachine = 24 * kGiB;
  for (const Instance& instance : all_instances()) {
    workload::ParameterValues largest;
    for (const auto& [name, bounds] : instance.manifest.parameters) largest[name] = bounds.max;
    workload::Parameters parameters{std::move(largest)};
    const auto fit = [&] {
      return fit_memory(*instance.workload, instance.manifest, parameters, kGiB, 0, kMachine);
    };
    const Result<MemoryNeed> need = fit();
    if (need.ok()) continue;
    EXPECT_NE(need.error().message.find("GiB"), std::string::npos) << instance.name;
    if (!follow(need.error().message, parameters)) {
      EXPECT_TRUE(need.error().message.ends_with("choose a smaller scale")) << instance.name;
      continue;
    }
    const Result<MemoryNeed> lowered = fit();
    EXPECT_TRUE(lowered.ok()) << instance.name << ": " << need.error().message;
  }
}

TEST(FitMemory, EveryInstanceAtSmokeScaleFitsALaptop) {
  for (const Instance& instance : all_instances()) {
    const auto parameters = instance.manifest.resolve(instance.scale_of, "smoke", {});
    const Result<MemoryNeed> need =
        fit_memory(*instance.workload, instance.manifest, parameters.value(), kGiB, 0, 4 * kGiB);
    EXPECT_TRUE(need.ok()) << instance.name << ": " << need.error().message;
  }
}

TEST(FitMemory, TheLimitOfThePlanCounts) {
  const std::vector<Instance> all = all_instances();
  const Instance& first = all.front();
  const auto parameters = first.manifest.resolve(first.scale_of, "smoke", {}).value();
  const auto fit = [&](uint64_t limit_bytes, uint64_t machine_bytes) {
    return fit_memory(*first.workload, first.manifest, parameters, kGiB, limit_bytes,
                      machine_bytes);
  };
  EXPECT_EQ(fit(300 * kMiB, 24 * kGiB).value().library_bytes, 300 * kMiB);
  EXPECT_GE(fit(0, 24 * kGiB).value().library_bytes, kGiB);
  EXPECT_TRUE(fit(100 * kGiB, 0).ok()) << "the machine's memory is not known";
  const Result<MemoryNeed> much = fit(100 * kGiB, 24 * kGiB);
  ASSERT_FALSE(much.ok());
  EXPECT_TRUE(much.error().message.ends_with("lower the library's memory limit"))
      << much.error().message;
}

// Property: parameters from the whole ranges are refused with numbers and a remedy, or generate a
// script that is smaller than the estimate.
TEST(FitMemory, AllParametersGenerateWithinTheEstimateOrAreRefused) {
  constexpr uint64_t kMachine = 128 * kMiB;
  constexpr uint64_t seed = 2026;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 rng(seed);
  for (const Instance& instance : all_instances()) {
    workload::Parameters parameters = random_parameters(instance.manifest, rng);
    Result<MemoryNeed> need =
        fit_memory(*instance.workload, instance.manifest, parameters, 0, 1, kMachine);
    for (int tries = 0; !need.ok() && tries < 8; ++tries) {
      if (!follow(need.error().message, parameters)) {
        // No parameter alone helps. Halve all that can be halved.
        workload::ParameterValues values = parameters.values();
        for (auto& [name, value] : values) {
          value = std::max(value / 64, instance.manifest.parameters.at(name).min);
        }
        parameters = workload::Parameters(std::move(values));
      }
      need = fit_memory(*instance.workload, instance.manifest, parameters, 0, 1, kMachine);
    }
    std::string text = instance.name;
    for (const auto& [name, value] : parameters.values()) {
      text += " " + name + "=" + std::to_string(value);
    }
    // The extreme sizes of the scenarios use all records if extent_percent is 0, its minimum.
    if (!need.ok() && instance.name == "scenarios extremes") continue;
    ASSERT_TRUE(need.ok()) << text << ": " << need.error().message;
    const Result<script::Script> script = instance.workload->generate(parameters, seed, {});
    if (script.ok()) {
      EXPECT_LE(bytes_of(*script), need->referee_bytes) << text;
      continue;
    }
    static const std::regex remedy("[0-9].*(raise|lower|set) ");
    EXPECT_TRUE(std::regex_search(script.error().message, remedy))
        << text << ": " << script.error().message;
  }
}

}  // namespace
}  // namespace keydrome
