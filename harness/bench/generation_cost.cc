// generation_cost: measures the time to generate the operations of each benchmark at scale
// "laptop". A run at this scale takes minutes. The time is CPU time of one thread on this machine.
//
//   generation_cost [BENCHMARK [INSTANCE]] [--json FILE]
//
// The referee, the program that runs a benchmark, generates all operations before it plays them. No
// result of the benchmark includes this time, but users wait for it. For each performance benchmark
// (one that measures time) the output names the instance (set of parameter values) whose operations
// are most expensive to generate, and shows:
// - the seconds for ten million operations
// - the bytes per operation in the pools (lists) of keys and payloads; the operation itself has 16
//   bytes more
// The time includes work that does not depend on the number of operations: computing the constants
// of a Zipf distribution, and making the pools of keys.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/workload.h"
#include "harness/bench/arguments.h"

namespace keydrome {
namespace {

constexpr double kShown = 1e7;  // number of operations for which the time is shown
// An instance with fewer operations is never shown as the most expensive one: there, work that does
// not depend on the operations takes most of the time.
constexpr uint64_t kOperationsMin = 100000;
constexpr int kRepetitions = 3;

struct Cost {
  std::string instance;
  uint64_t operations = 0;
  double seconds = 0;  // CPU time of the median repetition
  uint64_t pool_bytes = 0;

  double each() const { return operations == 0 ? 0 : seconds / static_cast<double>(operations); }
};

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

uint64_t operations_of(const script::Script& script) {
  uint64_t count = 0;
  for (const script::PhaseScript& phase : script.phases) {
    for (const std::vector<format::Op>& ops : phase.threads) count += ops.size();
  }
  return count;
}

uint64_t bytes_of(const script::Strings& texts) {
  return texts.offsets().size_bytes() + texts.bytes().size();
}

uint64_t bytes_of(const script::Pools& pools) {
  return pools.int32_keys.size() * sizeof(int32_t) +
         (pools.int64_keys.size() + pools.parameters.size()) * sizeof(int64_t) +
         bytes_of(pools.varchar_keys) + bytes_of(pools.payloads);
}

Result<Cost> cost_of(const workload::BenchmarkEntry& entry, const workload::Manifest& manifest,
                     const std::string& instance) {
  const Result<workload::Parameters> parameters = manifest.resolve(instance, "laptop", {});
  if (!parameters) return parameters.error();
  Cost cost{.instance = instance};
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = thread_cpu_s();
    const Result<script::Script> script =
        entry.make(instance)->generate(*parameters, 1, workload::CheckPolicy{});
    if (!script) return script.error();
    seconds.push_back(thread_cpu_s() - start);
    cost.operations = operations_of(*script);
    cost.pool_bytes = bytes_of(script->pools);
  }
  std::ranges::sort(seconds);
  cost.seconds = seconds[seconds.size() / 2];
  return cost;
}

std::string text(const Cost& cost) {
  const auto operations = static_cast<double>(cost.operations);
  char line[160];
  std::snprintf(
      line, sizeof line,
      "%.2f s (measured: %.1f million in %.2f s), %.1f bytes of keys and payloads for each",
      cost.each() * kShown, operations / 1e6, cost.seconds,
      static_cast<double>(cost.pool_bytes) / operations);
  return line;
}

int print_error(const Error& error) {
  std::fprintf(stderr, "generation_cost: %s\n", error.message.c_str());
  return 2;
}

// Prints all instances to standard error, and the most expensive instance of each benchmark to
// standard output.
int run(const std::string& json_path, const std::string& only, const std::string& only_instance) {
  Json rows = Json::Array{};
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const Result<workload::Manifest> manifest = workload::Manifest::parse(entry.manifest_json);
    if (!manifest) return print_error(manifest.error());
    if (manifest->kind != "performance" || (!only.empty() && only != manifest->name)) continue;
    Cost most;
    for (const auto& [instance, unused] : manifest->instances) {
      if (!only_instance.empty() && only_instance != instance) continue;
      const Result<Cost> cost = cost_of(entry, *manifest, instance);
      if (!cost) return print_error(cost.error());
      std::fprintf(stderr, "%s %s: %s\n", manifest->name.c_str(), instance.c_str(),
                   text(*cost).c_str());
      if (cost->operations >= kOperationsMin && cost->each() > most.each()) most = *cost;
    }
    if (most.operations == 0) continue;
    const std::string figure =
        "generating ten million operations of " + manifest->name + " " + most.instance;
    std::printf("%-60s %s\n", figure.c_str(), text(most).c_str());
    rows.push_back(Json::Object{{"figure", figure},
                                {"value", text(most)},
                                {"target", "under 1 s, for operations of 16 bytes"},
                                {"measured", most.each() * kShown},
                                {"at_most", 1.0}});
  }
  return write_figures(
      json_path, Json::Object{{"title", "Generating programs, laptop scale"}, {"rows", rows}});
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  const keydrome::BenchArguments parsed = keydrome::bench_arguments_or_exit(
      count, arguments, 2, "generation_cost [BENCHMARK [INSTANCE]] [--json FILE]");
  const std::vector<std::string>& words = parsed.words;
  return keydrome::run(parsed.json_path, words.empty() ? "" : words[0],
                       words.size() < 2 ? "" : words[1]);
}
