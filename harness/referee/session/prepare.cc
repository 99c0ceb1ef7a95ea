// Implements prepare_session(), which prepares one repetition of a benchmark: finds the parameters,
// the files and the workload (the code of the benchmark), and checks the memory. Then generates the
// script (all operations), and derives the options of the jail (sandbox).
#include "harness/referee/session/prepare.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/key_file/replace_keys.h"
#include "harness/referee/machine/machine.h"
#include "harness/referee/machine/memory_bound.h"

namespace keydrome {
namespace {

Result<void> check_files(const Plan& plan) {
  const std::pair<const char*, std::string> readable[] = {
      {"library.path", plan.library.path}, {"library.structure", plan.library.structure}};
  for (const auto& [field, path] : readable) {
    if (!path.empty() && access(path.c_str(), R_OK) != 0) {
      return Error{std::string("plan.") + field + ": cannot read " + path + ": " +
                   std::strerror(errno) +
                   "; correct the path, build the file, or make it readable"};
    }
  }
  const std::pair<const char*, std::string> runnable[] = {
      {"player", plan.player}, {"driver", plan.driver}, {"jail.path", plan.jail.path}};
  for (const auto& [field, path] : runnable) {
    if (!path.empty() && access(path.c_str(), X_OK) != 0) {
      return Error{std::string("plan.") + field + ": cannot execute " + path + ": " +
                   std::strerror(errno) +
                   "; correct the path, or build the program with ./dev build"};
    }
  }
  return {};
}

// The objects that a plan (the JSON file that describes a session) names, and the memory that the
// session needs.
struct Basis {
  workload::Manifest manifest;
  workload::Parameters parameters;
  std::unique_ptr<workload::Workload> workload;
  MemoryNeed memory;
};

// Returns an error if the keys of a file cannot replace those of the plan's instance. An instance
// is a named set of parameter values of the benchmark.
Result<void> check_key_type(const Plan& plan, const workload::Manifest& manifest,
                            const workload::KeyFile& keys) {
  const std::string& wanted = manifest.instances.find(plan.instance)->second.keys;
  const std::string name = plan.benchmark + "/" + plan.instance;
  if (wanted.empty()) {
    return Error{"plan.keys: " + name + " cannot take its keys from a file: choose an instance " +
                 "that has the member \"keys\" in its benchmark.json"};
  }
  const std::string given = keys.type == INT ? "int64" : "varchar";
  if (wanted == given) return {};
  return Error{"plan.keys: the keys of " + name + " are of type " + wanted + ", but those of " +
               plan.keys + " are of type " + given +
               ": choose another instance, or a file with keys of type " + wanted};
}

// Returns an error if the plan's instance does not use the files that the plan names.
Result<void> check_files_used(const Plan& plan, const workload::Manifest& manifest,
                              const InputFiles& files) {
  if (files.trace && !manifest.instances.find(plan.instance)->second.trace) {
    return Error{
        "plan.trace: " + plan.benchmark + "/" + plan.instance +
        " does not play recorded traces: choose an instance that has the member \"trace\" in " +
        "its benchmark.json"};
  }
  return files.keys ? check_key_type(plan, manifest, *files.keys) : Result<void>();
}

Result<Basis> find_basis(const Plan& plan, const workload::BenchmarkEntry& entry,
                         const InputFiles& files) {
  Result<workload::Manifest> manifest = workload::Manifest::parse(entry.manifest_json);
  if (!manifest) return manifest.error();
  const workload::ParameterValues overrides(plan.parameters.begin(), plan.parameters.end());
  Result<workload::Parameters> parameters = manifest->resolve(plan.instance, plan.scale, overrides);
  if (!parameters) return parameters.error();
  if (const Result<void> usable = check_files_used(plan, *manifest, files); !usable) {
    return usable.error();
  }
  std::unique_ptr<workload::Workload> workload = entry.make(plan.instance);
  if (workload == nullptr) {
    return Error{"the referee has no instance \"" + plan.instance + "\" of benchmark " +
                 plan.benchmark + ", although benchmark.json lists it: run ./dev build"};
  }
  if (files.trace && !workload->play_trace(files.trace)) {
    return Error{"plan.trace: the workload of " + plan.benchmark + " plays no recorded traces, " +
                 "although its benchmark.json has the member \"trace\": remove this member, or " +
                 "override Workload::play_trace()"};
  }
  const uint64_t least_bytes = limit_of(*manifest, plan.scale, "memory_bytes").value_or(0);
  const Result<MemoryNeed> memory = fit_memory(*workload, *manifest, *parameters,
                                               {.least_bytes = least_bytes,
                                                .limit_bytes = plan.jail.memory_bytes.value_or(0),
                                                .machine_bytes = physical_memory_bytes(),
                                                .certify = plan.record,
                                                .keys = files.keys ? &*files.keys : nullptr,
                                                .plays_trace = files.trace != nullptr});
  if (!memory) return memory.error();
  return Basis{.manifest = std::move(*manifest),
               .parameters = std::move(*parameters),
               .workload = std::move(workload),
               .memory = *memory};
}

// Reads a file. `size_of` returns an upper bound of the memory that `read` needs. `content`, such
// as "keys", is the word for the file's content in errors.
template <typename File>
Result<File> fitting(const std::string& path, Result<uint64_t> (&size_of)(const std::string&),
                     Result<File> (&read)(const std::string&), const std::string& content) {
  const Result<uint64_t> bytes = size_of(path);
  if (!bytes) return bytes.error();
  const uint64_t available = available_memory_bytes();
  if (available > 0 && *bytes > available / 100 * kMemoryPercentMax) {
    return Error{path + ": reading the " + content + " may take " + std::to_string(*bytes >> 20) +
                 " MiB of memory, but only " + std::to_string(available >> 20) +
                 " MiB are free: lower the number of " + content + " in the file"};
  }
  try {
    return read(path);
  } catch (const std::bad_alloc&) {  // other programs have taken the memory meanwhile
    return Error{path + ": there is not enough memory for the " + content +
                 ": end other programs, or shorten the file"};
  }
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
  return Error{"there is no benchmark \"" + name + "\"; choose one of these: " + known};
}

Result<workload::KeyFile> fitting_keys(const std::string& path) {
  return fitting(path, workload::key_file_bytes, workload::read_key_file, "keys");
}

Result<workload::TraceFile> fitting_trace(const std::string& path) {
  return fitting(path, workload::trace_file_bytes, workload::read_trace_file, "calls");
}

Result<InputFiles> read_input_files(const Plan& plan) {
  InputFiles files;
  if (!plan.keys.empty()) {
    Result<workload::KeyFile> keys = fitting_keys(plan.keys);
    if (!keys) return keys.error();
    files.keys = std::move(*keys);
  }
  if (!plan.trace.empty()) {
    Result<workload::TraceFile> trace = fitting_trace(plan.trace);
    if (!trace) return trace.error();
    files.trace = std::make_shared<const workload::TraceFile>(std::move(*trace));
  }
  return files;
}

Result<MemoryNeed> session_memory(const Plan& plan, const workload::BenchmarkEntry& entry,
                                  const InputFiles& files) {
  const Result<Basis> basis = find_basis(plan, entry, files);
  if (!basis) return basis.error();
  return basis->memory;
}

Result<PreparedSession> prepare_session(Plan plan, const workload::BenchmarkEntry& entry,
                                        InputFiles files) {
  Result<Basis> basis = find_basis(plan, entry, files);
  if (!basis) return basis.error();
  if (Result<void> found = check_files(plan); !found) return found.error();
  PreparedSession session;
  session.manifest = std::move(basis->manifest);
  session.parameters = std::move(basis->parameters);
  session.workload = std::move(basis->workload);
  const workload::CheckPolicy policy{
      .stripes = !plan.plain, .canaries = !plan.plain, .evidence = !plan.plain};
  Result<script::Script> script =
      session.workload->generate(session.parameters, plan.seed_number(), policy);
  if (!script) return script.error();
  if (files.keys) {
    const Result<void> replaced = workload::replace_keys(*script, *files.keys, plan.seed_number());
    if (!replaced) return replaced.error();
    files.keys.reset();
  }
  session.certify = plan.record && !records_itself(*script);
  session.memory = basis->memory;
  session.jail = jail_options(plan, session.manifest, *script, basis->memory.library_bytes);
  session.plan = std::move(plan);
  session.script = std::move(*script);
  session.jail.keep_calls = session.certify;
  return session;
}

}  // namespace keydrome
