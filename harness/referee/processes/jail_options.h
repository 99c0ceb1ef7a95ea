// Options of one jail, the sandbox of one session (one repetition of a benchmark): the plan, and
// the limits that follow from the benchmark's instance (its named set of parameter values).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/workload/parameters.h"
#include "harness/referee/plan/plan.h"

namespace keydrome {

// The plan (the JSON file that describes the session) with the limits that the referee, the process
// that runs the session, enforces. The jail gets the same limits, but more wall time (kJailSpareMs)
// and CPU time (jail_spare_cpu_seconds()). So the referee reaches a time limit first and can report
// what the threads were doing; the jail would only kill them.
struct JailOptions {
  Plan plan;
  uint64_t wall_ms = 60'000;  // limit of the whole session
  uint64_t memory_bytes = 0;  // 0 here and in the next two members: the jail's default
  uint64_t tmpfs_bytes = 0;
  uint64_t processes = 0;               // tasks, including threads
  uint64_t command_timeout_ms = 5'000;  // for each of the commands freeze, thaw and usage
  // How long the referee waits for the player, the process in the jail, to exit after its channel
  // has closed. When a process exits, the kernel first closes its channel, and the process ends a
  // little later.
  uint64_t exit_grace_ms = 2'000;
  bool explain_hangs = true;  // describe hung threads; takes up to 1.1 s
  bool keep_calls = false;  // keep the results of all calls as a history, so that it can be judged
};

// Wall time that the jail gets in addition to JailOptions::wall_ms. This time is longer than any
// step of the referee between two checks of the limits. In its longest steps, the referee makes the
// next operations of a thread, or waits for the stacks of hung threads.
inline constexpr uint64_t kJailSpareMs = 60'000;

// Returns the CPU time in seconds that the jail gets in addition to the plan's limit: all CPUs for
// kJailSpareMs.
uint64_t jail_spare_cpu_seconds();

// Returns a limit that the manifest (the benchmark's description) sets for a scale (a size of the
// benchmark), or nothing if it sets none.
std::optional<uint64_t> limit_of(const workload::Manifest& manifest, const std::string& scale,
                                 const char* name);

// Returns the options for an instance. `memory_bytes` is the limit of the jail
// (session/memory_fit.h). Each other limit is the plan's, if the plan sets it. Otherwise the limit
// is the manifest's for the plan's scale, or is computed from the number of phases and threads.
JailOptions jail_options(const Plan& plan, const workload::Manifest& manifest,
                         const script::Script& script, uint64_t memory_bytes);

// Returns the command line of the jail. It names the descriptors that JailProcess passes to the
// jail.
std::vector<std::string> jail_arguments(const JailOptions& options);

}  // namespace keydrome
