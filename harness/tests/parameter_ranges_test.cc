// Property test of all parameters within the bounds of every benchmark. Each session (one
// repetition of a benchmark) has one of two results. It is refused in one sentence with the numbers
// and a remedy. Or its script (all its operations) is generated within the estimated memory.
//
// In each case one parameter has its smallest or largest value, and the others have random values
// from their whole ranges. If the case needs more memory than the test may use, the other
// parameters are lowered until it fits. With KEYDROME_SOAK there are more cases, and they may use
// more memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <regex>
#include <string>
#include <string_view>

#include "benchmarks/kit/script/outcome_layout.h"
#include "harness/referee/session/memory_fit.h"
#include "harness/tests/instances.h"

namespace keydrome {
namespace {

using testing::Instance;

constexpr unsigned kSecondsMax = 120;  // a generator that takes longer is taken for an endless one

bool is_soak() { return std::getenv("KEYDROME_SOAK") != nullptr; }

// If this object lives longer than kSecondsMax, prints the case that was being generated and ends
// the process.
class Watchdog {
 public:
  explicit Watchdog(std::string text) {
    text_ = "\nthe generator does not end: " + std::move(text) + "\n";
    std::signal(SIGALRM, [](int) {
      (void)!write(STDERR_FILENO, text_.data(), text_.size());
      std::_Exit(1);
    });
    alarm(kSecondsMax);
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() { alarm(0); }

 private:
  static inline std::string text_;
};

// Returns the memory that a session needs at least: the script, and the largest outcome (the memory
// for the results of a phase).
uint64_t bytes_of(const script::Script& script) {
  uint64_t bytes = 0, outcome = 0;
  for (const script::PhaseScript& phase : script.phases) {
    for (const std::vector<format::Op>& ops : phase.threads) bytes += ops.size() * sizeof ops[0];
    outcome = std::max(outcome, script::outcome_layout(phase, script.pools).size_bytes);
  }
  const script::Pools& pools = script.pools;
  bytes += pools.int32_keys.size() * sizeof(int32_t) + pools.int64_keys.size() * sizeof(int64_t);
  bytes += pools.parameters.size() * sizeof(int64_t);
  bytes += pools.varchar_keys.bytes().size() + pools.payloads.bytes().size();
  return bytes + outcome;
}

// Draws each parameter from its whole range: small and large values alike, extremes included.
workload::ParameterValues random_values(const workload::Manifest& manifest, std::mt19937_64& rng) {
  workload::ParameterValues values;
  for (const auto& [name, bounds] : manifest.parameters) {
    const auto range = static_cast<double>(bounds.max - bounds.min);
    const double exponent = std::uniform_real_distribution<>(0, 1.2)(rng) - 0.1;
    const double offset = std::pow(range + 1, std::clamp(exponent, 0.0, 1.0)) - 1;
    values[name] = std::min(bounds.max, bounds.min + static_cast<int64_t>(offset));
  }
  return values;
}

// One case: an instance (a named set of parameter values), with other values of these parameters.
// If the case needs too much memory, the test lowers the value of `kept` last.
class Case {
 public:
  Case(const Instance& instance, workload::ParameterValues values, std::string kept)
      : instance_(instance), values_(std::move(values)), kept_(std::move(kept)) {}

  void play() {
    Result<MemoryNeed> need = fit();
    while (!need.ok() && lower_the_others()) {
      expect_sentence(need.error().message);
      need = fit();
    }
    workload::Parameters parameters{values_};
    while (!need.ok() && testing::follow(need.error().message, parameters)) {
      expect_sentence(need.error().message);
      values_ = parameters.values();
      need = fit();
      EXPECT_TRUE(need.ok()) << text() << ": a remedy must help";
    }
    if (!need.ok()) return expect_sentence(need.error().message);
    const Watchdog watchdog(text());
    const Result<script::Script> script =
        instance_.workload->generate(workload::Parameters(values_), kSeed, {});
    if (!script.ok()) return expect_sentence(script.error().message);
    EXPECT_LE(bytes_of(*script), need->referee_bytes) << text();
  }

  static constexpr uint64_t kSeed = 2026;

 private:
  Result<MemoryNeed> fit() const {
    const uint64_t budget = uint64_t{is_soak() ? 256u : 112u} << 20;
    return fit_memory(*instance_.workload, instance_.manifest, workload::Parameters(values_),
                      {.limit_bytes = 1, .machine_bytes = budget});
  }

  // Lowers every value except the kept one to a quarter of its distance from the minimum. Returns
  // false if all are at their minimum.
  bool lower_the_others() {
    bool lowered = false;
    for (auto& [name, value] : values_) {
      const int64_t least = instance_.manifest.parameters.at(name).min;
      if (name == kept_ || value == least) continue;
      value = least + (value - least) / 4;
      lowered = true;
    }
    return lowered;
  }

  // A refusal is one sentence with numbers and something to do.
  void expect_sentence(const std::string& refusal) const {
    static const std::regex remedy("[0-9].*(raise|lower|set|choose) ");
    EXPECT_TRUE(std::regex_search(refusal, remedy)) << text() << ": " << refusal;
  }

  std::string text() const {
    std::string text = instance_.name;
    for (const auto& [name, value] : values_) text += " " + name + "=" + std::to_string(value);
    return text;
  }

  const Instance& instance_;
  workload::ParameterValues values_;
  std::string kept_;
};

// Tests both extremes of every parameter of a benchmark. Each extreme is tested with one instance,
// and the instances take turns. With KEYDROME_SOAK, all extremes are tested with each instance.
TEST(ParameterRanges, EverySessionIsRefusedOrGenerated) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(Case::kSeed));
  std::mt19937_64 rng(Case::kSeed);
  const std::vector<Instance> all = testing::all_instances();
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    end = first;
    while (end < all.size() && all[end].manifest.name == all[first].manifest.name) ++end;
    std::size_t turn = 0;
    for (const auto& [name, bounds] : all[first].manifest.parameters) {
      for (const int64_t extreme : {bounds.min, bounds.max}) {
        for (std::size_t i = first; i < end; ++i) {
          if (!is_soak() && i != first + turn % (end - first)) continue;
          workload::ParameterValues values = random_values(all[i].manifest, rng);
          values[name] = extreme;
          Case(all[i], std::move(values), name).play();
        }
        ++turn;
      }
    }
  }
}

// Tests cases in which all parameters have random values. Every instance has at least one case.
TEST(ParameterRanges, RandomSessionsAreRefusedOrGenerated) {
  std::mt19937_64 rng(Case::kSeed + 1);
  for (const Instance& instance : testing::all_instances()) {
    for (int i = 0; i < (is_soak() ? 20 : 1); ++i) {
      Case(instance, random_values(instance.manifest, rng), "").play();
    }
  }
}

}  // namespace
}  // namespace keydrome
