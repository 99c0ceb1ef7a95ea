// referee: plays one session of a benchmark with an untrusted library, judges the results and
// writes a report.
//
// THEORY OF OPERATION
//
// Processes and their rights
//
//     runner or a person  starts the referee; reads progress lines and the report
//       referee           root; generates the operations, measures the time, judges
//         jail            root; makes the sandbox, runs the player in it, and kills the player's
//                         processes (jail/main.c)
//           init          process 1 of the jail's PID namespace; the player's parent
//             player      user 60000 + slot, no capabilities, own namespaces, seccomp filter;
//                         loads the library and plays the programs
//         driver          only in verified mode; user `nobody`, outside the jail; plays the
//                         programs instead of the player
//
// A program is the list of operations of one thread. The plan is the JSON file that describes the
// session. The slot is a number in the plan that gives each running jail its own user. An ordinary
// user may run the referee too. The jail then gives weak isolation, which the plan must accept
// (jail.require).
//
// Pipes and sockets
//
//     channel             referee <-> player, SEQPACKET: commands (harness/protocol.h)
//     driver's channel    referee <-> driver, the same messages
//     command channel     referee <-> jail, SEQPACKET: freeze, thaw, usage, kill (jail/command.h)
//     meta pipe           jail -> referee: how the jail ended, which isolation it gave (jail_end.h)
//     two output pipes    player -> referee: standard output and standard error, for people only
//
// Memory that the referee creates as memfds and passes over a channel
//
//     ring                the programs and their keys, piece by piece; only the referee can write
//                         to it (harness/ring.h)
//     outcome             of fixed size, for all phases: the player writes counters, results and
//                         logs into it
//     stack page          of fixed size: hanging or crashing threads of the player write their
//                         stacks (harness/stacks.h)
//     call slots          only in verified mode, of fixed size, shared by driver and player
//                         (harness/calls.h)
//
// Steps of a session (commands.cc)
//
// 1. Check the command line, the plan and the files. Make sure that the report can be written.
// 2. Generate the programs of all threads from the seed (session/prepare.h).
// 3. Start the jail with the player; in verified mode start the driver too (session/partner.h).
// 4. Have the player load the library. Then the player drops the rights that only loading needs.
// 5. Play each phase (session/conductor.h):
//    - make its inputs, send the message GO, read the clock, thaw the jail
//    - hand out pieces, which are portions of the programs
//    - when the message DONE arrives, freeze the jail, read the clock, copy and check the outcome
// 6. End the jail. Judge the outcome and the recorded histories (logs of all calls), and decide the
//    verdict (judging/). A judge may play parts of the programs again, each in a fresh jail. In
//    this step, and in step 5 before GO and after the freeze, the referee uses several CPUs
//    (base/parallel.h). While the clock of a timed phase runs, it uses only one CPU.
// 7. Write the report (report/). After step 3, a report is missing only if a file could not be
//    written (exit code 3) or the referee died.
//
// How processes end
//
// - The session is over, or a deadline or limit has passed: the referee sends the jail the command
//   kill. If the jail does not exit within 20 s, the referee kills it with SIGKILL.
// - The player exits or crashes: the jail kills the remaining processes, writes its meta lines and
//   exits.
// - The referee is killed: the jail sees that the command channel has closed, and kills the player.
//   The kernel kills the driver (PR_SET_PDEATHSIG). There is no report.
// - The player reaches the memory limit of its cgroup: the kernel kills the player.
//
// Trust
//
// - The referee trusts the jail and the driver. It checks everything from the player: messages must
//   follow the protocol, and counters and results must be possible for the programs. The referee
//   measures the time itself.
// - No seed, no code that generates operations, and no expected result enters the jail.
//
// Exit codes
//
//     0    success; for `run`: a report was written, with any verdict
//     2    wrong arguments or wrong plan; nothing was started
//     3    the report or a recorded history could not be written
//
// docs/reference/plan-and-report.md describes plan and report.
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "harness/referee/command_line.h"
#include "harness/referee/commands.h"
#include "harness/referee/machine/memory_bound.h"

namespace keydrome {
namespace {

int run(const CommandLine& line) {
  switch (line.command) {
    case CommandLine::Command::kRun:
      return command_run(line.run);
    case CommandLine::Command::kList:
      return command_list();
    case CommandLine::Command::kMemory:
      return command_memory(line.plan_path);
    case CommandLine::Command::kKeys:
      return command_keys(line.file_path);
    case CommandLine::Command::kTrace:
      return command_trace(line.file_path);
    case CommandLine::Command::kFingerprint:
      return command_fingerprint(line.benchmark);
    case CommandLine::Command::kVersion:
      break;
  }
  std::puts("referee " KEYDROME_VERSION);
  return kExitDone;
}

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  // SIGPIPE is ignored, so that the session ends with a report even if the reader of the progress
  // lines exits early.
  std::signal(SIGPIPE, SIG_IGN);
  keydrome::share_heap();
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  const keydrome::Result<keydrome::CommandLine> line = keydrome::parse_command_line(words);
  if (line) return keydrome::run(*line);
  std::fprintf(stderr, "referee: %s\n%s", line.error().message.c_str(), keydrome::kUsage.data());
  return keydrome::kExitUnusable;
}
