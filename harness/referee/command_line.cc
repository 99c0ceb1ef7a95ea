// Implements parse_command_line(): checks the arguments of the referee, the program that runs and
// judges a session of a benchmark. Checks from left to right, and reports the first wrong argument.
#include "harness/referee/command_line.h"

#include <cstddef>

namespace keydrome {
namespace {

using Arguments = std::span<const std::string_view>;

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// Stores the value of the option `arguments[at]` in `to`, and moves `at` to the value.
Result<void> take_value(Arguments arguments, std::size_t& at, const char* what, std::string& to) {
  if (at + 1 >= arguments.size()) {
    return Error{std::string(arguments[at]) + ": the name of " + what +
                 " is missing after this option"};
  }
  to = arguments[++at];
  return {};
}

Result<CommandLine> parse_run(Arguments arguments) {
  CommandLine line;
  RunArguments& run = line.run;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string_view argument = arguments[at];
    Result<void> taken;
    if (argument == "--progress") {
      run.progress = true;
    } else if (argument == "--all-histories") {
      run.histories.all = true;
    } else if (argument == "--report") {
      taken = take_value(arguments, at, "the file", run.report_path);
    } else if (argument == "--histories") {
      taken = take_value(arguments, at, "the folder", run.histories.folder);
    } else if (argument.starts_with("--")) {
      taken = Error{"run: unknown option " + in_quotes(argument)};
    } else if (!run.plan_path.empty()) {
      taken = Error{"run: unexpected argument " + in_quotes(argument) + " after the plan " +
                    in_quotes(run.plan_path)};
    } else {
      run.plan_path = argument;
    }
    if (!taken) return taken.error();
  }
  if (run.plan_path.empty()) return Error{"run: the argument PLAN.json is missing"};
  if (run.report_path.empty()) return Error{"run: the option --report FILE is missing"};
  return line;
}

}  // namespace

Result<CommandLine> parse_command_line(Arguments arguments) {
  if (arguments.empty()) return Error{"a command is missing"};
  const std::string_view command = arguments[0];
  const Arguments rest = arguments.subspan(1);
  if (command == "run") return parse_run(rest);
  CommandLine line;
  std::size_t expected = 0;
  if (command == "list") {
    line.command = CommandLine::Command::kList;
  } else if (command == "--version") {
    line.command = CommandLine::Command::kVersion;
  } else if (command == "memory") {
    line.command = CommandLine::Command::kMemory;
    if (rest.empty()) return Error{"memory: the argument PLAN.json is missing"};
    line.plan_path = rest[0];
    expected = 1;
  } else if (command == "keys" || command == "trace") {
    line.command = command == "keys" ? CommandLine::Command::kKeys : CommandLine::Command::kTrace;
    if (rest.empty()) return Error{std::string(command) + ": the argument FILE is missing"};
    line.file_path = rest[0];
    expected = 1;
  } else if (command == "fingerprint") {
    line.command = CommandLine::Command::kFingerprint;
    if (rest.empty()) return Error{"fingerprint: the argument BENCHMARK is missing"};
    line.benchmark = rest[0];
    expected = 1;
  } else {
    return Error{"unknown command " + in_quotes(command)};
  }
  if (rest.size() <= expected) return line;
  return Error{std::string(command) + ": unexpected argument " + in_quotes(rest[expected])};
}

}  // namespace keydrome
