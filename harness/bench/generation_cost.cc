// What generating costs: each benchmark's programs at laptop scale, in CPU time of one thread.
//
//   generation_cost [--json FILE | BENCHMARK [INSTANCE]]
//
// Generating is untimed in a session, but somebody waits for it. Told is, for each performance
// benchmark, the instance whose operations cost most: seconds for ten million of them, and what
// lies in the pools for each beside its 16 bytes. What a script needs whatever its length (the
// constants of a Zipfian law, the pools of keys) is part of it.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "benchmarks/kit/parameters.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace {

constexpr double kTold = 1e7;         // operations
constexpr uint64_t kEnough = 100000;  // operations; with fewer the fixed part is all that shows
constexpr int kRepetitions = 3;

struct Cost {
  std::string instance;
  uint64_t operations = 0;
  double seconds = 0;  // of the median repetition
  uint64_t pool_bytes = 0;

  double each() const { return operations == 0 ? 0 : seconds / static_cast<double>(operations); }
};

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

uint64_t operations_of(const Script& script) {
  uint64_t count = 0;
  for (const PhaseScript& phase : script.phases) {
    for (const std::vector<Op>& ops : phase.threads) count += ops.size();
  }
  return count;
}

uint64_t bytes_of(const Strings& texts) {
  return texts.offsets().size_bytes() + texts.bytes().size();
}

uint64_t bytes_of(const Pools& pools) {
  return pools.int32_keys.size() * sizeof(int32_t) +
         (pools.int64_keys.size() + pools.parameters.size()) * sizeof(int64_t) +
         bytes_of(pools.varchar_keys) + bytes_of(pools.payloads);
}

Cost cost_of(const BenchmarkEntry& entry, const Manifest& manifest, const std::string& instance) {
  const Parameters parameters = manifest.resolve(instance, "laptop", {}).value();
  Cost cost{.instance = instance};
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = thread_cpu_s();
    const Script script = entry.make(instance)->generate(parameters, 1, CheckPolicy{}).value();
    seconds.push_back(thread_cpu_s() - start);
    cost.operations = operations_of(script);
    cost.pool_bytes = bytes_of(script.pools);
  }
  std::ranges::sort(seconds);
  cost.seconds = seconds[seconds.size() / 2];
  return cost;
}

std::string text(const Cost& cost) {
  const auto operations = static_cast<double>(cost.operations);
  char line[160];
  std::snprintf(line, sizeof line, "%.2f s (%.1f million in %.2f s), %.1f bytes of pools each",
                cost.each() * kTold, operations / 1e6, cost.seconds,
                static_cast<double>(cost.pool_bytes) / operations);
  return line;
}

// Instances with few operations are told on stderr only.
int run(const std::string& json_path, const std::string& only, const std::string& only_instance) {
  Json rows = Json::Array{};
  for (const BenchmarkEntry& entry : benchmark_registry()) {
    const Manifest manifest = Manifest::parse(entry.manifest_json).value();
    if (manifest.kind != "performance" || (!only.empty() && only != manifest.name)) continue;
    Cost most;
    for (const auto& [instance, unused] : manifest.instances) {
      if (!only_instance.empty() && only_instance != instance) continue;
      const Cost cost = cost_of(entry, manifest, instance);
      std::fprintf(stderr, "%s %s: %s\n", manifest.name.c_str(), instance.c_str(),
                   text(cost).c_str());
      if (cost.operations >= kEnough && cost.each() > most.each()) most = cost;
    }
    if (most.operations == 0) continue;
    const std::string figure = "ten million operations of " + manifest.name + " " + most.instance;
    std::printf("%-60s %s\n", figure.c_str(), text(most).c_str());
    rows.push_back(Json::Object{
        {"figure", figure}, {"value", text(most)}, {"target", "under 1 s, 16 bytes each"}});
  }
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << Json(Json::Object{{"title", "Generating programs, laptop scale"}, {"rows", rows}}).dump(2)
       << '\n';
  return file.flush() ? 0 : 3;
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  if (count == 3 && arguments[1] == std::string("--json")) {
    return keydrome::run(arguments[2], "", "");
  }
  return keydrome::run("", count > 1 ? arguments[1] : "", count > 2 ? arguments[2] : "");
}
