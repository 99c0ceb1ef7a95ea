// phase_cost: measures how much time the harness adds to a phase of a session (one repetition of a
// benchmark). Also measures how much it adds to a call in verified mode. Uses real jails on this
// machine. The referee is the trusted process that runs the session. The player is the process in
// the jail (a sandbox) that calls the library. In verified mode another process, the driver,
// decides on the calls, and the player only makes them.
//
//   phase_cost [--json FILE]      run as root; needs the programs jail, player and driver in the
//                                 same folder, and ../lib/indexes/null.so
//
// Phase: one session has many phases of one thread with nothing to do. The first figure is the time
// that the referee measures for such a phase, from the start message (GO) to the answer (DONE). It
// shows what the protocol adds to a phase: the two messages, and the thaw and the freeze of the
// jail, which is frozen between phases. The player's main thread plays the program itself. The
// second figure also includes the referee's work between the phases: it makes the inputs, thaws and
// freezes the jail, and reads the jail's CPU time and memory.
//
// Call: one thread makes reads in one long transaction. In an ordinary session the thread is in the
// player. In verified mode the thread is in the driver, which calls the library in another process.
// If driver and player each have their own CPU, a verified call moves two cache lines and a Record
// to the other CPU and back.
//
// Hand-over: a thread gets its program, a list of operations, in pieces, which the referee writes
// into shared memory while the thread works. Here the threads make reads that take some 60 ns each
// (harness/bench/steady_work.c). A program that is cut into pieces is compared with the same
// program in one piece, which is in shared memory before the clock starts. The difference is the
// cost of the hand-over per call. It is also shown as a multiple of the floor, the smallest
// possible cost of a call (call_floor.h). With one thread, the referee has a processor for itself.
// With a thread for each processor, the referee takes CPU time from the threads.
//
// Ordinary and verified sessions take turns. Figures are medians over the sessions.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "harness/bench/arguments.h"
#include "harness/bench/call_floor.h"
#include "harness/bench/local_slot.h"
#include "harness/player/library.h"
#include "harness/referee/judging/verdict.h"
#include "harness/referee/session/conductor.h"

namespace keydrome {
namespace {

constexpr uint32_t kPhases = 200;
constexpr uint32_t kCalls = 200'000;
constexpr uint32_t kSessions = 7;
constexpr uint32_t kUnits = 4'000;  // per thread, to measure the hand-over
constexpr uint32_t kCallsPerUnit = 256;
// The largest allowed cost of the hand-over per call, in multiples of the floor: with a processor
// to spare, and with all processors busy.
constexpr double kGoalSpare = 0.8, kGoalBusy = 1.3;

struct Paths {
  std::string folder;
  JailOptions options(bool verified) const {
    JailOptions options;
    options.plan.player = folder + "player";
    options.plan.driver = folder + "driver";
    options.plan.verified = verified;
    options.plan.library.path = folder + "../lib/indexes/null.so";
    options.plan.jail.path = folder + "jail";
    options.plan.jail.slot = local_slot();
    options.plan.limits.phase_timeout_ms = 60'000;
    options.wall_ms = 300'000;
    options.memory_bytes = uint64_t{512} << 20;
    options.tmpfs_bytes = 1 << 20;
    options.processes = 64;
    return options;
  }
};

format::Op op(format::OpCode code, uint32_t argument = 0, uint8_t flags = 0) {
  format::Op op{};
  op.code = code;
  op.argument = argument;
  op.flags = flags;
  return op;
}

script::PhaseScript phase(std::vector<format::Op> ops) {
  script::PhaseScript phase;
  phase.name = "phase";
  phase.timed = true;
  phase.threads.push_back(std::move(ops));
  phase.trace_capacity_bytes = {0};
  return phase;
}

script::Script script() {
  script::Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"all"};
  script.pools.payloads = {""};
  script.pools.int64_keys = {1};
  return script;
}

// Plays a session. Exits with status 2 if the session stops early, because its figures would be
// meaningless.
SessionResult play_well(const script::Script& script, const JailOptions& options,
                        const Progress& progress) {
  SessionResult result = play(script, options, progress);
  if (result.stop == StopReason::kNone) return result;
  const std::string reason = decide(result, judge::Findings(), options.plan.jail.require).reason;
  const std::string printed =
      result.standard_errors.empty() ? "" : "\nThe session printed: " + result.standard_errors;
  std::fprintf(stderr, "phase_cost: there are no figures, because a session stopped early: %s%s\n",
               reason.c_str(), printed.c_str());
  std::exit(2);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}

struct PhaseCost {
  double go_to_done_us;  // the time of the phase, as the referee measures it
  double all_us;         // this time and the referee's work between the phases
};

PhaseCost phase_cost(const JailOptions& options) {
  script::Script empty = script();
  for (uint32_t i = 0; i < kPhases; ++i) {
    empty.phases.push_back(phase({op(format::OpCode::kSignal, 0, format::kUnitStart)}));
  }
  std::vector<double> all;
  uint64_t began_ns = 0;
  const SessionResult result = play_well(empty, options, [&](const Json& event) {
    const std::string& kind = event.find("event")->as_string();
    if (kind == "phase") began_ns = now_ns();
    if (kind == "phase_done") all.push_back(static_cast<double>(now_ns() - began_ns) / 1e3);
  });
  std::vector<double> inside;
  for (const PhaseResult& done : result.phases) {
    inside.push_back(static_cast<double>(done.wall_ns) / 1e3);
  }
  return {median(inside), median(all)};
}

// Returns nanoseconds per get. They include the phase's own cost, divided by the number of calls.
double call_cost(const JailOptions& options) {
  script::Script reads = script();
  std::vector<format::Op> ops{op(format::OpCode::kCreate, 0, format::kUnitStart),
                              op(format::OpCode::kOpen), op(format::OpCode::kBegin, kCalls + 1)};
  ops.insert(ops.end(), kCalls, op(format::OpCode::kGet));
  ops.push_back(op(format::OpCode::kCommit));
  ops.push_back(op(format::OpCode::kClose));
  reads.phases.push_back(phase(std::move(ops)));
  const SessionResult result = play_well(reads, options, {});
  return static_cast<double>(result.phases[0].wall_ns) / kCalls;
}

// Returns the program of a thread that reads in transactions. A unit is a part of a program that is
// never divided between two pieces. With `cut`, each transaction is a unit; else the whole program
// is one unit.
std::vector<format::Op> units(bool cut) {
  std::vector<format::Op> ops;
  for (uint32_t unit = 0; unit < kUnits; ++unit) {
    ops.push_back(op(format::OpCode::kOpen, 0, cut || unit == 0 ? format::kUnitStart : uint8_t{0}));
    ops.push_back(op(format::OpCode::kBegin, kCallsPerUnit + 1));
    ops.insert(ops.end(), kCallsPerUnit, op(format::OpCode::kGet));
    ops.push_back(op(format::OpCode::kCommit));
    ops.push_back(op(format::OpCode::kClose));
  }
  return ops;
}

// Returns nanoseconds per get of a session with `threads` threads.
double unit_cost(JailOptions options, const Paths& paths, uint32_t threads, bool cut) {
  script::Script reads = script();
  reads.phases.push_back(phase({op(format::OpCode::kCreate, 0, format::kUnitStart)}));
  reads.phases.push_back(phase({}));
  reads.phases[1].threads.assign(threads, units(cut));
  reads.phases[1].trace_capacity_bytes.assign(threads, 0);
  options.plan.library.path = paths.folder + "../lib/bench/steady_work.so";
  const SessionResult result = play_well(reads, options, {});
  return static_cast<double>(result.phases[1].wall_ns) / (kUnits * kCallsPerUnit);
}

// Measures how much time the hand-over of pieces adds to a call. Also measures the floor each time,
// because the speed of the machine changes.
struct HandOver {
  std::vector<double> spare, busy, floor;

  void measure(const Paths& paths, const player::IndexApi& null, uint32_t processors) {
    const auto on_top = [&](uint32_t threads) {
      const JailOptions options = paths.options(false);
      return unit_cost(options, paths, threads, true) - unit_cost(options, paths, threads, false);
    };
    const std::vector<format::Op> calls(kCalls, op(format::OpCode::kGet));
    floor.push_back(call_floor(null, calls).ns / kCalls);
    if (processors > 1) spare.push_back(on_top(1));
    busy.push_back(on_top(processors));
  }
};

// Returns a cost as text, in ns and in multiples of the floor. Marks the cost if it misses the
// goal. Cost and goal are compared with one decimal, as printed.
std::string against(double ns, double floor, double goal) {
  const double floors = std::round(ns / floor * 10) / 10;
  char line[96];
  std::snprintf(line, sizeof line, "%.1f ns, %.1f times the floor of %.1f ns", ns, floors, floor);
  std::string text = line;
  if (floors - goal < 0.05) return text;
  std::snprintf(line, sizeof line, "; goal *missed* by %.1f times the floor", floors - goal);
  return text + line;
}

std::string text(double value, const char* unit, int digits) {
  char line[64];
  std::snprintf(line, sizeof line, "%.*f %s", digits, value, unit);
  return line;
}

// Returns a row of figures, and prints it with its target, if it has one.
Json row(const std::string& figure, const std::string& value, const std::string& target) {
  const std::string shown = target.empty() ? "" : " (" + target + ")";
  std::printf("%-76s %s%s\n", figure.c_str(), value.c_str(), shown.c_str());
  return Json::Object{{"figure", figure}, {"value", value}, {"target", target}};
}

int run(const Paths& paths, const std::string& json_path) {
  std::vector<double> inside[2], all[2], call[2];
  const LoadedLibrary null = load_library((paths.folder + "../lib/indexes/null.so").c_str(), "");
  if (null.status != kLoadOk) {
    std::fprintf(stderr, "phase_cost: cannot load indexes/null: %s; build it with ./dev build\n",
                 null.reason.c_str());
    return 2;
  }
  const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
  HandOver hand_over;
  for (uint32_t session = 0; session < kSessions; ++session) {
    for (const bool verified : {false, true}) {
      const JailOptions options = paths.options(verified);
      const PhaseCost cost = phase_cost(options);
      inside[verified].push_back(cost.go_to_done_us);
      all[verified].push_back(cost.all_us);
      call[verified].push_back(call_cost(options));
    }
    hand_over.measure(paths, null.api, processors);
  }
  Json figures = Json::Array{};
  const auto add = [&](const char* figure, double value, const char* unit) {
    figures.push_back(row(figure, text(value, unit, 0), ""));
  };
  const auto add_limited = [&](const char* figure, double value_us, int at_most_us) {
    Json limited =
        row(figure, text(value_us, "us", 0), "at most " + std::to_string(at_most_us) + " us");
    limited["measured"] = value_us;
    limited["at_most"] = at_most_us;
    figures.push_back(std::move(limited));
  };
  add_limited("empty phase of one thread, from the start message to the answer", median(inside[0]),
              50);
  add_limited("empty phase of one thread, with the referee's work before and after it",
              median(all[0]), 400);
  add("empty phase in verified mode, from the start message to the answer", median(inside[1]),
      "us");
  add("empty phase in verified mode, with the referee's work before and after it", median(all[1]),
      "us");
  add("get of a library that does nothing, one thread", median(call[0]), "ns");
  add("get of a library that does nothing, one thread, verified mode", median(call[1]), "ns");
  const double floor = median(hand_over.floor);
  if (!hand_over.spare.empty()) {
    figures.push_back(
        row("time per call to pass the operations to the player in parts, one CPU free",
            against(median(hand_over.spare), floor, kGoalSpare),
            "goal: at most 0.8 times the floor, the smallest cost of a call"));
  }
  figures.push_back(
      row("time per call to pass the operations to the player in parts, all CPUs busy",
          against(median(hand_over.busy), floor, kGoalBusy),
          "goal: at most 1.3 times the floor, the smallest cost of a call"));
  return write_figures(json_path,
                       Json::Object{{"title", "Phases, and verified mode"}, {"rows", figures}});
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  const keydrome::BenchArguments parsed =
      keydrome::bench_arguments_or_exit(count, arguments, 0, "phase_cost [--json FILE]");
  if (geteuid() != 0) {
    std::fputs("phase_cost: run this program as root, because it starts jails\n", stderr);
    return 2;
  }
  const std::string self = arguments[0];
  return keydrome::run({self.substr(0, self.rfind('/') + 1)}, parsed.json_path);
}
