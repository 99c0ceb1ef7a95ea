// Parses the command line of the referee, the trusted program that plays one session: one
// repetition of a benchmark with one untrusted library.
//
// Thread safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "harness/referee/report/kept_histories.h"

namespace keydrome {

inline constexpr std::string_view kUsage =
    "usage: referee run PLAN.json --report FILE [--progress]"
    " [--histories FOLDER [--all-histories]]\n"
    "       referee memory PLAN.json\n"
    "       referee keys FILE\n"
    "       referee trace FILE\n"
    "       referee list\n"
    "       referee fingerprint BENCHMARK\n"
    "       referee --version\n";

struct RunArguments {
  std::string plan_path;
  std::string report_path;
  bool progress = false;  // print a JSON object for each step of the session on standard output
  HistoryRequest histories;
};

struct CommandLine {
  enum class Command { kRun, kMemory, kKeys, kTrace, kList, kFingerprint, kVersion };
  Command command = Command::kRun;
  RunArguments run;       // set for Command::kRun
  std::string plan_path;  // set for Command::kMemory
  std::string file_path;  // set for Command::kKeys and Command::kTrace
  std::string benchmark;  // set for Command::kFingerprint
};

// Parses `arguments`, which exclude the program's name. An error names the wrong argument.
Result<CommandLine> parse_command_line(std::span<const std::string_view> arguments);

}  // namespace keydrome
