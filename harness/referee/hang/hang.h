// Describes what the threads of the player were doing when a session (one repetition of a
// benchmark) hung or its process died. The text becomes part of a finding, an entry of the report
// that says what is wrong.
//
// The player is the process in the jail (sandbox) that runs the library under test. A hang is
// described while the jail still runs, from three sources:
// - The program of each thread, i.e. the list of operations that the referee generated for it. The
//   program and the number of the current operation show the current call, and the records that the
//   open transaction has touched.
// - The kernel shows the system call that each thread waits in (thread_facts.h).
// - The player's threads write into shared memory: words (8 bytes for each result of a call), the
//   number of the current operation, and their stacks. The library can forge all of these, so they
//   are only hints for people.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/kit/script/script.h"
#include "harness/referee/hang/phase_watch.h"
#include "harness/referee/hang/thread_facts.h"

namespace keydrome {

struct HangInputs {
  pid_t jail = 0;  // process id of the jail
  std::span<const std::byte> stack_page;
  const script::Script* script = nullptr;
  const script::PhaseScript* phase = nullptr;  // nullptr: the library was being loaded
  PhaseWatch* watch = nullptr;                 // samples the progress of `phase`
};

// Two readings of the threads of the player, kHangLookMs apart (hang_text.h).
struct TwoLooks {
  pid_t process = 0;  // of the player
  std::vector<ThreadFacts> before, after;
  uint64_t now_ns = 0;  // time of the second reading
};

// Reads the CPU times of the threads twice, which takes 0.1 s, and then samples `inputs.watch`.
TwoLooks look_twice(const HangInputs& inputs);

// Describes the threads of a session that a time limit ended, in several lines of text. If `slow`
// is true, the session did not hang: its threads still advanced (pace.h). Blocks for up to 1 s,
// until the threads have written their stacks.
std::string hang_evidence(const HangInputs& inputs, const TwoLooks& looks, bool slow);

// Describes the threads of a session whose process has died, in several lines of text. For each
// thread of the phase, the text shows the call that the thread was making, and the calls before it.
// It also shows the stacks that threads wrote when they crashed. `inputs.jail` is not used. The
// caller has sampled `inputs.watch`.
std::string crash_evidence(const HangInputs& inputs);

// Returns the end of a sentence that lists some unfinished threads and their current operations,
// such as "; thread 0 is at operation 5 of 8". Returns "" if all threads have finished.
std::string unfinished_threads(const script::PhaseScript& phase, const PhaseWatch& watch);

}  // namespace keydrome
