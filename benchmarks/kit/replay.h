// Playing scripts again: how a workload makes what it found smaller. The referee gives it the
// means; each replay has a fresh jail, a fresh player and the same library.
//
// Thread safety: plain data; a Replay is called by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// How a session ended.
struct Ending {
  bool complete = true;  // every phase was played
  // Otherwise what stopped it, if the library's own doing in a phase did: "SIGSEGV", "exit code 3",
  // "hang", "exception". Equal faults give equal words.
  std::string stop;
};

struct Replayed {
  Ending ending;
  Outcome outcome;  // of the phases that ended
};

// Plays a script; no phase takes longer than `phase_timeout_ms`.
using Replay = std::function<Replayed(const Script& script, uint64_t phase_timeout_ms)>;

// What a session showed.
struct Played {
  const Outcome& outcome;  // of the phases that ended
  Ending ending;
  Replay replay;  // may be missing: then nothing can be played again
};

}  // namespace keydrome
