// The result of one session (one repetition of a benchmark): the stage that it reached, why it
// stopped, and what was measured.
//
// judging/verdict.h turns the members into a verdict. The player, the jailed process with the
// library, is untrusted. These members come from the player: `outcome`, `player_ns`, `load_status`,
// `positions`, `stuck`, `slow`, the two outputs, and parts of the texts `detail` and `hang`. All
// other members come from the jail (sandbox) or from the referee, the trusted process that runs the
// session. In verified mode the driver, a trusted process, writes `outcome`, `player_ns`,
// `positions`, `stuck` and `slow`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"
#include "harness/referee/processes/jail_end.h"
#include "harness/referee/processes/jail_usage.h"
#include "harness/referee/session/thread_times.h"

namespace keydrome {

// The stage at which the session ended.
enum class Stage : uint8_t { kStarting, kLoading, kPlaying, kComplete };

// Why the session ended at that stage.
enum class StopReason : uint8_t {
  kNone,          // the session is complete
  kNotStarted,    // a failure of the harness: no jail, no driver, no memory for the inputs
  kClosed,        // the player closed the channel or exited
  kDeadline,      // loading the library or playing a phase took too long
  kLimit,         // the session used up its wall time or CPU time (session_limits.h)
  kViolation,     // the player sent a message that the protocol does not allow
  kLoadFailed,    // the player reported that it could not load the library; see load_status
  kException,     // a function of the library threw an exception
  kPlayerFailed,  // the player reported a failure of its own
  kBadOutcome,    // the memory with the player's results is malformed
};

// Why a session stopped, with one sentence for the report.
struct Stopped {
  StopReason reason = StopReason::kNone;
  std::string detail;
};

// What the jail used from the command to load the library until the first freeze. In this time the
// library's constructors run, and the library reads its configuration.
struct LoadingResult {
  uint64_t wall_ns = 0;
  std::optional<uint64_t> cpu_us;        // of the whole jail
  std::optional<uint64_t> memory_bytes;  // growth of the jail's memory; nothing if it shrank
};

// Returns how messages name a phase. The quotation marks separate a name that contains blanks, such
// as "round 2 append", from the rest of the sentence.
inline std::string phase_text(const std::string& name) { return "phase \"" + name + "\""; }

// Result of a phase that ended.
struct PhaseResult {
  std::string name;
  bool timed = false;
  bool pinned = false;          // each thread that called the library was bound to one CPU
  uint32_t threads = 0;         // number of threads that play programs (lists of operations)
  uint32_t player_threads = 0;  // number of the player's threads that may run at the same time
  // By the referee's clock, from before the jail is thawed until it is frozen again. On a machine
  // that cannot freeze the jail, from GO to DONE, the messages that begin and end a phase.
  uint64_t wall_ns = 0;
  std::optional<uint64_t> cpu_us;  // of the whole jail
  // The last part of wall_ns, from DONE until the jail was frozen, and the jail's CPU time during
  // it.
  std::optional<uint64_t> freezing_ns, freezing_cpu_us;
  // CPU time of the threads that live at the end of the phase. Exited threads used the rest of
  // cpu_us: threads that played programs, and threads that the library started and ended in the
  // phase. Nothing if the jail was not frozen.
  std::optional<ThreadUse> threads_used;
  // CPU time of threads of the kernel that work for the whole machine, by name (kernel_threads.h).
  std::map<std::string, uint64_t> kernel_cpu_us;
  std::optional<uint64_t> player_ns;     // from GO to the last thread's end by the player's clock
  std::optional<uint64_t> memory_bytes;  // charged to the jail after the phase
  JailCounters counters;                 // performance counters of the jail during the phase
};

struct SessionResult {
  Stage stage = Stage::kStarting;
  StopReason stop = StopReason::kNone;
  std::string detail;  // one sentence about the stop; empty for a complete session
  // At the stop, for each thread of the phase: the number of the operation that the thread was
  // playing. Empty if no phase was being played.
  std::vector<uint64_t> positions;
  bool player_ended = false;  // at the stop, the player's process had ended or was ending
  bool stuck = false;         // at the stop, a call had not returned for half of the phase's limit
  bool slow = false;          // at the stop, the threads still advanced (hang/pace.h)
  // A sentence that blames other programs for the stop (starvation.h). Empty, unless they kept the
  // threads from the processors for so long that a time limit may have passed because of them.
  std::string starved;
  std::string hang;          // what the threads did at the stop (hang/hang.h); empty: unknown
  uint32_t load_status = 0;  // a LoadStatus that the player reported
  std::vector<PhaseResult> phases;                      // the phases that ended, in order
  script::Outcome outcome;                              // of the phases that ended
  std::optional<uint64_t> memory_before_loading_bytes;  // charged to the jail before loading
  LoadingResult loading;
  // Time that the referee needed between the phases, while the jail was frozen: to make the inputs
  // of phases, and to copy and check their results.
  uint64_t inputs_ns = 0, outcomes_ns = 0;
  uint64_t memory_limit_bytes = 0;  // of the jail; 0: the jail's default
  bool frozen_between = false;      // true: the jail is frozen after loading and between phases
  std::string unfrozen_after;       // the first step after which freezing failed; empty: none
  JailEnd jail;
  std::string standard_output;
  std::string standard_errors;
  bool output_truncated = false;
};

// Returns the measurements of the phases, in the form that workloads use.
inline std::vector<workload::PhaseMeasures> measures_of(const SessionResult& result) {
  std::vector<workload::PhaseMeasures> measures;
  for (const PhaseResult& phase : result.phases) {
    measures.push_back({.wall_ns = phase.wall_ns, .memory_bytes = phase.memory_bytes});
  }
  return measures;
}

}  // namespace keydrome
