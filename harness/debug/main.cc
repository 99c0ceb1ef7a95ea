// debug_session: plays the operations of one session (one repetition of a benchmark) with a library
// in this process, so that a debugger or a sanitizer can watch the library.
//
//   debug_session PLAN
//
// PLAN is the JSON file from which the referee, the program that judges sessions, would play the
// same operations. Nothing is jailed, timed or judged here: the library has every right of the
// user, and no result is compared. So only the command line `keydrome debug` starts this program,
// on a contestant's own machine. No code of the site or of its workers does.
//
// The calls are made by the same code as in the player, the program that plays real sessions in a
// jail (sandbox). But this program limits neither memory nor time, and catches no exceptions,
// because a debugger shows where they were thrown. At the end it prints how much time the calls of
// each function took (call_times.h). A real player receives each thread's list of operations in
// portions, called pieces. This program makes the pieces itself.
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/script/images.h"
#include "benchmarks/kit/script/outcome_layout.h"
#include "benchmarks/kit/script/piece_writer.h"
#include "harness/debug/call_times.h"
#include "harness/player/library.h"
#include "harness/referee/memory/session_memory.h"
#include "harness/referee/plan/plan.h"
#include "harness/referee/session/prepare.h"

namespace keydrome {
namespace {

constexpr int kUsage = 2;
constexpr uint64_t kPieceBytes = 256 << 10;

Result<PreparedSession> prepare(const char* path) {
  const Result<Json> json =
      Json::parse_file(path, "`keydrome debug` writes this plan: start the command again");
  if (!json) return json.error();
  Result<Plan> plan = parse_plan(*json);
  if (!plan) return plan.error();
  const Result<const workload::BenchmarkEntry*> entry = find_benchmark(plan->benchmark);
  if (!entry) return entry.error();
  Result<InputFiles> files = read_input_files(*plan);
  if (!files) return files.error();
  return prepare_session(std::move(*plan), **entry, std::move(*files));
}

// Returns the argument of keydrome_configure. If the plan names a data structure, to which
// Keydrome's runtime adds transactions, the argument contains the structure's path. In a jail this
// would be a path inside the jail; here it is the path on this machine.
Result<std::string> configuration_of(const PreparedSession& session) {
  const LibraryPlan& library = session.plan.library;
  std::vector<KeyType> types;
  for (const script::IndexSpec& index : session.script.indexes) types.push_back(index.type);
  std::string text = configuration_text(library, threads_max(session.script), types);
  if (library.structure.empty()) return text;
  Result<Json> json = Json::parse(text);
  if (!json) return json.error();
  (*json)["structure"] = library.structure;
  return json->dump();
}

// The memory into which the threads of a phase write their results. This program does not read
// them.
class Outcome {
 public:
  explicit Outcome(const script::OutcomeLayout& layout)
      : lines_((layout.size_bytes + sizeof(Line) - 1) / sizeof(Line)) {
    script::write_outcome_header(layout,
                                 {reinterpret_cast<std::byte*>(lines_.data()), layout.size_bytes});
  }
  std::byte* at(uint64_t offset) { return reinterpret_cast<std::byte*>(lines_.data()) + offset; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

// Plays the phases of a script (all operations of a session), one after another.
class Session {
 public:
  Session(const script::Script& script, const player::IndexApi& api)
      : script_(script),
        api_(api),
        writer_(script),
        image_(script::pools_image(script)),
        pools_(player::PoolsView::open(image_).value()),
        names_(pools_.indexes) {}

  // As in the player, the calling thread is thread 0 of each phase.
  void play(const script::PhaseScript& phase) {
    const script::OutcomeLayout layout = script::outcome_layout(phase, script_.pools);
    Outcome outcome(layout);
    player::Signals signals;
    player::Turns turns;
    const uint64_t go_ticks = clock_.ticks();
    const auto run = [&](std::size_t thread) {
      const format::OutcomeHeader::Span& span = layout.header.spans[thread];
      auto* outcomes =
          reinterpret_cast<format::ThreadOutcome*>(outcome.at(layout.header.thread_offset));
      play_thread(phase.threads[thread],
                  {.api = &api_,
                   .pools = &pools_,
                   .names = &names_,
                   .events = &signals,
                   .turns = &turns,
                   .retry_budget = &retry_budget_,
                   .clock = &clock_,
                   .go_ticks = go_ticks,
                   .outcome = &outcomes[thread],
                   .words = {reinterpret_cast<uint64_t*>(outcome.at(span.words_offset)),
                             span.words_capacity},
                   .words_spare = span.words_spare,
                   .trace = {outcome.at(span.trace_offset), span.trace_capacity}});
      keep_call_times();
    };
    std::vector<std::jthread> threads;
    for (std::size_t t = 1; t < phase.threads.size(); ++t) threads.emplace_back(run, t);
    run(0);
  }

 private:
  void play_thread(std::span<const format::Op> ops, const player::InterpreterInputs& inputs) {
    player::Interpreter interpreter(inputs);
    for (uint64_t from = 0; from < ops.size() && !interpreter.ended();) {
      const uint64_t end = writer_.cut(ops, from, kPieceBytes);
      const std::vector<std::byte> piece =
          writer_.write(ops.subspan(from, end - from), end == ops.size());
      interpreter.run(player::PieceView::open(pools_, piece).value());
      from = end;
    }
    interpreter.finish();
  }

  const script::Script& script_;
  const player::IndexApi& api_;
  const script::PieceWriter writer_;
  const std::vector<std::byte> image_;
  const player::PoolsView pools_;
  player::IndexNames names_;
  player::RetryBudget retry_budget_;
  const TickClock clock_;
};

int print_error(const std::string& message) {
  std::fprintf(stderr, "debug_session: %s\n", message.c_str());
  return kUsage;
}

int run(const char* path) {
  const Result<PreparedSession> session = prepare(path);
  if (!session) return print_error(session.error().message);
  const Result<std::string> configuration = configuration_of(*session);
  if (!configuration) return print_error(configuration.error().message);
  const LoadedLibrary library =
      load_library(session->plan.library.path.c_str(), configuration->c_str());
  if (library.status != kLoadOk) return print_error("cannot load the library: " + library.reason);
  const player::IndexApi api = timed_calls(library.api);
  Session player(session->script, api);
  for (const script::PhaseScript& phase : session->script.phases) {
    std::printf("phase %s, %zu %s\n", phase.name.c_str(), phase.threads.size(),
                phase.threads.size() == 1 ? "thread" : "threads");
    std::fflush(stdout);
    player.play(phase);
  }
  std::printf("%severy call returned\n", call_times_text().c_str());
  return 0;
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  if (count != 2)
    return keydrome::print_error("usage: debug_session PLAN; see keydrome debug --help");
  return keydrome::run(arguments[1]);
}
