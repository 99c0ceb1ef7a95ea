// Implements the commands of the referee, the program that plays and judges one session: one
// repetition of a benchmark, with one library. command_run() reads the plan (the JSON file that
// describes the session), prepares the session, plays it, judges it, and writes the report.
#include "harness/referee/commands.h"

#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/output_file.h"
#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "harness/referee/judging/judging.h"
#include "harness/referee/machine/machine.h"
#include "harness/referee/machine/memory_bound.h"
#include "harness/referee/machine/time_slice.h"
#include "harness/referee/plan/plan.h"
#include "harness/referee/report/report.h"
#include "harness/referee/session/conductor.h"
#include "harness/referee/session/prepare.h"

namespace keydrome {
namespace {

int print_error(const Error& error, int exit_code) {
  std::fprintf(stderr, "referee: %s\n", error.message.c_str());
  return exit_code;
}

Result<Plan> read_plan(const std::string& path) {
  const Result<Json> json = Json::parse_file(path);
  if (!json) return json.error();
  return parse_plan(*json);
}

void print_progress(const Json& event) {
  const std::string line = event.dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

// Returns a report that has only a verdict: nothing was played, or the results are lost.
Json bare_report(const Plan& plan, RunVerdict verdict) {
  return make_report(
      {plan, {}, {}, nullptr, {}, judge::Findings(), std::move(verdict), machine_facts()});
}

Result<Json> session_report(PreparedSession& session, const RunArguments& arguments,
                            const Progress& progress, StepStarts starts) {
  Json machine = machine_facts();  // read before the session, which makes the machine busy
  machine["pinning"] =
      session.plan.jail.cpus.empty() ? "none" : "to the CPUs " + session.plan.jail.cpus;
  const std::optional<CpuTimes> before = cpu_times();
  const Adapt adapt = [&](uint32_t phase, const script::Outcome& so_far) {
    session.workload->adapt_phase(session.script, phase, so_far);
  };
  if (session.manifest.kind == "correctness") ask_for_short_time_slices();
  starts.playing_ns = now_ns();
  std::shared_ptr<const judge::KeyRanks> ranks;
  SessionResult result = play(session.script, session.jail, progress, adapt, [&] {
    ranks = std::make_shared<const judge::KeyRanks>(session.script.pools);
  });
  result.outcome.ranks = std::move(ranks);
  starts.judging_ns = now_ns();
  script::drop_unplayed(session.script, result.outcome);
  add_stolen_time(before, cpu_times(), machine);
  Judgement judgement = judge_session(session, result);
  if (judgement.histories_judged) {
    const Result<void> kept = keep_histories(arguments.histories, session.plan, session.script,
                                             result.outcome, judgement.findings);
    if (!kept) return kept.error();
  }
  return make_report({session.plan, session.parameters.values(), session.script,
                      session.workload.get(), result, judgement.findings,
                      std::move(judgement.verdict), std::move(machine),
                      session.memory.referee_bytes, starts});
}

int write_report(const Json& report, const std::string& path, const Progress& progress) {
  if (progress) {
    progress(Json::Object{{"event", "verdict"}, {"verdict", *report.find("verdict")}});
  }
  const Result<void> written = write_file(path, report.dump(2) + "\n");
  return written ? kExitDone : print_error(written.error(), kExitNotWritten);
}

// Plays a session within the bound of the referee's memory, and writes its report.
int play_bounded(const Plan& plan, const workload::BenchmarkEntry& entry,
                 const RunArguments& arguments, const Progress& progress, StepStarts starts) {
  Result<InputFiles> files = read_input_files(plan);
  if (!files) return print_error(files.error(), kExitUnusable);
  const Result<MemoryNeed> need = session_memory(plan, entry, *files);
  if (!need) return print_error(need.error(), kExitUnusable);
  const uint64_t bound =
      bound_memory(referee_bound(*need, physical_memory_bytes(), available_memory_bytes()));
  Json text;
  try {
    starts.generating_ns = now_ns();
    Result<PreparedSession> session = prepare_session(plan, entry, std::move(*files));
    if (!session) return print_error(session.error(), kExitUnusable);
    Result<Json> report = session_report(*session, arguments, progress, starts);
    if (!report) return print_error(report.error(), kExitNotWritten);
    text = std::move(*report);
  } catch (const std::bad_alloc&) {  // the session's memory is free again: enough for a report
    text = bare_report(plan, memory_verdict(need->referee_bytes, bound));
  }
  return write_report(text, arguments.report_path, progress);
}

// Returns an error if the report or a history could not be written after the session.
Result<void> check_outputs(const RunArguments& arguments) {
  Result<void> writable = check_writable(arguments.report_path);
  if (!writable || arguments.histories.folder.empty()) return writable;
  writable = check_writable(arguments.histories.folder + "/history");
  if (writable) return writable;
  return Error{"--histories " + arguments.histories.folder + ": " + writable.error().message};
}

}  // namespace

int command_run(const RunArguments& arguments) {
  const StepStarts starts{.session_ns = now_ns()};
  Result<Plan> plan = read_plan(arguments.plan_path);
  if (!plan) return print_error(plan.error(), kExitUnusable);
  const Result<const workload::BenchmarkEntry*> entry = find_benchmark(plan->benchmark);
  if (!entry) return print_error(entry.error(), kExitUnusable);
  const Progress progress = arguments.progress ? Progress(print_progress) : Progress();
  if (const Result<void> writable = check_outputs(arguments); !writable) {
    return print_error(writable.error(), kExitNotWritten);
  }
  if ((*entry)->version != plan->benchmark_version) {
    RunVerdict stale = stale_verdict(plan->benchmark, plan->benchmark_version, (*entry)->version);
    return write_report(bare_report(*plan, std::move(stale)), arguments.report_path, progress);
  }
  return play_bounded(*plan, **entry, arguments, progress, starts);
}

int command_memory(const std::string& plan_path) {
  const Result<Plan> plan = read_plan(plan_path);
  if (!plan) return print_error(plan.error(), kExitUnusable);
  const Result<const workload::BenchmarkEntry*> entry = find_benchmark(plan->benchmark);
  if (!entry) return print_error(entry.error(), kExitUnusable);
  const Result<InputFiles> files = read_input_files(*plan);
  if (!files) return print_error(files.error(), kExitUnusable);
  const Result<MemoryNeed> need = session_memory(*plan, **entry, *files);
  if (!need) return print_error(need.error(), kExitUnusable);
  const auto whole = [](uint64_t bytes) { return static_cast<int64_t>(bytes); };
  const Json text = Json::Object{{"referee_bytes", whole(need->referee_bytes)},
                                 {"library_bytes", whole(need->library_bytes)}};
  std::puts(text.dump().c_str());
  return kExitDone;
}

int command_keys(const std::string& path) {
  const Result<workload::KeyFile> keys = fitting_keys(path);
  if (!keys) return print_error(keys.error(), kExitUnusable);
  const workload::KeyFacts facts = workload::facts_of(*keys);
  Json text = Json::Object{{"type", keys->type == INT ? "int64" : "varchar"},
                           {"count", static_cast<int64_t>(keys->size())}};
  if (keys->type == INT) {
    text["shifted"] = keys->shifted;
    text["smallest"] = keys->integers.front();
    text["largest"] = keys->integers.back();
    text["segments_32_per_million"] = facts.local_hardness;
    text["segments_4096_per_million"] = facts.global_hardness;
  } else {
    text["mean_bytes"] = facts.mean_bytes;
    text["longest_bytes"] = static_cast<int64_t>(keys->longest_bytes);
    text["mean_shared_bytes"] = facts.mean_shared_bytes;
  }
  std::puts(text.dump().c_str());
  return kExitDone;
}

int command_trace(const std::string& path) {
  const Result<workload::TraceFile> trace = fitting_trace(path);
  if (!trace) return print_error(trace.error(), kExitUnusable);
  const auto whole = [](uint64_t number) { return static_cast<int64_t>(number); };
  const workload::TraceCounts& counts = trace->counts;
  Json text = Json::Object{{"threads", whole(trace->threads.size())},
                           {"loaded", whole(trace->load.size())},
                           {"keys", whole(trace->keys())},
                           {"transactions", whole(counts.transactions)},
                           {"single_calls", whole(counts.single_calls)},
                           {"gets", whole(counts.gets)},
                           {"next_calls", whole(counts.next_calls)},
                           {"inserts", whole(counts.inserts)},
                           {"deletes", whole(counts.deletes)}};
  text["indexes"] = Json::Object{};
  for (const workload::TraceFile::Index& index : trace->indexes) {
    text["indexes"][index.name] = workload::trace_type_name(index.type);
  }
  std::puts(text.dump().c_str());
  return kExitDone;
}

int command_list() {
  Json benchmarks = Json::Array{};
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    Result<Json> manifest = Json::parse(entry.manifest_json);
    if (!manifest) {
      return print_error({std::string(entry.name) + ": " + manifest.error().message},
                         kExitUnusable);
    }
    benchmarks.push_back(std::move(*manifest));
  }
  const std::string text = Json(Json::Object{{"benchmarks", benchmarks}}).dump(2) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kExitDone;
}

int command_fingerprint(const std::string& benchmark) {
  const Result<const workload::BenchmarkEntry*> entry = find_benchmark(benchmark);
  if (!entry) return print_error(entry.error(), kExitUnusable);
  const Result<std::string> fingerprint = workload::benchmark_fingerprint(**entry);
  if (!fingerprint) return print_error(fingerprint.error(), kExitUnusable);
  const Json file = Json::Object{{std::to_string((*entry)->version), *fingerprint}};
  std::puts(file.dump(2).c_str());
  return kExitDone;
}

}  // namespace keydrome
