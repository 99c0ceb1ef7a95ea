// Prepares a session from its plan. A session is one repetition of a benchmark; its plan is the
// JSON file that describes it. Checks the plan against the benchmark and the files, and generates
// the script, which contains all operations.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "benchmarks/kit/workload/key_file/key_file.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/trace_file/trace_file.h"
#include "benchmarks/kit/workload/workload.h"
#include "harness/referee/plan/plan.h"
#include "harness/referee/processes/jail_options.h"
#include "harness/referee/session/memory_fit.h"

namespace keydrome {

// Everything that is known before the session starts.
struct PreparedSession {
  Plan plan;
  workload::Manifest manifest;
  workload::Parameters parameters;               // including defaults and the plan's overrides
  std::unique_ptr<workload::Workload> workload;  // the code of the benchmark
  script::Script script;                         // all operations
  // True if the referee (this process) must certify the recorded histories, i.e. find a serial
  // order of the transactions that gives every result. This is so if the plan asks for recording
  // and the benchmark does not record by itself. A benchmark that records by itself also certifies.
  bool certify = false;
  JailOptions jail;
  MemoryNeed memory;  // estimate of what the session needs, in the jail and outside
};

// Returns the benchmark of this name, or an error that lists all names.
Result<const workload::BenchmarkEntry*> find_benchmark(const std::string& name);

// The files of a user that a plan names. They are read outside the jail (sandbox), before the
// operations are generated.
struct InputFiles {
  std::optional<workload::KeyFile> keys;
  std::shared_ptr<const workload::TraceFile> trace;  // null: the plan names none
};

// Each function reads a file. It returns an error if the file is wrong or does not fit the memory
// that is free.
Result<workload::KeyFile> fitting_keys(const std::string& path);
Result<workload::TraceFile> fitting_trace(const std::string& path);

// Reads the files that the plan names, if there are any. This takes some seconds for hundreds of
// millions of keys or calls.
Result<InputFiles> read_input_files(const Plan& plan);

// Returns the memory that the session of a plan would need, or an error if this machine has less,
// or if the parameters are wrong. `files` are those of read_input_files(). Takes less than a
// millisecond. `entry` must be the plan's benchmark.
Result<MemoryNeed> session_memory(const Plan& plan, const workload::BenchmarkEntry& entry,
                                  const InputFiles& files);

// Prepares the session of a plan. `entry` must be the plan's benchmark and have the plan's version.
// Generating the script may take several seconds. Frees the keys of `files` when they have replaced
// those of the benchmark.
Result<PreparedSession> prepare_session(Plan plan, const workload::BenchmarkEntry& entry,
                                        InputFiles files);

}  // namespace keydrome
