// Implements account_findings.h, which adds findings (entries of the report that say what is
// wrong). Each function checks one quantity, such as the CPU time of the library's threads. The
// referee, the trusted process that runs the benchmark, has measured the quantity in each phase.
// The player is the process in the jail (sandbox) that calls the library.
#include "harness/referee/judging/account_findings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "harness/referee/session/setup.h"

namespace keydrome {
namespace {

constexpr uint64_t kNsPerUs = 1'000;
// After the last call, the referee freezes the jail. Freezing usually takes 0.1 to 0.3 ms, and
// takes longer than this limit only if a thread is in the kernel.
constexpr uint64_t kLateNs = 5'000'000;
constexpr uint64_t kTickUs = 4'000;  // the kernel may add a thread's CPU time this much too late
// add_unaccounted_threads() computes how much CPU time ended threads can have used at most.
// Measurement is inexact, so the function allows 5 ms and 1 % more than this maximum.
constexpr uint64_t kUnexplainedUs = 5'000;
constexpr uint64_t kUnexplainedDivisor = 100;
// The kernel's own threads do a little work at any time. So up to 1 ms, or 1 % of the phase if that
// is more, is allowed.
constexpr uint64_t kKernelWorkUs = 1'000;
constexpr uint64_t kKernelWorkDivisor = 100;

std::string cpu_seconds(uint64_t us) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(us) / 1e6);
  return text.data();
}

std::string mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// Adds a finding for each phase in which the library still worked after its last call had returned,
// while the referee froze the jail. This time is part of the phase's time, so the library gains
// nothing. A thread that only waits in the kernel also delays the freeze, but uses no CPU time. So
// there is a finding only if the library used more than a quarter of the CPU time of all
// processors.
void add_late_work(const SessionResult& result, judge::Findings& findings) {
  const auto processors = static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  for (const PhaseResult& phase : result.phases) {
    const uint64_t late_ns = phase.freezing_ns.value_or(0);
    const uint64_t allowed_us = kTickUs + late_ns / kNsPerUs * processors / 4;
    if (!phase.timed || late_ns <= kLateNs || phase.freezing_cpu_us.value_or(0) <= allowed_us)
      continue;
    findings.advisory("late_work",
                      phase_text(phase.name) +
                          ": after the last call had returned, the library used " +
                          cpu_seconds(*phase.freezing_cpu_us) + " of CPU time in " +
                          cpu_seconds(late_ns / kNsPerUs) +
                          ". This time counts as part of the phase. A thread of the library still "
                          "worked in the kernel; finish such work before the call returns");
  }
}

// Returns how the CPU time of short threads was computed, in parentheses. `known` is the number of
// the other threads that ended.
std::string known_text(uint64_t ended_us, uint32_t known, uint64_t explained_us) {
  if (known == 0) return "";
  return " (all threads that ended used " + cpu_seconds(ended_us) + ", and those among them that " +
         "called the library or were older than the phase at most " + cpu_seconds(explained_us) +
         ")";
}

// Adds a finding for each phase in which ended threads used too much CPU time. Two kinds of ended
// threads are known: the player's threads except its main thread, and the library's threads that
// existed when the phase began. Each can have used at most the phase's time. Any further CPU time
// was used by threads that began and ended within the phase.
void add_unaccounted_threads(const SessionResult& result, judge::Findings& findings) {
  for (const PhaseResult& phase : result.phases) {
    if (!phase.timed || !phase.cpu_us || !phase.threads_used) continue;
    const uint64_t ended_us =
        *phase.cpu_us - std::min(*phase.cpu_us, phase.threads_used->living_us);
    const uint64_t wall_us = phase.wall_ns / kNsPerUs;
    const uint32_t known =
        std::max(phase.player_threads, 1u) - 1 + phase.threads_used->library_ended;
    const uint64_t explained_us = wall_us * known;
    const uint64_t allowed_us =
        explained_us + kUnexplainedUs + std::max(explained_us, wall_us) / kUnexplainedDivisor;
    if (ended_us <= allowed_us) continue;
    findings.advisory("unaccounted_threads",
                      phase_text(phase.name) +
                          ": threads that the library started in this phase, and that ended "
                          "in it, used at least " +
                          cpu_seconds(ended_us - explained_us) + " of CPU time" +
                          known_text(ended_us, known, explained_us) +
                          "; start such threads before the timed phases, and keep them alive");
  }
}

// Adds a finding if the library used too much CPU time or memory before the first timed phase. No
// time is measured there, so this work has a budget.
void add_setup_budget(const SessionResult& result, judge::Findings& findings) {
  const Setup setup = setup_of(result);
  std::string excess;
  if (setup.cpu_us.value_or(0) > kSetupCpuUsMax) {
    excess =
        cpu_seconds(*setup.cpu_us) + " of CPU time (allowed: " + cpu_seconds(kSetupCpuUsMax) + ")";
  }
  const uint64_t bytes_max = setup_memory_max(result);
  if (setup.memory_bytes.value_or(0) > bytes_max) {
    excess += (excess.empty() ? "" : " and ") + mebibytes(*setup.memory_bytes) +
              " of memory (allowed: " + mebibytes(bytes_max) + ")";
  }
  if (excess.empty()) return;
  findings.required("setup_budget", "before the first timed phase, the library used " + excess +
                                        " in its constructors, while it was loaded, and in the "
                                        "untimed phase \"create\"; do this work in later calls");
}

// Adds a finding for each kernel thread that worked much during a phase. Kernel threads work for
// every process of the machine. So the finding only says that their work may have helped or
// disturbed the library.
void add_kernel_work(const SessionResult& result, judge::Findings& findings) {
  for (const PhaseResult& phase : result.phases) {
    if (!phase.timed) continue;
    const uint64_t allowed_us =
        std::max(kKernelWorkUs, phase.wall_ns / kNsPerUs / kKernelWorkDivisor);
    for (const auto& [name, us] : phase.kernel_cpu_us) {
      if (us <= allowed_us) continue;
      findings.advisory("kernel_work",
                        phase_text(phase.name) + ": the kernel's thread " + name + " worked for " +
                            cpu_seconds(us) + " in " + cpu_seconds(phase.wall_ns / kNsPerUs) +
                            ", for this library or for another process of the machine; this time "
                            "does not count as the library's");
    }
  }
}

}  // namespace

void add_account_findings(const SessionResult& result, judge::Findings& findings) {
  add_late_work(result, findings);
  add_unaccounted_threads(result, findings);
  add_setup_budget(result, findings);
  add_kernel_work(result, findings);
}

}  // namespace keydrome
