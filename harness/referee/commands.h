// The commands of the referee: run, memory, keys, trace, list and fingerprint. The referee is the
// trusted program that plays and judges one session of a benchmark. Each function returns the exit
// code of the process, and prints an error, if there is one, to standard error.
#pragma once

#include <string>

#include "harness/referee/command_line.h"

namespace keydrome {

inline constexpr int kExitDone = 0;        // for `run`: a report was written, with any verdict
inline constexpr int kExitUnusable = 2;    // wrong arguments or wrong plan; nothing was started
inline constexpr int kExitNotWritten = 3;  // the report or a log of calls could not be written

// Plays and judges one session, and writes its report.
int command_run(const RunArguments& arguments);
// Prints the memory that a session would need, as {"referee_bytes": N, "library_bytes": N}. The
// plan is the JSON file that describes the session (plan/plan.h).
int command_memory(const std::string& plan_path);
// Prints facts about a file of keys, such as its hardness: how many line segments approximate the
// keys (docs/reference/key-files.md).
int command_keys(const std::string& path);
// Prints what a recorded trace contains. A trace is a file with the calls of a user's own program
// (docs/reference/trace-files.md).
int command_trace(const std::string& path);
// Prints the manifest (description and parameters) of every benchmark, as {"benchmarks": [...]}.
int command_list();
// Prints what belongs in the fingerprint.json of a benchmark: an object with the version of the
// benchmark and the SHA-256 of the operations that this version generates. A test compares the file
// with the operations.
int command_fingerprint(const std::string& benchmark);

}  // namespace keydrome
