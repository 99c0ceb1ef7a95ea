// Plays one session (one repetition of a benchmark with one library): starts the processes,
// exchanges all messages from HELLO to END (harness/protocol.h), and returns what happened.
//
// The code trusts nothing from the player, the jailed process that runs the library. play() always
// returns, and all processes of the session have exited by then.
#pragma once

#include <functional>

#include "base/json.h"
#include "benchmarks/kit/script/script.h"
#include "harness/referee/processes/jail_options.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

// Receives one JSON object for each step of a session. The first event is {"event": "loading"}.
// Each phase has two events, "phase" and "phase_done", which contain the phase's name, its index
// and the number of phases. "phase_done" also contains wall_ns.
using Progress = std::function<void(const Json&)>;

// A function that is called before each phase, with the number of the phase and the results of the
// phases before it. It may make those changes to the script (all operations) that
// Workload::adapt_phase() may make. The jail (sandbox) is frozen during the call, unless the
// machine cannot freeze it.
using Adapt = std::function<void(uint32_t phase, const script::Outcome& so_far)>;

// Plays the session. Takes at most options.wall_ms plus the time to end the jail
// (JailProcess::finish()). `adapt` may be empty. `idle_work` runs at the lowest priority during the
// first untimed phase, and ends before a timed phase begins (machine/idle_work.h). Without an
// untimed phase, it does not run.
SessionResult play(const script::Script& script, const JailOptions& options,
                   const Progress& progress, const Adapt& adapt = {},
                   const std::function<void()>& idle_work = {});

}  // namespace keydrome
