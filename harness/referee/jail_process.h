// One jail with a player in it: started, spoken to, and always ended.
//
// Whatever the program inside does, no call here waits beyond its deadline, its output is drained
// as long as anybody waits, and the destructor leaves no process behind. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/channel.h"
#include "harness/referee/jail_end.h"
#include "harness/referee/output_capture.h"
#include "harness/referee/plan.h"
#include "harness/unique_fd.h"
#include "jail/command.h"

namespace keydrome {

// What to start: the plan, and what was worked out from the instance.
struct JailOptions {
  Plan plan;
  uint64_t wall_ms = 60'000;  // of the whole session: above all phase deadlines together
  uint64_t memory_bytes = 0;
  uint64_t tmpfs_bytes = 0;
  uint64_t processes = 0;               // tasks, threads included
  uint64_t command_timeout_ms = 5'000;  // for freezing, thawing and asking for usage
  bool explain_hangs = true;            // takes up to a second of a session that did not go on
};

// By keydrome_jail_counter; what the machine does not have is absent.
using JailCounters = std::array<std::optional<uint64_t>, KEYDROME_JAIL_COUNTERS>;

struct JailUsage {
  std::optional<uint64_t> cpu_us;
  std::optional<uint64_t> memory_bytes;
  JailCounters counters;
};

class JailProcess {
 public:
  enum class Event { kMessage, kMalformed, kClosed, kDeadline, kBeside };

  static Result<JailProcess> start(const JailOptions& options);
  JailProcess(JailProcess&& other) noexcept;
  JailProcess& operator=(JailProcess&&) = delete;
  ~JailProcess();

  // The next message from the player, or what came instead, until `deadline_ns` (now_ns()).
  // kBeside: there is something to read from the descriptor `beside`, if that is not -1.
  Event wait(Message& message, uint64_t deadline_ns, int beside = -1);
  // False when the player does not take it: gone, or deaf.
  bool send(const Message& message, std::span<const int> fds = {});

  // Stops and resumes every thread inside. False where the machine cannot.
  bool freeze();
  bool thaw();
  std::optional<JailUsage> usage();

  // Waits up to `patience_ms` for the program to end by itself, kills what is left, waits for the
  // jail and reads its meta lines. Call once.
  JailEnd finish(uint64_t patience_ms);

  pid_t pid() const { return pid_; }
  const OutputCapture& output() const { return stdout_; }
  const OutputCapture& errors() const { return stderr_; }

 private:
  struct Ends;  // our ends of the pipes and sockets
  JailProcess(pid_t pid, Ends ends, const JailOptions& options);
  bool command(char letter, JailUsage* usage);
  bool wait_for_exit(uint64_t deadline_ns);
  JailEnd reap(bool exited);

  pid_t pid_;
  UniqueFd pid_fd_;
  UniqueFd control_;
  UniqueFd command_;
  UniqueFd meta_;
  UniqueFd stdout_pipe_;
  UniqueFd stderr_pipe_;
  OutputCapture stdout_;
  OutputCapture stderr_;
  std::string meta_text_;
  uint64_t command_timeout_ms_;
  uint32_t unanswered_ = 0;  // commands whose answer has not come
};

// The jail's command line for these options; the descriptors are those of the child.
std::vector<std::string> jail_arguments(const JailOptions& options);

}  // namespace keydrome
