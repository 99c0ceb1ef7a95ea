#include "harness/referee/report.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "harness/referee/metrics.h"

namespace keydrome {
namespace {

Json findings_json(const Findings& findings) {
  Json list = Json::Array{};
  for (const Finding& finding : findings.list()) {
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

Json phases_json(const RunFacts& facts) {
  Json list = Json::Array{};
  for (const PhaseFacts& phase : facts.phases) {
    Json entry;
    entry["name"] = phase.name;
    entry["timed"] = phase.timed;
    entry["wall_ns"] = phase.wall_ns;
    if (phase.cpu_us) entry["cpu_us"] = *phase.cpu_us;
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

Json output_json(const RunFacts& facts) {
  Json json;
  json["stdout"] = facts.standard_output;
  json["stderr"] = facts.standard_errors;
  json["truncated"] = facts.output_truncated;
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
  report["phases"] = phases_json(inputs.facts);
  add_metrics(inputs.script, inputs.workload, inputs.facts, report);
  report["jail"] = jail_json(inputs.facts.jail);
  report["output"] = output_json(inputs.facts);
  report["machine"] = inputs.machine;
  return report;
}

AtomicFile::AtomicFile(UniqueFd fd, std::string path, std::string temporary)
    : fd_(std::move(fd)), path_(std::move(path)), temporary_(std::move(temporary)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  const std::string temporary = path + ".unfinished-" + std::to_string(getpid());
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return Error{"cannot write " + temporary + ": " + std::strerror(errno)};
  return AtomicFile(std::move(fd), path, temporary);
}

Result<void> AtomicFile::commit(const std::string& text) {
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t written = write(fd_.get(), text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error{"cannot write " + temporary_ + ": " + std::strerror(errno)};
    at += static_cast<size_t>(written);
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Error{"cannot put the report at " + path_ + ": " + std::strerror(errno)};
  }
  temporary_.clear();
  return {};
}

}  // namespace keydrome
