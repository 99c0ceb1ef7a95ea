// Implements harness/referee/processes/jail_options.h: derives the limits of a jail from the plan
// and the benchmark's manifest (its description), and writes the jail's command line. The jail is
// the sandbox of one session (one repetition of a benchmark).
#include "harness/referee/processes/jail_options.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "harness/protocol.h"
#include "harness/referee/processes/jail_fds.h"

namespace keydrome {
namespace {

constexpr uint64_t kTmpfsBytesDefault = 16 << 20;
// Allowance for the own work of the referee, the process that runs the session. The wall time limit
// of a session includes this time once for loading and once for each phase.
constexpr uint64_t kOwnWorkMs = 60'000;
// The default limit of tasks (processes and threads) is two for each thread that makes calls, plus
// these for the jail's init and the library's own threads.
constexpr uint64_t kSpareTasks = 64;

void option(std::vector<std::string>& arguments, const char* name, const std::string& value) {
  arguments.emplace_back(name);
  arguments.push_back(value);
}

// Omits the option if the value is 0.
void option(std::vector<std::string>& arguments, const char* name, uint64_t value) {
  if (value != 0) option(arguments, name, std::to_string(value));
}

void bind(std::vector<std::string>& arguments, const std::string& source, const char* target) {
  option(arguments, "--bind", source + ":" + target);
}

}  // namespace

std::optional<uint64_t> limit_of(const workload::Manifest& manifest, const std::string& scale,
                                 const char* name) {
  const auto limits = manifest.limits.find(scale);
  if (limits == manifest.limits.end()) return std::nullopt;
  const auto limit = limits->second.find(name);
  if (limit == limits->second.end()) return std::nullopt;
  return static_cast<uint64_t>(limit->second);
}

uint64_t jail_spare_cpu_seconds() {
  const auto cpus = static_cast<uint64_t>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
  return kJailSpareMs / 1000 * cpus;
}

JailOptions jail_options(const Plan& plan, const workload::Manifest& manifest,
                         const script::Script& script, uint64_t memory_bytes) {
  JailOptions options{.plan = plan, .memory_bytes = memory_bytes};
  options.tmpfs_bytes = plan.jail.tmpfs_bytes.value_or(
      limit_of(manifest, plan.scale, "tmpfs_bytes").value_or(kTmpfsBytesDefault));
  size_t threads = 0;
  for (const script::PhaseScript& phase : script.phases)
    threads = std::max(threads, phase.threads.size());
  options.processes = plan.jail.processes.value_or(2 * threads + kSpareTasks);
  // The limit of the session is at most the jail's maximum. So a long session may end before its
  // last phase reaches the phase's limit.
  options.wall_ms =
      std::min<uint64_t>(kJailWallMsMax - kJailSpareMs,
                         2 * plan.limits.load_timeout_ms + kOwnWorkMs +
                             script.phases.size() * (plan.limits.phase_timeout_ms + kOwnWorkMs));
  // Correctness benchmarks set a shorter limit in their manifest, so that the session of a slow
  // library ends soon. A plan may replace it, because a busy machine needs more time. The shorter
  // limit does not apply in verified mode. There a process outside the jail makes each call through
  // shared memory, so every call is slower.
  const uint64_t session_ms = plan.limits.session_timeout_ms.value_or(
      limit_of(manifest, plan.scale, "session_timeout_ms").value_or(0));
  if (session_ms > 0 && !plan.verified) options.wall_ms = std::min(options.wall_ms, session_ms);
  return options;
}

std::vector<std::string> jail_arguments(const JailOptions& options) {
  const JailPlan& plan = options.plan.jail;
  std::vector<std::string> arguments{plan.path, "--require", plan.require};
  option(arguments, "--slot", std::to_string(plan.slot));
  bind(arguments, options.plan.player, "/player");
  bind(arguments, options.plan.library.path, "/library.so");
  if (!options.plan.library.structure.empty()) {
    bind(arguments, options.plan.library.structure, "/structure.so");
  }
  if (!plan.cpus.empty()) option(arguments, "--cpus", plan.cpus);
  option(arguments, "--tmpfs-bytes", options.tmpfs_bytes);
  option(arguments, "--memory-bytes", options.memory_bytes);
  option(arguments, "--processes", options.processes);
  option(arguments, "--wall-ms", options.wall_ms + kJailSpareMs);
  if (plan.cpu_seconds) {
    option(arguments, "--cpu-seconds",
           std::min(kJailCpuSecondsMax, *plan.cpu_seconds + jail_spare_cpu_seconds()));
  }
  if (plan.counters) arguments.emplace_back("--counters");
  option(arguments, "--pass-fd", kChannelFd);
  option(arguments, "--command-fd", kCommandFd);
  option(arguments, "--meta-fd", kMetaFd);
  arguments.emplace_back("--");
  arguments.emplace_back("/player");
  return arguments;
}

}  // namespace keydrome
