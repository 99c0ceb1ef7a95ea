// RunLog: what was recorded of one run, cut out of the logs of its phase.
//
// Logs come from the library's process and are untrusted: what does not fit the script is a
// problem, never a crash.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/scenarios/run_script.h"
#include "checker/history.h"

namespace keydrome::scenarios {

struct RunLog {
  // One thread for each session, indexes numbered from 0 for A. Varchar keys are fingerprints.
  History history;
  // Of the first thread: the calls of the steps are [steps_begin, steps_end). Before them the run
  // is set up, behind them everything is read.
  uint32_t steps_begin = 0, steps_end = 0;
  uint32_t last_attempts = 0;  // how often the reading transaction was begun
};

struct RunLogs {
  std::vector<RunLog> runs;  // fewer than the scenario has when a log ended early
  std::string problem;       // why the rest could not be read; empty when there is no rest
  bool overflow = false;     // because more calls were made than there was room for
};

// A run's log begins in each thread where it creates or opens an index of that run.
RunLogs split_logs(const PlannedScenario& planned, const ScriptedScenario& scripted,
                   const PhaseOutcome& outcome);

}  // namespace keydrome::scenarios
