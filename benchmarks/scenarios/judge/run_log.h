// RunLog: the recorded calls (events) of one run of a scenario, a short script of API calls. They
// are taken from the logs of the scenario's phase. The phase contains all runs of the scenario, and
// each thread of the phase has one log.
//
// Logs come from the library's process and are not trusted. A log that contradicts the script is
// reported as a problem.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/scenarios/script/run_script.h"
#include "checker/history/history.h"

namespace keydrome::scenarios {

struct RunLog {
  // The calls, one thread per session (client thread). Index A has number 0. Varchar keys are
  // hashes.
  history::History history;
  // In the first thread, the events [steps_begin, steps_end) are the steps. Earlier events set up
  // the run; later events read everything.
  uint32_t steps_begin = 0, steps_end = 0;
  uint32_t last_attempts = 0;  // attempts of the transaction that reads everything
  // True if an index had a record although every record of the previous run had been deleted. The
  // steps then prove nothing.
  bool left_over = false;
};

struct RunLogs {
  std::vector<RunLog> runs;  // fewer than planned if a log ended early
  std::string problem;       // why the other runs could not be read; empty if all runs were read
  bool overflow = false;     // true if runs could not be read because a log was full
};

// Splits the logs of a phase into runs. In each thread, the log of a run begins where the thread
// creates or opens an index of this run.
RunLogs split_logs(const PlannedScenario& planned, const ScriptedScenario& scripted,
                   const script::PhaseOutcome& outcome);

}  // namespace keydrome::scenarios
