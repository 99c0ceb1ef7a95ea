// What a phase and a verified call cost, measured in real jails on this machine.
//
//   phase_cost [--json FILE]      as root; jail, player, driver and indexes/null lie beside this
//   program
//
// One session has many phases of one thread with nothing to do. GO to DONE is what the protocol
// adds to a phase's time: a message each way, two mappings, a thread. Around it the referee makes
// the inputs, thaws, freezes and reads the accounts, while no clock runs. Then one thread reads
// through one long transaction, in the player and from the driver; sessions take turns and figures
// are medians. A verified call costs the way of two cache lines and a Record to another processor
// and back, as long as each side has a processor for itself.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "harness/referee/run.h"

namespace keydrome {
namespace {

constexpr uint32_t kPhases = 200;
constexpr uint32_t kCalls = 200'000;
constexpr uint32_t kSessions = 7;

struct Places {
  std::string folder;
  JailOptions options(bool verified) const {
    JailOptions options;
    options.plan.player = folder + "player";
    options.plan.driver = folder + "driver";
    options.plan.verified = verified;
    options.plan.library.path = folder + "../lib/indexes/null.so";
    options.plan.jail.path = folder + "jail";
    options.plan.jail.slot = 991;
    options.plan.limits.phase_timeout_ms = 60'000;
    options.wall_ms = 300'000;
    options.memory_bytes = uint64_t{512} << 20;
    options.tmpfs_bytes = 1 << 20;
    options.processes = 64;
    return options;
  }
};

Op op(OpCode code, uint32_t argument = 0, uint8_t flags = 0) {
  Op op{};
  op.code = code;
  op.argument = argument;
  op.flags = flags;
  return op;
}

PhaseScript phase(std::vector<Op> ops) {
  PhaseScript phase;
  phase.name = "phase";
  phase.timed = true;
  phase.threads.push_back(std::move(ops));
  phase.trace_capacity_bytes = {0};
  return phase;
}

Script script() {
  Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"all"};
  script.pools.payloads = {""};
  script.pools.int64_keys = {1};
  return script;
}

// A session must end well: a figure of anything else would say nothing.
RunFacts play_well(const Script& script, const JailOptions& options, const Progress& progress) {
  RunFacts facts = play(script, options, progress);
  if (facts.stop == Stop::kNone) return facts;
  std::fprintf(stderr, "phase_cost: the session stopped: %s %s\n", facts.detail.c_str(),
               facts.standard_errors.c_str());
  std::exit(2);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}

struct PhaseCost {
  double go_to_done_us, all_us;
};

PhaseCost phase_cost(const JailOptions& options) {
  Script empty = script();
  for (uint32_t i = 0; i < kPhases; ++i) {
    empty.phases.push_back(phase({op(OpCode::kSignal, 0, kUnitStart)}));
  }
  std::vector<double> all;
  uint64_t began_ns = 0;
  const RunFacts facts = play_well(empty, options, [&](const Json& event) {
    const std::string& kind = event.find("event")->as_string();
    if (kind == "phase") began_ns = now_ns();
    if (kind == "phase_done") all.push_back(static_cast<double>(now_ns() - began_ns) / 1e3);
  });
  std::vector<double> inside;
  for (const PhaseFacts& done : facts.phases) {
    inside.push_back(static_cast<double>(done.wall_ns) / 1e3);
  }
  return {median(inside), median(all)};
}

// Nanoseconds of one get, the phase's cost with it.
double call_cost(const JailOptions& options) {
  Script reads = script();
  std::vector<Op> ops{op(OpCode::kCreate, 0, kUnitStart), op(OpCode::kOpen),
                      op(OpCode::kBegin, kCalls + 1)};
  ops.insert(ops.end(), kCalls, op(OpCode::kGet));
  ops.push_back(op(OpCode::kCommit));
  ops.push_back(op(OpCode::kClose));
  reads.phases.push_back(phase(std::move(ops)));
  const RunFacts facts = play_well(reads, options, {});
  return static_cast<double>(facts.phases[0].wall_ns) / kCalls;
}

std::string text(double value, const char* unit, int digits) {
  char line[64];
  std::snprintf(line, sizeof line, "%.*f %s", digits, value, unit);
  return line;
}

Json row(const std::string& figure, const std::string& value, const std::string& target) {
  std::printf("%-60s %s\n", figure.c_str(), value.c_str());
  return Json::Object{{"figure", figure}, {"value", value}, {"target", target}};
}

int run(const Places& places, const std::string& json_path) {
  std::vector<double> inside[2], all[2], call[2];
  for (uint32_t session = 0; session < kSessions; ++session) {
    for (const bool verified : {false, true}) {
      const JailOptions options = places.options(verified);
      const PhaseCost cost = phase_cost(options);
      inside[verified].push_back(cost.go_to_done_us);
      all[verified].push_back(cost.all_us);
      call[verified].push_back(call_cost(options));
    }
  }
  Json figures = Json::Array{};
  const auto add = [&](const char* figure, double value, const char* unit, const char* target) {
    figures.push_back(row(figure, text(value, unit, 0), target));
  };
  add("phase of one thread, GO to DONE", median(inside[0]), "us", "at most 50 us");
  add("the same with inputs, thaw, freeze and accounts", median(all[0]), "us", "at most 400 us");
  add("verified: phase of one thread, GO to DONE", median(inside[1]), "us", "");
  add("verified: the same with inputs, thaw, freeze and accounts", median(all[1]), "us", "");
  add("get of null, one thread", median(call[0]), "ns", "");
  add("verified: get of null, one thread", median(call[1]), "ns", "");
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << Json(Json::Object{{"title", "Phases, and verified mode"}, {"rows", figures}}).dump(2)
       << '\n';
  return file.flush() ? 0 : 3;
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  if (geteuid() != 0) {
    std::fputs("phase_cost: the jail needs root\n", stderr);
    return 2;
  }
  const std::string self = arguments[0];
  const std::string json = count == 3 && arguments[1] == std::string("--json") ? arguments[2] : "";
  return keydrome::run({self.substr(0, self.rfind('/') + 1)}, json);
}
