// Tests the estimate of the memory of a session (one repetition of a benchmark), which is made
// before the operations are generated. Covers refusals, the parameter that a refusal tells the user
// to lower, and the bound of the memory of the referee, the process that runs the session.
// parameter_ranges_test.cc tests all parameters.
#include "harness/referee/session/memory_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/tests/instances.h"

namespace keydrome {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

using testing::all_instances;
using testing::follow;
using testing::Instance;

TEST(FitMemory, TheRemedyOfARefusalFits) {
  constexpr uint64_t kMachine = 24 * kGiB;
  for (const Instance& instance : all_instances()) {
    workload::ParameterValues largest;
    for (const auto& [name, bounds] : instance.manifest.parameters) largest[name] = bounds.max;
    workload::Parameters parameters{std::move(largest)};
    const auto fit = [&] {
      return fit_memory(*instance.workload, instance.manifest, parameters,
                        {.least_bytes = kGiB, .machine_bytes = kMachine});
    };
    const Result<MemoryNeed> need = fit();
    if (need.ok()) continue;
    EXPECT_TRUE(need.error().message.find("GiB") != std::string::npos ||
                need.error().message.find("keys or payloads, but") != std::string::npos ||
                need.error().message.find("whose calls depend on earlier results") !=
                    std::string::npos)
        << instance.name << ": " << need.error().message;
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
        fit_memory(*instance.workload, instance.manifest, parameters.value(),
                   {.least_bytes = kGiB, .machine_bytes = 4 * kGiB});
    EXPECT_TRUE(need.ok()) << instance.name << ": " << need.error().message;
  }
}

TEST(FitMemory, ASessionHasAsManyKeysAsTheFile) {
  workload::KeyFile keys;
  std::size_t replaceable = 0, followed = 0;
  for (int64_t key = 0; key < 500; ++key) keys.integers.push_back(key);
  for (const Instance& instance : all_instances()) {
    if (instance.manifest.instances.at(instance.scale_of).keys != "int64") continue;
    ++replaceable;
    workload::Parameters parameters =
        instance.manifest.resolve(instance.scale_of, "laptop", {}).value();
    const auto fit = [&] {
      return fit_memory(*instance.workload, instance.manifest, parameters, {.keys = &keys});
    };
    const Result<MemoryNeed> need = fit();
    const double wanted = instance.workload->demand(parameters).all_keys();
    ASSERT_EQ(need.ok(), wanted <= static_cast<double>(keys.size())) << instance.name;
    if (need.ok()) continue;
    EXPECT_NE(need.error().message.find("the key file has only 500: "), std::string::npos)
        << instance.name << ": " << need.error().message;
    if (!follow(need.error().message, parameters)) continue;
    EXPECT_TRUE(fit().ok()) << instance.name << ": " << need.error().message;
    ++followed;
  }
#ifndef KEYDROME_SANITIZED  // builds with sanitizers leave most benchmarks out
  EXPECT_GT(replaceable, 40u);
#endif
  EXPECT_GE(followed * 5, replaceable * 4);
}

// On a machine with enough memory, only two counts bound a session: how many keys or payloads it
// has, and how many bytes of strings its procedures use. A procedure is a list of instructions that
// computes a call from earlier results (docs/decisions/0026-numbers-of-32-bits.md).
TEST(FitMemory, MemoryBoundsTheRecordsUntilTheNumbersEnd) {
  constexpr uint64_t kLargeMachine = 64 * 1024 * kGiB;
  const auto refusal = [](const std::string& name, std::string_view parameter, int64_t value) {
    const std::vector<Instance> all = all_instances();
    const auto found = std::ranges::find(all, name, &Instance::name);
    if (found == all.end()) return std::string("not built");
    workload::ParameterValues values =
        found->manifest.resolve(found->scale_of, "smoke", {}).value().values();
    EXPECT_LE(value, found->manifest.parameters.find(parameter)->second.max);
    values.find(parameter)->second = value;
    const Result<MemoryNeed> need =
        fit_memory(*found->workload, found->manifest, workload::Parameters(std::move(values)),
                   {.least_bytes = kGiB, .machine_bytes = kLargeMachine});
    return need.ok() ? std::string() : need.error().message;
  };
  for (const auto& [instance, parameter, value, words] :
       {std::tuple{"lookup_upsert large", "records", int64_t{4'000'000'000}, ""},
        std::tuple{"ycsb a", "records", int64_t{2'000'000'000}, ""},  // 45 GiB of string keys
        std::tuple{"insert_ratio inserts_40", "records", int64_t{4'000'000'000},
                   "a session can have at most 4200000000"},
        std::tuple{"smallbank hot_100", "accounts", int64_t{100'000'000},
                   "whose calls depend on earlier results, can have at most"}}) {
    const std::string text = refusal(instance, parameter, value);
    if (text == "not built") continue;  // builds with sanitizers leave most benchmarks out
    if (*words == '\0') {
      EXPECT_EQ(text, "") << instance;
    } else {
      EXPECT_NE(text.find(words), std::string::npos) << instance << ": " << text;
      EXPECT_NE(text.find("lower the parameter " + std::string(parameter) + " to "),
                std::string::npos)
          << text;
    }
  }
}

TEST(FitMemory, ATraceThatDoesNotFitMustBeShorter) {
  std::size_t traces = 0;
  for (const Instance& instance : all_instances()) {
    if (!instance.manifest.instances.at(instance.scale_of).trace) continue;
    ++traces;
    const Result<MemoryNeed> need =
        fit_memory(*instance.workload, instance.manifest, workload::Parameters(),
                   {.machine_bytes = 64 * kMiB, .plays_trace = true});
    ASSERT_FALSE(need.ok());
    EXPECT_TRUE(need.error().message.ends_with("shorten the trace")) << need.error().message;
  }
#ifndef KEYDROME_SANITIZED  // builds with sanitizers leave most benchmarks out
  EXPECT_EQ(traces, 1u);
#endif
}

TEST(FitMemory, TheLimitOfThePlanCounts) {
  const std::vector<Instance> all = all_instances();
  const Instance& first = all.front();
  const auto parameters = first.manifest.resolve(first.scale_of, "smoke", {}).value();
  const auto fit = [&](uint64_t limit_bytes, uint64_t machine_bytes) {
    return fit_memory(
        *first.workload, first.manifest, parameters,
        {.least_bytes = kGiB, .limit_bytes = limit_bytes, .machine_bytes = machine_bytes});
  };
  EXPECT_EQ(fit(300 * kMiB, 24 * kGiB).value().library_bytes, 300 * kMiB);
  EXPECT_GE(fit(0, 24 * kGiB).value().library_bytes, kGiB);
  EXPECT_TRUE(fit(100 * kGiB, 0).ok()) << "the machine's memory is not known";
  const Result<MemoryNeed> much = fit(100 * kGiB, 24 * kGiB);
  ASSERT_FALSE(much.ok());
  EXPECT_TRUE(
      much.error().message.ends_with("lower the library's memory limit (jail.memory_bytes)"))
      << much.error().message;
}

TEST(FitMemory, TheRefereeMayUseWhatTheLibraryLeaves) {
  const MemoryNeed need{.referee_bytes = kGiB, .library_bytes = 4 * kGiB};
  EXPECT_EQ(referee_bound(need, 100 * kGiB, 0), 86 * kGiB);
  EXPECT_EQ(referee_bound(need, 100 * kGiB, 90 * kGiB), 86 * kGiB);
  EXPECT_EQ(referee_bound(need, 100 * kGiB, 2 * kGiB), 2 * kGiB);
  EXPECT_GT(referee_bound(need, 0, 0), 1'000'000 * kGiB) << "the machine's memory is not known";
}

}  // namespace
}  // namespace keydrome
