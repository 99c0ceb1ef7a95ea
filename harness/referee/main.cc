// The referee: outside the jail. It generates what a library is asked, starts jail and player, owns
// the clock, checks what came back, and writes the report. Reference:
// docs/reference/plan-and-report.md.
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "harness/referee/commands.h"

namespace keydrome {
namespace {

constexpr std::string_view kUsage =
    "usage: referee run PLAN.json --report FILE [--progress]"
    " [--histories FOLDER [--all-histories]]\n"
    "       referee list\n"
    "       referee fingerprint BENCHMARK\n"
    "       referee --version\n";

int usage() {
  std::fwrite(kUsage.data(), 1, kUsage.size(), stderr);
  return kExitUnusable;
}

int run(const std::vector<std::string_view>& arguments) {
  RunCommand command;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--progress") {
      command.progress = true;
    } else if (arguments[i] == "--report" && i + 1 < arguments.size()) {
      command.report_path = arguments[++i];
    } else if (arguments[i] == "--histories" && i + 1 < arguments.size()) {
      command.histories.folder = arguments[++i];
    } else if (arguments[i] == "--all-histories") {
      command.histories.all = true;
    } else if (command.plan_path.empty() && !arguments[i].starts_with("--")) {
      command.plan_path = arguments[i];
    } else {
      return usage();
    }
  }
  if (command.plan_path.empty() || command.report_path.empty()) return usage();
  return command_run(command);
}

int dispatch(const std::vector<std::string_view>& arguments) {
  if (arguments.empty()) return usage();
  if (arguments[0] == "run") return run(arguments);
  if (arguments[0] == "list" && arguments.size() == 1) return command_list();
  if (arguments[0] == "fingerprint" && arguments.size() == 2) {
    return command_fingerprint(std::string(arguments[1]));
  }
  if (arguments[0] == "--version" && arguments.size() == 1) {
    std::puts("referee " KEYDROME_VERSION);
    return kExitDone;
  }
  return usage();
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  // A reader of the progress lines that goes away must not take the session along.
  std::signal(SIGPIPE, SIG_IGN);
  return keydrome::dispatch({arguments + 1, arguments + count});
}
