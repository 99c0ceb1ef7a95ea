#include "harness/referee/commands.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "benchmarks/kit/fingerprint.h"
#include "benchmarks/kit/log_judge.h"
#include "benchmarks/kit/parameters.h"
#include "benchmarks/kit/recorded_judge.h"
#include "benchmarks/kit/replay.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "harness/referee/machine.h"
#include "harness/referee/plan.h"
#include "harness/referee/report.h"
#include "harness/referee/run.h"
#include "harness/referee/session_limits.h"
#include "harness/referee/verdict.h"

namespace keydrome {
namespace {

constexpr uint64_t kWorkingBytesDefault = 16 << 20;
constexpr uint64_t kSpareMs = 60'000;  // of the session's last deadline: the referee's own work
constexpr uint64_t kSpareTasks =
    64;  // the player's main thread, the jail's init, the library's own threads
constexpr double kMemoryShareMax = 0.9;  // of the machine's memory, for one jail

int unusable(const std::string& message) {
  std::fprintf(stderr, "referee: %s\n", message.c_str());
  return kExitUnusable;
}

int not_written(const std::string& message) {
  std::fprintf(stderr, "referee: %s\n", message.c_str());
  return kExitNotWritten;
}

const BenchmarkEntry* find_benchmark(std::string_view name) {
  for (const BenchmarkEntry& entry : benchmark_registry()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Error unknown_benchmark(const std::string& name) {
  std::string known;
  for (const BenchmarkEntry& entry : benchmark_registry()) {
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Error{"there is no benchmark \"" + name + "\"; there are: " + known};
}

// Everything that is known before the session starts.
struct Prepared {
  Plan plan;
  Manifest manifest;
  Parameters parameters;
  std::unique_ptr<Workload> workload;
  Script script;
  bool certify = false;  // recorded because the plan says so: the benchmark does not judge that
  JailOptions jail;
};

Result<Plan> read_plan(const std::string& path) {
  const Result<Json> json = Json::parse_file(path);
  if (!json) return json.error();
  return parse_plan(*json);
}

Result<void> check_files(const Plan& plan) {
  const std::pair<const char*, std::string> readable[] = {
      {"library.path", plan.library.path}, {"library.structure", plan.library.structure}};
  for (const auto& [field, path] : readable) {
    if (!path.empty() && access(path.c_str(), R_OK) != 0) {
      return Error{std::string("plan.") + field + ": cannot read " + path};
    }
  }
  const std::pair<const char*, std::string> runnable[] = {
      {"player", plan.player}, {"driver", plan.driver}, {"jail.path", plan.jail.path}};
  for (const auto& [field, path] : runnable) {
    if (path.empty()) continue;
    if (access(path.c_str(), X_OK) != 0) {
      return Error{std::string("plan.") + field + ": cannot execute " + path + "; build it first"};
    }
  }
  return {};
}

std::optional<uint64_t> limit_of(const Manifest& manifest, const std::string& scale,
                                 const char* name) {
  const auto limits = manifest.limits.find(scale);
  if (limits == manifest.limits.end()) return std::nullopt;
  const auto limit = limits->second.find(name);
  if (limit == limits->second.end()) return std::nullopt;
  return static_cast<uint64_t>(limit->second);
}

Result<JailOptions> jail_options(const Plan& plan, const Manifest& manifest, const Script& script) {
  JailOptions options{.plan = plan};
  options.memory_bytes =
      plan.jail.memory_bytes.value_or(limit_of(manifest, plan.scale, "memory_bytes").value_or(0));
  options.tmpfs_bytes = plan.jail.tmpfs_bytes.value_or(
      limit_of(manifest, plan.scale, "tmpfs_bytes").value_or(kWorkingBytesDefault));
  size_t threads = 0;
  for (const PhaseScript& phase : script.phases) threads = std::max(threads, phase.threads.size());
  options.processes = plan.jail.processes.value_or(2 * threads + kSpareTasks);
  // Where this is cut off at the jail's maximum, the session may end before a phase has used its
  // time up.
  options.wall_ms =
      std::min<uint64_t>(kJailWallMsMax - kJailSpareMs,
                         2 * plan.limits.load_timeout_ms + kSpareMs +
                             script.phases.size() * (plan.limits.phase_timeout_ms + kSpareMs));
  const uint64_t machine_bytes = physical_memory_bytes();
  if (machine_bytes > 0 && static_cast<double>(options.memory_bytes) >
                               kMemoryShareMax * static_cast<double>(machine_bytes)) {
    return Error{"this instance may use " + std::to_string(options.memory_bytes >> 20) +
                 " MiB, and the machine has " + std::to_string(machine_bytes >> 20) +
                 " MiB; choose a smaller scale, or set jail.memory_bytes in the plan"};
  }
  return options;
}

bool records_itself(const Script& script) {
  return std::any_of(script.phases.begin(), script.phases.end(),
                     [](const PhaseScript& phase) { return !phase.log_capacity.empty(); });
}

// Checks the plan against the benchmark and generates the script.
Result<Prepared> prepare(Plan plan, const BenchmarkEntry& entry) {
  Prepared prepared;
  Result<Manifest> manifest = Manifest::parse(entry.manifest_json);
  if (!manifest) return manifest.error();
  const ParameterValues overrides(plan.parameters.begin(), plan.parameters.end());
  Result<Parameters> parameters = manifest->resolve(plan.instance, plan.scale, overrides);
  if (!parameters) return parameters.error();
  if (Result<void> files = check_files(plan); !files) return files.error();
  prepared.workload = entry.make(plan.instance);
  if (prepared.workload == nullptr)
    return Error{"benchmark " + plan.benchmark + " has no instance \"" + plan.instance + "\""};
  const CheckPolicy policy{
      .stripes = !plan.plain, .canaries = !plan.plain, .evidence = !plan.plain};
  Result<Script> script = prepared.workload->generate(*parameters, plan.seed_number(), policy);
  if (!script) return script.error();
  prepared.certify = plan.record && !records_itself(*script);
  if (prepared.certify) record_all(*script);
  Result<JailOptions> jail = jail_options(plan, *manifest, *script);
  if (!jail) return jail.error();
  prepared.plan = std::move(plan);
  prepared.manifest = std::move(*manifest);
  prepared.parameters = std::move(*parameters);
  prepared.script = std::move(*script);
  prepared.jail = std::move(*jail);
  return prepared;
}

void print_progress(const Json& event) {
  const std::string line = event.dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

int finish(AtomicFile& file, const Json& report, const Progress& progress) {
  if (progress) {
    progress(Json::Object{{"event", "verdict"}, {"verdict", *report.find("verdict")}});
  }
  const Result<void> written = file.commit(report.dump(2) + "\n");
  return written ? kExitDone : not_written(written.error().message);
}

// A harness of another age than the plan is nobody's fault but ours: the run is not judged.
Json stale_report(const Plan& plan, const BenchmarkEntry& entry) {
  RunVerdict verdict{"infrastructure", "stale harness: the plan wants version " +
                                           std::to_string(plan.benchmark_version) + " of " +
                                           plan.benchmark + ", and this referee has version " +
                                           std::to_string(entry.version) +
                                           "; build again and queue the run again"};
  return make_report({plan, {}, {}, nullptr, {}, Findings(), std::move(verdict), machine_facts()});
}

// Plays with the same library and limits, one after the other in the session's own jail slot.
Replay replay_of(const JailOptions& session) {
  return [session](const Script& script, uint64_t phase_timeout_ms) {
    JailOptions options = session;
    options.explain_hangs = false;
    uint64_t& limit_ms = options.plan.limits.phase_timeout_ms;
    limit_ms = std::min(limit_ms, phase_timeout_ms);
    RunFacts facts = play(script, options, {});
    Ending ending = ending_of(facts);
    return Replayed{std::move(ending), std::move(facts.outcome)};
  };
}

Result<Json> judged_report(const Prepared& prepared, const RunCommand& command,
                           const Progress& progress) {
  const Json machine = machine_facts();  // before the session itself makes the machine busy
  const RunFacts facts = play(prepared.script, prepared.jail, progress);
  Findings findings(prepared.plan.benchmark);
  add_fact_findings(facts, findings);
  const bool complete = facts.stop == Stop::kNone;
  const bool advisory = prepared.manifest.instances.find(prepared.plan.instance)->second.advisory;
  // Where nothing decides, what was played before the end is still worth telling.
  const bool judged = complete || advisory;
  // A log that is not that of the program says nothing about the library's answers.
  const bool sound = !judged || judge_logs(prepared.script, facts.outcome, findings);
  if (sound && judged && !complete) {
    prepared.workload->judge(prepared.script, facts.outcome, findings);
  } else if (sound) {
    const Played played{facts.outcome, ending_of(facts), replay_of(prepared.jail)};
    prepared.workload->examine(prepared.script, played, findings);
  }
  if (judged && sound) {
    if (prepared.certify) judge_recorded(prepared.script, facts.outcome, false, findings);
    const Result<void> kept =
        keep_histories(command.histories, prepared.plan, prepared.script, facts.outcome, findings);
    if (!kept) return kept.error();
  }
  RunVerdict verdict = decide(facts, findings, prepared.plan.jail.require);
  if (advisory) verdict = as_warning(std::move(verdict), findings);
  return make_report({prepared.plan, prepared.parameters.values(), prepared.script,
                      prepared.workload.get(), facts, findings, std::move(verdict), machine});
}

}  // namespace

int command_run(const RunCommand& command) {
  Result<Plan> plan = read_plan(command.plan_path);
  if (!plan) return unusable(plan.error().message);
  const BenchmarkEntry* entry = find_benchmark(plan->benchmark);
  if (entry == nullptr) return unusable(unknown_benchmark(plan->benchmark).message);
  const Progress progress = command.progress ? Progress(print_progress) : Progress();
  Result<AtomicFile> file = AtomicFile::create(command.report_path);
  if (!file) return not_written(file.error().message);
  if (entry->version != plan->benchmark_version) {
    return finish(*file, stale_report(*plan, *entry), progress);
  }
  const Result<Prepared> prepared = prepare(std::move(*plan), *entry);
  if (!prepared) return unusable(prepared.error().message);
  const Result<Json> report = judged_report(*prepared, command, progress);
  if (!report) return not_written(report.error().message);
  return finish(*file, *report, progress);
}

int command_list() {
  Json benchmarks = Json::Array{};
  for (const BenchmarkEntry& entry : benchmark_registry()) {
    Result<Json> manifest = Json::parse(entry.manifest_json);
    if (!manifest) return unusable(std::string(entry.name) + ": " + manifest.error().message);
    benchmarks.push_back(std::move(*manifest));
  }
  const std::string text = Json(Json::Object{{"benchmarks", benchmarks}}).dump(2) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kExitDone;
}

int command_fingerprint(const std::string& benchmark) {
  const BenchmarkEntry* entry = find_benchmark(benchmark);
  if (entry == nullptr) return unusable(unknown_benchmark(benchmark).message);
  const Result<std::string> fingerprint = benchmark_fingerprint(*entry);
  if (!fingerprint) return unusable(fingerprint.error().message);
  std::puts(fingerprint->c_str());
  return kExitDone;
}

}  // namespace keydrome
