// Replay: a function that runs a script, the operations of a session, again. A workload uses it to
// reduce a failing script to a shorter script that still fails. The referee, the process that runs
// and judges sessions, provides the function. Each replay has a fresh jail (sandbox), a fresh
// process that calls the library, and the same library.
//
// Thread safety: plain data. Only one thread at a time may call a Replay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

// How a session ended.
struct Ending {
  bool complete = true;  // true: every phase ended
  // How the library stopped the session: "SIGSEGV", "exit code 3", "hang" or "exception". Equal
  // causes give equal texts. Empty if the library did not stop it.
  std::string stop;
};

// The result of a replay.
struct Replayed {
  Ending ending;
  script::Outcome outcome;  // the results of the phases that ended
};

// Runs a script. A phase that takes longer than `phase_timeout_ms` is stopped.
using Replay = std::function<Replayed(const script::Script& script, uint64_t phase_timeout_ms)>;

// A session that has ended.
struct Played {
  const script::Outcome& outcome;  // the results of the phases that ended
  Ending ending;
  Replay replay;  // empty if scripts cannot be replayed
};

}  // namespace keydrome::judge
