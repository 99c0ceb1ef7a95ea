// Implements prepare_session(): finds parameters, files and workload, generates the script, and
// derives the jail's options.
#include "harness/referee/session/prepare.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "benchmarks/kit/script/script_builder.h"

namespace keydrome {
namespace {

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
    if (!path.empty() && access(path.c_str(), X_OK) != 0) {
      return Error{std::string("plan.") + field + ": cannot execute " + path + "; build it first"};
    }
  }
  return {};
}

bool records_itself(const script::Script& script) {
  return std::any_of(script.phases.begin(), script.phases.end(),
                     [](const script::PhaseScript& phase) { return !phase.log_capacity.empty(); });
}

}  // namespace

Result<const workload::BenchmarkEntry*> find_benchmark(const std::string& name) {
  std::string known;
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    if (entry.name == name) return &entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Error{"there is no benchmark \"" + name + "\"; there are: " + known};
}

Result<PreparedSession> prepare_session(Plan plan, const workload::BenchmarkEntry& entry) {
  PreparedSession session;
  Result<workload::Manifest> manifest = workload::Manifest::parse(entry.manifest_json);
  if (!manifest) return manifest.error();
  const workload::ParameterValues overrides(plan.parameters.begin(), plan.parameters.end());
  Result<workload::Parameters> parameters = manifest->resolve(plan.instance, plan.scale, overrides);
  if (!parameters) return parameters.error();
  if (Result<void> files = check_files(plan); !files) return files.error();
  session.workload = entry.make(plan.instance);
  if (session.workload == nullptr) {
    return Error{"benchmark " + plan.benchmark + " has no instance \"" + plan.instance + "\""};
  }
  const workload::CheckPolicy policy{
      .stripes = !plan.plain, .canaries = !plan.plain, .evidence = !plan.plain};
  Result<script::Script> script =
      session.workload->generate(*parameters, plan.seed_number(), policy);
  if (!script) return script.error();
  session.certify = plan.record && !records_itself(*script);
  Result<JailOptions> jail = jail_options(plan, *manifest, *script);
  if (!jail) return jail.error();
  session.plan = std::move(plan);
  session.manifest = std::move(*manifest);
  session.parameters = std::move(*parameters);
  session.script = std::move(*script);
  session.jail = std::move(*jail);
  session.jail.keep_calls = session.certify;
  return session;
}

}  // namespace keydrome
