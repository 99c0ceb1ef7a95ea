// Implements make_report(), which describes as JSON one session (one repetition of a benchmark,
// with one library) and its verdict. Most functions make one member of the report.
#include "harness/referee/report/report.h"

#include <algorithm>

#include "base/clock.h"
#include "harness/referee/machine/memory_bound.h"
#include "harness/referee/report/metrics.h"

namespace keydrome {

namespace {

Json findings_json(const judge::Findings& findings) {
  Json list = Json::Array{};
  for (const judge::Finding& finding : findings.list()) {
    Json entry;
    entry["suite"] = finding.suite;
    entry["name"] = finding.name;
    entry["severity"] = finding.severity == Severity::kRequired ? "required" : "advisory";
    entry["detail"] = finding.detail;
    if (!finding.witness.is_null()) entry["witness"] = finding.witness;
    list.push_back(std::move(entry));
  }
  return list;
}

Json loading_json(const LoadingResult& loading) {
  Json entry;
  entry["wall_ns"] = loading.wall_ns;
  if (loading.cpu_us) entry["cpu_us"] = *loading.cpu_us;
  if (loading.memory_bytes) entry["memory_bytes"] = *loading.memory_bytes;
  return entry;
}

// Adds the CPU time of the library's threads, of exited threads, and of the kernel's own threads.
void add_threads(const PhaseResult& phase, Json& entry) {
  if (phase.threads_used) {
    const ThreadUse& used = *phase.threads_used;
    entry["library_threads"] = used.library_threads;
    entry["library_cpu_us"] = used.library_us;
    if (phase.cpu_us)
      entry["exited_cpu_us"] = *phase.cpu_us - std::min(*phase.cpu_us, used.living_us);
  }
  Json kernel = Json::Object{};
  for (const auto& [name, us] : phase.kernel_cpu_us) kernel[name] = us;
  if (!phase.kernel_cpu_us.empty()) entry["kernel_cpu_us"] = std::move(kernel);
}

Json phases_json(const SessionResult& result) {
  Json list = Json::Array{};
  for (const PhaseResult& phase : result.phases) {
    Json entry;
    entry["name"] = phase.name;
    entry["timed"] = phase.timed;
    if (phase.pinned) entry["pinned"] = true;
    entry["wall_ns"] = phase.wall_ns;
    if (phase.cpu_us) entry["cpu_us"] = *phase.cpu_us;
    add_threads(phase, entry);
    if (phase.freezing_ns) entry["freezing_ns"] = *phase.freezing_ns;
    if (phase.freezing_cpu_us) entry["freezing_cpu_us"] = *phase.freezing_cpu_us;
    if (phase.player_ns) entry["player_ns"] = std::min<uint64_t>(*phase.player_ns, INT64_MAX);
    list.push_back(std::move(entry));
  }
  return list;
}

Json words_json(const std::vector<std::string>& words) {
  Json list = Json::Array{};
  for (const std::string& word : words) list.push_back(word);
  return list;
}

Json jail_json(const JailEnd& jail) {
  Json json;
  json["level"] = jail_level(jail);
  json["mechanisms"] = words_json(jail.words("mechanisms"));
  json["missing"] = words_json(jail.words("missing"));
  if (!jail.text("status").empty()) json["status"] = jail.text("status");
  for (const char* key : {"exit_code", "signal", "wall_us", "cpu_us", "memory_peak_bytes"}) {
    if (const auto number = jail.number(key)) json[key] = *number;
  }
  return json;
}

Json output_json(const SessionResult& result) {
  Json json;
  json["stdout"] = result.standard_output;
  json["stderr"] = result.standard_errors;
  json["truncated"] = result.output_truncated;
  return json;
}

Json referee_json(const ReportInputs& inputs) {
  Json json;
  json["memory_peak_bytes"] = peak_memory_bytes();
  json["memory_estimate_bytes"] = inputs.referee_estimate_bytes;
  const StepStarts& starts = inputs.starts;
  const uint64_t end_ns = now_ns();
  json["session_ns"] = end_ns - starts.session_ns;
  json["generating_ns"] = starts.playing_ns - starts.generating_ns;
  json["playing_ns"] = starts.judging_ns - starts.playing_ns;
  json["inputs_ns"] = inputs.result.inputs_ns;
  json["outcomes_ns"] = inputs.result.outcomes_ns;
  json["judging_ns"] = end_ns - starts.judging_ns;
  return json;
}

}  // namespace

Json make_report(const ReportInputs& inputs) {
  const Plan& plan = inputs.plan;
  Json report;
  report["schema"] = "keydrome.report.v1";
  report["verdict"] = inputs.verdict.name;
  report["reason"] = inputs.verdict.reason;
  report["benchmark"] = plan.benchmark;
  report["benchmark_version"] = plan.benchmark_version;
  report["instance"] = plan.instance;
  report["scale"] = plan.scale;
  report["parameters"] = Json::Object{};
  for (const auto& [name, value] : inputs.parameters) report["parameters"][name] = value;
  report["seed"] = plan.seed;
  report["plain"] = plan.plain;
  report["record"] = plan.record;
  report["verified"] = plan.verified;
  report["findings"] = findings_json(inputs.findings);
  report["loading"] = loading_json(inputs.result.loading);
  report["phases"] = phases_json(inputs.result);
  add_metrics(inputs.script, inputs.workload, inputs.result, report);
  report["jail"] = jail_json(inputs.result.jail);
  report["output"] = output_json(inputs.result);
  if (inputs.referee_estimate_bytes > 0) {
    report["referee"] = referee_json(inputs);
  }
  report["machine"] = inputs.machine;
  return report;
}

}  // namespace keydrome
