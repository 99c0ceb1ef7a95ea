// What the referee's command line can do. Each command returns the process's exit code.
#pragma once

#include <string>

#include "harness/referee/kept_histories.h"

namespace keydrome {

inline constexpr int kExitDone = 0;  // run: a report was written, whatever its verdict
inline constexpr int kExitUnusable =
    2;  // a plan or a command line that cannot be used; nothing was started
inline constexpr int kExitNotWritten = 3;  // the report could not be written

struct RunCommand {
  std::string plan_path;
  std::string report_path;
  bool progress = false;  // one JSON object per line on standard output
  HistoryRequest histories;
};

int command_run(const RunCommand& command);
// Every benchmark's manifest, as {"benchmarks": [...]}.
int command_list();
// The fingerprint of a benchmark's operation streams, as benchmark.json's tests compare it.
int command_fingerprint(const std::string& benchmark);

}  // namespace keydrome
