// Runs one jail with a player in it: starts the jail's process, owns the pipes and sockets to it,
// and reports how the jail ended.
//
// The jail (jail/main.c) is a trusted program that makes a sandbox and runs the player in it. The
// player loads the library under test and is untrusted. The referee, which runs the benchmark,
// keeps its ends of:
// - the channel, a SEQPACKET socket to the player (harness/protocol.h)
// - the command channel, a SEQPACKET socket to the jail (jail/command.h): freeze, thaw, usage, kill
// - three pipes: the player's standard output, its standard error, and the jail's meta lines
//   (jail_end.h)
//
// The player cannot block the referee: each wait ends at its deadline and reads what the pipes
// contain, and the destructor kills all processes of the jail. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "harness/channel.h"
#include "harness/referee/processes/jail_end.h"
#include "harness/referee/processes/jail_options.h"
#include "harness/referee/processes/jail_usage.h"
#include "harness/referee/processes/output_capture.h"

namespace keydrome {

class JailProcess {
 public:
  enum class Event {
    kMessage,    // a message from the player arrived
    kMalformed,  // a message from the player has a wrong size or version
    kClosed,     // the channel is closed, or the player or the jail has exited
    kDeadline,   // the deadline passed before anything arrived
    kOther,      // `other_fd` is readable
  };

  static Result<JailProcess> start(const JailOptions& options);
  JailProcess(JailProcess&& other) noexcept;
  JailProcess& operator=(JailProcess&&) = delete;
  ~JailProcess();

  // Waits for the player's next message until `deadline_ns` (on the clock of now_ns()). If
  // `other_fd` is not -1, wait() polls it too and returns kOther when it is readable. Until
  // `busy_until_ns`, wait() polls without sleeping.
  Event wait(Message& message, uint64_t deadline_ns, int other_fd = -1, uint64_t busy_until_ns = 0);
  // Never blocks. Returns false if the player has exited or does not read its messages.
  bool send(const Message& message, std::span<const int> fds = {});

  // freeze() stops every thread in the jail and thaw() resumes them. Each returns false if the jail
  // failed to do so or did not reply in time. If the jail replied, `usage` is set to the CPU time
  // and memory that the jail has used so far. The jail reads them while its threads are stopped:
  // after the freeze, or before the thaw.
  bool freeze(JailUsage* usage = nullptr);
  bool thaw(JailUsage* usage = nullptr);
  // Returns nothing if the jail did not reply in time.
  std::optional<JailUsage> usage();

  // If `grace_ms` is not 0, thaws the jail and waits that long for the player to exit by itself.
  // Then kills the remaining processes, reaps the jail and reads its meta lines. Call finish() only
  // once. If the jail itself is broken, finish() takes up to 45 s more.
  JailEnd finish(uint64_t grace_ms);

  pid_t pid() const { return pid_; }
  const OutputCapture& output() const { return stdout_; }
  const OutputCapture& errors() const { return stderr_; }

 private:
  struct Ends;  // the referee's ends of the pipes and sockets
  JailProcess(pid_t pid, Ends ends, const JailOptions& options);
  bool command(char letter, JailUsage* usage);
  bool wait_for_exit(uint64_t deadline_ns);
  JailEnd reap(bool exited);
  void drain_output();
  void drain_meta();

  pid_t pid_;
  UniqueFd pid_fd_;
  UniqueFd channel_;
  UniqueFd command_;
  UniqueFd meta_;
  UniqueFd stdout_pipe_;
  UniqueFd stderr_pipe_;
  OutputCapture stdout_;
  OutputCapture stderr_;
  std::string meta_text_;
  uint64_t command_timeout_ms_;
  uint32_t unanswered_ = 0;  // number of commands that have no reply yet
};

}  // namespace keydrome
