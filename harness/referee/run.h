// One session: starts the jail, plays the protocol (harness/protocol.h) against the player, and
// gathers facts.
//
// The facts say what happened, not what it means: verdict.h decides that. Nothing here trusts the
// player, and whatever it does, play() returns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"
#include "harness/referee/jail_process.h"

namespace keydrome {

// How far the session came.
enum class Stage : uint8_t { kStarting, kLoading, kPlaying, kComplete };

// What stopped it there.
enum class Stop : uint8_t {
  kNone,          // complete
  kNotStarted,    // our fault: no jail, no memory for the inputs
  kClosed,        // the control channel closed
  kDeadline,      // a deadline passed
  kLimit,         // the session as a whole has reached a limit (session_limits.h)
  kViolation,     // a message that the protocol does not allow
  kLoadFailed,    // LOADED said so; load_status says why
  kException,     // an exception crossed the contract's boundary
  kPlayerFailed,  // DONE said that the player could not do its work
  kBadOutcome,    // the outcome memfd does not fit
};

struct PhaseFacts {
  std::string name;
  bool timed = false;
  uint32_t threads = 0;
  uint64_t wall_ns = 0;  // GO to DONE, the referee's clock
  std::optional<uint64_t> cpu_us;
  std::optional<uint64_t> player_ns;
  std::optional<uint64_t> memory_bytes;  // charged to the jail after the phase
  JailCounters counters;                 // what the jail counted meanwhile
};

struct RunFacts {
  Stage stage = Stage::kStarting;
  Stop stop = Stop::kNone;
  std::string detail;  // one sentence about the stop; empty when complete
  std::string hang;    // hang_evidence() of a deadline or limit, last_stand() of a closed channel
  uint32_t load_status = 0;                     // LoadStatus, as the player claims
  std::vector<PhaseFacts> phases;               // the ones that ended, in order
  Outcome outcome;                              // of the same phases
  std::optional<uint64_t> memory_loaded_bytes;  // before the first phase
  bool frozen_between = false;                  // whether the jail could be frozen between phases
  std::string unfrozen_after;  // the first step after which threads ran on; empty: none
  JailEnd jail;
  std::string standard_output;
  std::string standard_errors;
  bool output_truncated = false;
};

// Called with one JSON object for each step, for progress bars and heartbeats.
using Progress = std::function<void(const Json&)>;

RunFacts play(const Script& script, const JailOptions& options, const Progress& progress);

}  // namespace keydrome
