// judge_cost: measures what it costs the referee, the trusted process that runs a benchmark, to
// judge the results. The results are words: 8 bytes for each call. To judge the words, the referee
// compares them with the expected results. To certify the run, the referee finds an order of the
// transactions that explains all results.
//
//   judge_cost [--json FILE]      needs indexes/global_lock, which is built next to this program
//
// The program plays a benchmark of one thread in this process. Operations and results have the same
// memory formats as in a real session (one repetition of a benchmark). There the referee exchanges
// them with the player, the jailed process that calls the library. The thread inserts a million
// records and reads them in random order, in transactions of 16 gets. Each figure is a median of
// the CPU time of one thread:
// - to read and judge ten million words
// - to turn the words of a million transactions into a history of calls, and to certify it
//
// Like the referee, the program has its large tables on huge pages (base/huge_pages.cc). The memory
// of the library is on huge pages, too, but the library's speed is not measured.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/script/images.h"
#include "benchmarks/kit/script/outcome_layout.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/piece_writer.h"
#include "benchmarks/kit/script/script_builder.h"
#include "harness/bench/arguments.h"
#include "harness/bench/call_floor.h"
#include "harness/player/library.h"

namespace keydrome {
namespace {

constexpr uint32_t kRecords = 1'000'000;
constexpr uint32_t kReads = 4'000'000;
constexpr uint32_t kReadsPerTransaction = 16;
constexpr uint32_t kStep = 618'033;  // odd and no multiple of 5, so every key is read equally often
constexpr double kWordsShown = 1e7, kTransactionsShown = 1e6;
constexpr int kRepetitions = 3;
constexpr uint64_t kPieceBytes = 256 << 10;

script::Script reads_of_records() {
  script::ScriptBuilder script;
  script.add_class("read");
  const uint32_t index = script.add_index("numbers", INT);
  const uint32_t text = script.add_text("a text as long as the payloads of 2009");
  for (uint32_t i = 0; i < kRecords; ++i) script.add_int64_key(int64_t{i} * 3);
  script::ThreadBuilder fill = script.thread(script.add_phase("populate", 1, {.timed = true}), 0);
  fill.create(index);
  fill.auto_commit_as(format::Kind::kStream, 0);
  for (uint32_t i = 0; i < kRecords; ++i) {
    if (i % 1000 == 0) {
      fill.unit_start();
      fill.open(0, index);
    }
    fill.insert(0, i, script.new_payload(text));
    if (i % 1000 == 999) fill.close(0);
  }
  script::ThreadBuilder out = script.thread(script.add_phase("test", 1, {.timed = true}), 0);
  uint32_t key = 0;
  for (uint32_t i = 0; i < kReads / kReadsPerTransaction; ++i) {
    out.unit_start();
    out.open(0, index);
    out.begin(format::Kind::kStream, 0);
    for (uint32_t read = 0; read < kReadsPerTransaction; ++read) {
      out.get(0, key);
      key = (key + kStep) % kRecords;
    }
    out.commit();
    out.close(0);
  }
  return script.build();
}

// A part of the memory for the results of a phase (the outcome), zeroed and aligned like a memfd.
struct alignas(64) Line {
  std::byte bytes[64];
};

struct PlayedPhase {
  script::OutcomeLayout layout;
  std::vector<Line> memory;

  std::span<std::byte> image() {
    return {reinterpret_cast<std::byte*>(memory.data()), memory.size() * sizeof(Line)};
  }
};

PlayedPhase play(const script::Script& script, const script::PieceWriter& writer,
                 const script::PhaseScript& phase, const player::IndexApi& library) {
  PlayedPhase played;
  played.layout = script::outcome_layout(phase, script.pools);
  played.memory.resize(played.layout.size_bytes / sizeof(Line) + 1);
  std::byte* base = played.image().data();
  const std::vector<std::byte> session = script::pools_image(script);
  const player::PoolsView pools = player::PoolsView::open(session).value();
  player::IndexNames names(pools.indexes);
  player::Signals signals;
  player::RetryBudget retry_budget;
  const TickClock clock;
  const format::OutcomeHeader& header = played.layout.header;
  const format::OutcomeHeader::Span& span = header.spans[0];
  player::Interpreter interpreter(
      {.api = &library,
       .pools = &pools,
       .names = &names,
       .events = &signals,
       .retry_budget = &retry_budget,
       .clock = &clock,
       .go_ticks = clock.ticks(),
       .outcome = reinterpret_cast<format::ThreadOutcome*>(base + header.thread_offset),
       .words = {reinterpret_cast<uint64_t*>(base + span.words_offset), span.words_capacity},
       .words_spare = span.words_spare,
       .trace = {}});
  const std::span<const format::Op> ops = phase.threads[0];
  for (uint64_t from = 0; from < ops.size();) {
    const uint64_t end = writer.cut(ops, from, kPieceBytes);
    const std::vector<std::byte> piece =
        writer.write(ops.subspan(from, end - from), end == ops.size());
    interpreter.run(player::PieceView::open(pools, piece).value());
    from = end;
  }
  interpreter.finish();
  return played;
}

script::Outcome read(const script::Script& script, std::vector<PlayedPhase>& played,
                     bool keep_calls) {
  script::Outcome outcome;
  for (std::size_t p = 0; p < played.size(); ++p) {
    outcome.phases.push_back(script::read_outcome(played[p].image(), played[p].layout, script,
                                                  script.phases[p], keep_calls)
                                 .value());
  }
  return outcome;
}

// Returns a row of figures, and prints it with its target; "-" means that it has none.
Json row(const char* figure, const char* value, const std::string& target) {
  const std::string shown = target == "-" ? "" : " (" + target + ")";
  std::printf("%-60s %s%s\n", figure, value, shown.c_str());
  return Json::Object{{"figure", figure}, {"value", value}, {"target", target}};
}

double median_s(std::vector<double> ns) {
  std::ranges::sort(ns);
  return ns[ns.size() / 2] / 1e9;
}

// Returns the two rows. Aborts the process if the library returned a wrong result.
Json measure(const player::IndexApi& library) {
  const script::Script script = reads_of_records();
  const script::PieceWriter writer(script);
  std::vector<PlayedPhase> played;
  for (const script::PhaseScript& phase : script.phases)
    played.push_back(play(script, writer, phase, library));
  uint64_t words = 0, transactions = 0;
  std::vector<double> judged, certified;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    judge::Findings findings;
    double start = thread_cpu_ns();
    script::Outcome outcome = read(script, played, false);
    judge::judge_script(script, outcome, findings);
    judged.push_back(thread_cpu_ns() - start);
    start = thread_cpu_ns();
    outcome = read(script, played, true);
    judge::judge_recorded(script, outcome, /*strict=*/true, findings);
    certified.push_back(thread_cpu_ns() - start);
    KEYDROME_CHECK(findings.empty() && findings.not_judged_reason().empty());
    words = transactions = 0;
    for (const script::PhaseOutcome& phase : outcome.phases) {
      words += phase.threads[0].reported->words;
      transactions += phase.threads[0].ends.size();
    }
  }
  constexpr double kGoal = 0.2;  // seconds; a prototype of the judge was this fast
  const double judged_s = median_s(judged) * kWordsShown / static_cast<double>(words);
  const double beyond_s = std::round(judged_s * 100) / 100 - kGoal;
  char value[64];
  std::snprintf(value, sizeof value, beyond_s > 0 ? "%.2f s; goal *missed* by %.2f s" : "%.2f s",
                judged_s, beyond_s);
  Json rows = Json::Array{};
  rows.push_back(row("judging the results of ten million calls on a million keys", value,
                     "goal: at most 0.2 s"));
  std::snprintf(value, sizeof value, "%.2f s",
                median_s(certified) * kTransactionsShown / static_cast<double>(transactions));
  rows.push_back(row("finding a serial order of a million transactions", value, "-"));
  return rows;
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  const keydrome::BenchArguments parsed =
      keydrome::bench_arguments_or_exit(count, arguments, 0, "judge_cost [--json FILE]");
  const std::string self = arguments[0];
  const std::string path = self.substr(0, self.rfind('/') + 1) + "../lib/indexes/global_lock.so";
  const keydrome::LoadedLibrary library = keydrome::load_library(path.c_str(), "");
  if (library.status != keydrome::kLoadOk) {
    std::fprintf(stderr, "judge_cost: cannot load %s: %s; build it with ./dev build\n",
                 path.c_str(), library.reason.c_str());
    return 2;
  }
  const keydrome::Json rows = keydrome::measure(library.api);
  return keydrome::write_figures(
      parsed.json_path, keydrome::Json::Object{{"title", "Judging a session"}, {"rows", rows}});
}
