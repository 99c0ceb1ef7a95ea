// harness_cost: measures how much time the harness adds to each call to a library, on this machine.
// Most of this time is spent in the interpreter of the player, the program that makes the calls.
//
//   harness_cost [NULL_LIBRARY] [--json FILE]
//
// The default of NULL_LIBRARY is ../lib/indexes/null.so, relative to this program's folder. The
// null libraries return from every call at once, so nearly all measured time is the harness's own.
//
// Contract A (ten index calls)
//
// The floor is the smallest possible cost: a loop over 16-byte operations that calls one function
// of indexes/null through a pointer from dlsym. The program compares the floor with the player's
// interpreter on the same library, with one thread and int64 keys. Floor and interpreter take
// turns, so that a busy machine slows both. Times are CPU times of the thread; each figure is a
// median over the repetitions. Here the interpreter gets all operations and keys at once. In a
// session, one repetition of a benchmark, it gets them in portions; phase_cost measures the cost of
// the hand-over.
//
// The first row is the average cost of a call in the mix of operations of the SIGMOD 2009 contest.
// It plays the timed operations of one thread of the benchmark sigmod2009, with the parameters of
// its instance vary_low and with all checks of the results. The other rows isolate parts of that
// cost. A recorded call is also written into a log.
//
// Targets on a machine whose floor is 1.5 ns:
// - An unrecorded call costs at most 5 ns (3.3 times the floor) more than the floor.
// - A recorded call costs at most 30 ns (20 times the floor) more than the same call unrecorded.
//
// Each figure is also given as a multiple of the floor. A virtual machine can become three times
// slower within a minute; the floor then becomes slower too, so the multiple changes less. Most of
// the cost is clearing the 248 bytes of a Record before each call. For short transactions, reading
// the clock also costs much. The log of a recorded insert contains a hash of the payload.
//
// Contract B (data structures without transactions)
//
// The runtime is a library of contract A that calls a structure. For one get, it calls the
// structure's function find. The floor is a loop that makes the same call of structures/null,
// through the pointer in the structure's table. The program compares the floor with the time per
// get of interpreter and runtime together, in the configuration bare, which isolates nothing. So
// the call from the interpreter to the runtime's get counts as cost of the harness. In the row
// "one get in each timed transaction", the calls that begin and commit count as cost, too.
//
// A timed call is one whose latency the player measures, by reading the clock. Targets on a machine
// whose floor is 1.5 ns: a get may exceed the floor by at most
// - 2 ns (1.3 times the floor), if no call is timed
// - 3 ns (2 times the floor), if one call in 61 is timed
// - 17 ns (11 times the floor), if every call is timed
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/player/recording.h"
#include "benchmarks/kit/script/images.h"
#include "benchmarks/kit/script/piece_writer.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/workload.h"
#include "harness/bench/arguments.h"
#include "harness/bench/call_floor.h"
#include "harness/player/library.h"
#include "keydrome/structure.h"

namespace keydrome {

using history::Event;

namespace {

constexpr uint32_t kKeys = 1 << 13;  // 64 KiB of int64 keys
constexpr uint32_t kCalls = 1 << 17;
constexpr uint32_t kRepetitions = 41;
constexpr uint32_t kText = 1;  // index in pools.payloads of a text with the contest's mean length
constexpr std::size_t kTextBytes = 41;
constexpr uint32_t kKeyStep = 5003;             // odd, so that every key occurs before one repeats
constexpr int64_t kContestTransactions = 4000;  // about 130,000 calls
constexpr std::size_t kContestPhase = 2;        // index of the phase test

[[noreturn]] void leave(const std::string& message) {
  std::fprintf(stderr, "harness_cost: %s\n", message.c_str());
  std::exit(2);
}

format::Op make_op(format::OpCode code, uint8_t flags, uint32_t key, uint32_t argument) {
  format::Op op{};
  op.code = code;
  op.flags = flags;
  op.key = key;
  op.argument = argument;
  return op;
}

// Returns a program, the list of operations of a thread: `calls` calls of one kind, in transactions
// of `length` calls. If `length` is 0, each call is a transaction of its own (auto-commit).
std::vector<format::Op> program(format::OpCode code, uint32_t calls, uint32_t length) {
  std::vector<format::Op> ops{make_op(format::OpCode::kOpen, format::kUnitStart, 0, 0)};
  for (uint32_t i = 0; i < calls; ++i) {
    if (length > 0 && i % length == 0)
      ops.push_back(make_op(format::OpCode::kBegin, 0, 0, length + 1));
    const uint8_t flags = length == 0 ? format::kAutoCommit : uint8_t{0};
    ops.push_back(make_op(code, flags, i * kKeyStep % kKeys, 0));
    if (code == format::OpCode::kInsert) {
      ops.back().payload = kText;
      ops.back().argument = i + 1;  // the number of the payload, as in every benchmark
    }
    if (length > 0 && i % length == length - 1)
      ops.push_back(make_op(format::OpCode::kCommit, 0, 0, 0));
  }
  ops.push_back(make_op(format::OpCode::kClose, 0, 0, 0));
  return ops;
}

// Returns a program whose transactions each make one get and 31 getNext calls.
std::vector<format::Op> scans() {
  constexpr uint32_t kRecords = 32;
  std::vector<format::Op> ops{make_op(format::OpCode::kOpen, format::kUnitStart, 0, 0)};
  for (uint32_t i = 0; i < kCalls / kRecords; ++i) {
    ops.push_back(make_op(format::OpCode::kBegin, 0, 0, 3));
    ops.push_back(make_op(format::OpCode::kGet, 0, i * kKeyStep % kKeys, 0));
    ops.push_back(make_op(format::OpCode::kNext, 0, 0, kRecords - 1));
    ops.push_back(make_op(format::OpCode::kCommit, 0, 0, 0));
  }
  ops.push_back(make_op(format::OpCode::kClose, 0, 0, 0));
  return ops;
}

// Returns a program of transactions that only begin and commit.
std::vector<format::Op> empty_transactions() {
  std::vector<format::Op> ops;
  for (uint32_t i = 0; i < kCalls / 2; ++i) {
    ops.push_back(make_op(format::OpCode::kBegin, format::kUnitStart, 0, 1));
    ops.push_back(make_op(format::OpCode::kCommit, 0, 0, 0));
  }
  return ops;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Returns a script, the inputs of a session, with one index of int64 keys for the programs above.
script::Script plain_script() {
  script::Script script;
  script.indexes = {{"numbers", INT}};
  script.pools.payloads = {"", std::string(kTextBytes, 't')};
  for (uint32_t i = 0; i < kKeys; ++i) script.pools.int64_keys.push_back(int64_t{i} * i);
  return script;
}

// Returns the contest's mix of operations for one thread, as runs on the site play it.
script::Script contest_script() {
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    if (entry.name != "sigmod2009") continue;
    const Result<workload::Manifest> manifest = workload::Manifest::parse(entry.manifest_json);
    if (!manifest) leave(manifest.error().message);
    const workload::ParameterValues values = {{"threads", 1},
                                              {"inserts_per_thread", 400},
                                              {"tests_per_thread", kContestTransactions},
                                              {"indices", 20}};
    const workload::Parameters parameters = manifest->resolve("vary_low", "smoke", values).value();
    return entry.make("vary_low")->generate(parameters, 1, workload::CheckPolicy{}).value();
  }
  leave("this build lacks the benchmark sigmod2009, whose calls are measured; run ./dev build");
}

// The tables that the player makes from a script (all operations), and a buffer for copied results.
class Tables {
 public:
  explicit Tables(script::Script script)
      : script_(std::move(script)),
        writer_(script_),
        image_(script::pools_image(script_)),
        pools_(player::PoolsView::open(image_).value()),
        names_(pools_.indexes) {
    if (script_.phases.empty()) return;
    trace_.resize(script_.phases.at(kContestPhase).trace_capacity_bytes.at(0));
  }
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  const player::PoolsView& pools() const { return pools_; }
  player::IndexNames& names() { return names_; }
  std::span<std::byte> trace() { return trace_; }
  const script::PieceWriter& writer() const { return writer_; }

 private:
  const script::Script script_;
  const script::PieceWriter writer_;
  std::vector<std::byte> image_;
  player::PoolsView pools_;
  player::IndexNames names_;
  std::vector<std::byte> trace_;
};

// What a call may cost beyond its floor: `ns` on a machine whose floor is 1.5 ns, `floors`
// (multiples of the floor) on any machine. `goal` is the cost, in multiples of the floor, that a
// prototype with a simpler loop reached; 0: there is no goal.
struct Target {
  double ns;
  double floors;
  double goal = 0;
};
constexpr Target kRecordedTarget{30, 20};

constexpr Target call_target(double goal) { return {.ns = 5, .floors = 3.3, .goal = goal}; }

struct Row {
  const char* name;
  Tables* tables;
  std::vector<format::Op> ops;
  Target target;
  const Row* unrecorded = nullptr;  // the same calls unrecorded; nullptr: this row is unrecorded
  bool per_operation = false;       // the time of begin and commit counts as part of the operation
  std::vector<double> ns = {};
};

// Rows that are compared with the same floor.
struct Group {
  const char* floor_name;
  std::function<double()> floor;  // returns ns per call or operation
  const char* prefix;             // start of the name of an unrecorded row
  std::vector<Row> rows;
  std::vector<double> floor_ns;
};

class Bench {
 public:
  explicit Bench(const player::IndexApi& api) : api_(api) {}

  // Returns the number of calls that the program makes on a library that lets every call succeed.
  static uint64_t calls_of(const std::vector<format::Op>& ops) {
    uint64_t calls = 0;
    format::walk_program(ops, [&](const format::Step& step) {
      const format::Op& op = ops[step.op];
      calls += op.code == format::OpCode::kNext ? op.argument : 1;
    });
    return calls;
  }

  // Returns the interpreter's ns per call. Calls that begin and end transactions count as calls,
  // except if `row.per_operation`. For a recorded row, the calls are also logged.
  double session(const Row& row) {
    const bool recorded = row.unrecorded != nullptr;
    auto outcome = std::make_unique<format::ThreadOutcome>();
    player::InterpreterInputs inputs;
    std::optional<player::Recording> recording;
    if (recorded) {
      recording.emplace(player::RecordingInputs{.clock = &event_clock_, .log = log_});
      inputs.recording = &*recording;
    }
    inputs.api = &api_;
    inputs.pools = &row.tables->pools();
    inputs.names = &row.tables->names();
    inputs.events = &events_;
    inputs.clock = &clock_;
    inputs.go_ticks = clock_.ticks();
    inputs.outcome = outcome.get();
    words_.resize(format::count_words(row.ops, {}) + format::kWordsReserve);
    inputs.words = words_;
    inputs.trace = row.tables->trace();
    player::Interpreter session(inputs);
    const std::vector<std::byte> image = row.tables->writer().write(row.ops, true);
    const player::PieceView piece = player::PieceView::open(*inputs.pools, image).value();
    const double start = thread_cpu_ns();
    session.run(piece);
    const double elapsed = thread_cpu_ns() - start;
    session.finish();
    return elapsed / static_cast<double>(row.per_operation ? kCalls : calls_of(row.ops));
  }

 private:
  const player::IndexApi& api_;
  player::Signals events_;
  TickClock clock_;
  player::EventClock event_clock_;
  // Buffers with room for the results of all calls. Their pages are written before the clock
  // starts, so that no page fault is measured.
  std::vector<uint64_t> words_;
  std::vector<Event> log_ = std::vector<Event>(2 * kCalls);
};

// Returns the ns per call of contract A's floor.
double index_floor(const player::IndexApi& api, const std::vector<format::Op>& ops) {
  const CallFloor floor = call_floor(api, ops);
  if (floor.misses > 0) {
    leave(std::to_string(floor.misses) + " calls did not return SUCCESS, so the measured cost of " +
          "a call is wrong: give indexes/null as the library");
  }
  return floor.ns / kCalls;
}

// Returns the ns per get of contract B's floor.
double structure_floor(const KeydromeStructureTable& table, const std::vector<format::Op>& ops) {
  const KeydromeSetup setup{sizeof setup, sizeof(uint64_t), nullptr};
  const KeydromeStructure* instance = table.create(nullptr, &setup);
  uint64_t key = 0;
  KeydromeBuffer buffer{nullptr, 0, 0};
  uint32_t hits = 0;
  const double start = thread_cpu_ns();
  for (const format::Op& op : ops) {
    if (op.code != format::OpCode::kGet) continue;
    if (table.find(instance, {&key, sizeof key}, {nullptr, 0}, &buffer) != 0) ++hits;
  }
  const double elapsed = thread_cpu_ns() - start;
  if (hits > 0) {
    leave("the structure is not structures/null: " + std::to_string(hits) +
          " reads found a record, so the floor is wrong; rebuild structures/null");
  }
  return elapsed / kCalls;
}

// In each repetition, measures the floor once and each row once.
void measure(Bench& bench, Group& group) {
  for (uint32_t repetition = 0; repetition < kRepetitions; ++repetition) {
    group.floor_ns.push_back(group.floor());
    for (Row& row : group.rows) row.ns.push_back(bench.session(row));
  }
}

Json figure(const std::string& name, const std::string& value, const std::string& target) {
  return Json::Object{{"figure", name}, {"value", value}, {"target", target}};
}

std::string in_floors(double ns, double floor) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f ns, %.1f times the floor", ns, ns / floor);
  return text;
}

std::string text_of(const Target& target) {
  char text[96];
  std::snprintf(text, sizeof text, "at most %g times the floor (%.0f ns if the floor is 1.5 ns)",
                target.floors, target.ns);
  if (target.goal == 0) return text;
  char goal[48];
  std::snprintf(goal, sizeof goal, "; goal: at most %g times the floor", target.goal);
  return std::string(text) + goal;
}

// If a figure misses its target, returns text that says so. Otherwise, if it misses its goal,
// returns text that says so. Returns "" if it meets both. Figure and target are compared with one
// decimal, as printed.
std::string missed(double floors, const Target& target) {
  const double rounded = std::round(floors * 10) / 10;
  const bool on_target = rounded - target.floors < 0.05;
  if (on_target && target.goal == 0) return "";
  const double by = rounded - (on_target ? target.goal : target.floors);
  if (by < 0.05) return "";
  char text[64];
  std::snprintf(text, sizeof text, "; %s *missed* by %.1f times the floor",
                on_target ? "goal" : "target", by);
  return text;
}

void print(const Group& group, Json& figures) {
  const double floor = median(group.floor_ns);
  figures.push_back(figure(group.floor_name, in_floors(floor, floor), "-"));
  std::printf("%-58s %8.2f\n", group.floor_name, floor);
  for (const Row& row : group.rows) {
    const bool recorded = row.unrecorded != nullptr;
    const double ns = median(row.ns);
    const double beyond = ns - (recorded ? median(row.unrecorded->ns) : floor);
    std::printf("%-58s %8.2f %8.2f %8.1f\n", row.name, ns, beyond, beyond / floor);
    const std::string prefix = recorded ? "time that recording adds to a call: " : group.prefix;
    const std::string value = in_floors(beyond, floor) + missed(beyond / floor, row.target);
    figures.push_back(figure(prefix + row.name, value, text_of(row.target)));
  }
}

std::vector<format::Op> gets(uint32_t length) {
  return program(format::OpCode::kGet, kCalls, length);
}
std::vector<format::Op> inserts(uint32_t length) {
  return program(format::OpCode::kInsert, kCalls, length);
}

// Returns the rows of contract A. Rows point to each other, so the vector must not be copied or
// resized.
std::vector<Row> index_rows(Tables& plain, Tables& contest, const script::Script& contest_script) {
  std::vector<Row> rows(9);
  const std::vector<format::Op>& mix = contest_script.phases.at(kContestPhase).threads.at(0);
  rows[0] = {"calls of the contest SIGMOD 2009", &contest, mix, call_target(0.9)};
  rows[1] = {"4,096 gets in each timed transaction", &plain, gets(4096), call_target(1.0)};
  rows[2] = {"16 gets in each timed transaction", &plain, gets(16), call_target(1.0)};
  rows[3] = {"gets outside transactions, one in 61 timed", &plain, gets(0), call_target(1.0)};
  rows[4] = {"a get and 31 getNext in each timed transaction", &plain, scans(), call_target(0.5)};
  rows[5] = {"16 inserts in each timed transaction", &plain, inserts(16), call_target(1.7)};
  rows[6] = {"timed transactions of only begin and commit", &plain, empty_transactions(),
             call_target(2.0)};
  rows[7] = {"16 gets in each transaction, recorded", &plain, gets(16), kRecordedTarget, &rows[2]};
  rows[8] = {"16 inserts in each transaction, recorded", &plain, inserts(16), kRecordedTarget,
             &rows[5]};
  return rows;
}

std::vector<Row> structure_rows(Tables& plain) {
  const auto row = [&](const char* name, uint32_t length, Target target) {
    return Row{.name = name,
               .tables = &plain,
               .ops = gets(length),
               .target = target,
               .per_operation = true};
  };
  return {row("4,096 gets in each timed transaction", 4096, {2, 1.3}),
          row("gets outside transactions, one in 61 timed", 0, {3, 2}),
          row("one get in each timed transaction", 1, {17, 11})};
}

// The measured libraries: indexes/null, structures/null with the runtime, and structures/null
// alone.
struct Subjects {
  player::IndexApi index;
  player::IndexApi bare;
  const KeydromeStructureTable* structure;
};

int run(const Subjects& subjects, const std::string& json_path) {
  Tables plain(plain_script());
  const script::Script contest = contest_script();
  Tables contest_tables(contest);
  const std::vector<format::Op> calls = gets(0);
  Group a{.floor_name = "floor: loop that only calls a library that does nothing",
          .floor = [&] { return index_floor(subjects.index, calls); },
          .prefix = "time that the harness adds to a call: ",
          .rows = index_rows(plain, contest_tables, contest),
          .floor_ns = {}};
  Group b{.floor_name = "floor: loop that only calls find of an empty structure",
          .floor = [&] { return structure_floor(*subjects.structure, calls); },
          .prefix = "time that harness and runtime add to find: ",
          .rows = structure_rows(plain),
          .floor_ns = {}};
  Bench index_bench(subjects.index);
  measure(index_bench, a);
  char name[] = "numbers";
  if (subjects.bare.create(INT, name) != SUCCESS) {
    leave("the function create of runtime/runtime.so failed; run ./dev build");
  }
  Bench bare_bench(subjects.bare);
  measure(bare_bench, b);
  Json figures = Json::Array{};
  std::printf("%-58s %8s %8s %8s\n", "median CPU time per call", "total ns", "added ns", "floors");
  print(a, figures);
  print(b, figures);
  return write_figures(json_path,
                       Json::Object{{"title", "Harness cost per API call"}, {"rows", figures}});
}

player::IndexApi load(const std::string& path, const std::string& configuration) {
  const LoadedLibrary library = load_library(path.c_str(), configuration.c_str());
  if (library.status == kLoadOk) return library.api;
  leave("cannot load " + path + ": " + library.reason + "; run ./dev build, or name another file");
}

const KeydromeStructureTable* load_structure(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, "keydrome_structure");
  if (symbol == nullptr) leave("cannot load " + std::string(dlerror()) + "; run ./dev build");
  return reinterpret_cast<decltype(&keydrome_structure)>(symbol)();
}

Subjects load_subjects(const std::string& folder, const std::string& index_path) {
  const std::string structure = folder + "structures/null.so";
  const Result<Json> bare =
      Json::parse_file(KEYDROME_BARE, "restore this file from Keydrome's repository");
  if (!bare.ok()) leave(bare.error().message);
  const Json setup = Json::Object{{"structure", structure}, {"configuration", *bare}};
  return {.index = load(index_path.empty() ? folder + "indexes/null.so" : index_path, ""),
          .bare = load(folder + "runtime/runtime.so", setup.dump()),
          .structure = load_structure(structure)};
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  const keydrome::BenchArguments parsed = keydrome::bench_arguments_or_exit(
      count, arguments, 1, "harness_cost [NULL_LIBRARY] [--json FILE]");
  const std::string self = arguments[0];
  const std::string index_path = parsed.words.empty() ? "" : parsed.words[0];
  const std::string folder = self.substr(0, self.rfind('/') + 1) + "../lib/";
  return keydrome::run(keydrome::load_subjects(folder, index_path), parsed.json_path);
}
