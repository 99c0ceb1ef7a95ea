// Implements JailProcess: starts a jail (sandbox), waits for messages of the player (the untrusted
// process in the jail), sends commands to the jail, and ends it.
#include "harness/referee/processes/jail_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "base/clock.h"
#include "harness/referee/processes/jail_fds.h"
#include "harness/referee/processes/spawn.h"

namespace keydrome {
namespace {

constexpr uint64_t kExitTimeoutMs = 20'000;  // long enough to kill a large process tree
constexpr size_t kMetaBytesMax = 65'536;
constexpr int kDrainsAtExit = 64;  // reads of 64 KiB each; much more than a pipe can hold

int remaining_ms(uint64_t deadline_ns) {
  const uint64_t now = now_ns();
  if (now >= deadline_ns) return 0;
  return static_cast<int>((deadline_ns - now) / kNsPerMs) + 1;
}

// Reads up to 64 KiB from a non-blocking pipe and passes the bytes to `take`. Closes the pipe at
// end of file. Reads only once, because a process may write without end; the caller polls its other
// descriptors before it reads again.
template <typename Take>
void drain(UniqueFd& pipe, Take take) {
  std::array<char, 65'536> buffer;
  while (pipe.valid()) {
    const ssize_t count = read(pipe.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      pipe.reset();
      return;
    }
    take(std::span<const char>(buffer.data(), static_cast<size_t>(count)));
    return;
  }
}

}  // namespace

struct JailProcess::Ends {
  UniqueFd channel;
  UniqueFd command;
  UniqueFd meta;
  UniqueFd stdout_pipe;
  UniqueFd stderr_pipe;
};

Result<JailProcess> JailProcess::start(const JailOptions& options) {
  Result<DescriptorPair> channel = socket_pair(SOCK_SEQPACKET);
  if (!channel) return channel.error();
  Result<DescriptorPair> command = socket_pair(SOCK_SEQPACKET);
  if (!command) return command.error();
  Result<DescriptorPair> meta = output_pipe();
  if (!meta) return meta.error();
  Result<DescriptorPair> output = output_pipe();
  if (!output) return output.error();
  Result<DescriptorPair> errors = output_pipe();
  if (!errors) return errors.error();

  SpawnActions actions;
  actions.give(output->theirs, STDOUT_FILENO);
  actions.give(errors->theirs, STDERR_FILENO);
  actions.give(channel->theirs, kChannelFd);
  actions.give(command->theirs, kCommandFd);
  actions.give(meta->theirs, kMetaFd);
  const Result<pid_t> pid = actions.spawn("the jail", jail_arguments(options));
  if (!pid) return pid.error();
  return JailProcess(*pid,
                     {std::move(channel->ours), std::move(command->ours), std::move(meta->ours),
                      std::move(output->ours), std::move(errors->ours)},
                     options);
}

JailProcess::JailProcess(pid_t pid, Ends ends, const JailOptions& options)
    : pid_(pid),
      pid_fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
      channel_(std::move(ends.channel)),
      command_(std::move(ends.command)),
      meta_(std::move(ends.meta)),
      stdout_pipe_(std::move(ends.stdout_pipe)),
      stderr_pipe_(std::move(ends.stderr_pipe)),
      stdout_(options.plan.limits.output_bytes),
      stderr_(options.plan.limits.output_bytes),
      command_timeout_ms_(options.command_timeout_ms) {}

JailProcess::JailProcess(JailProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pid_fd_(std::move(other.pid_fd_)),
      channel_(std::move(other.channel_)),
      command_(std::move(other.command_)),
      meta_(std::move(other.meta_)),
      stdout_pipe_(std::move(other.stdout_pipe_)),
      stderr_pipe_(std::move(other.stderr_pipe_)),
      stdout_(std::move(other.stdout_)),
      stderr_(std::move(other.stderr_)),
      meta_text_(std::move(other.meta_text_)),
      command_timeout_ms_(other.command_timeout_ms_),
      unanswered_(other.unanswered_) {}

JailProcess::~JailProcess() {
  if (pid_ > 0) finish(0);
}

void JailProcess::drain_output() {
  drain(stdout_pipe_, [&](std::span<const char> bytes) { stdout_.append(bytes); });
  drain(stderr_pipe_, [&](std::span<const char> bytes) { stderr_.append(bytes); });
}

void JailProcess::drain_meta() {
  drain(meta_, [&](std::span<const char> bytes) {
    if (meta_text_.size() < kMetaBytesMax) meta_text_.append(bytes.data(), bytes.size());
  });
}

// poll() ignores negative descriptors, so the code needs no special case for closed pipes.
JailProcess::Event JailProcess::wait(Message& message, uint64_t deadline_ns, int other_fd,
                                     uint64_t busy_until_ns) {
  for (;;) {
    std::array<pollfd, 6> polled{{{channel_.get(), POLLIN, 0},
                                  {stdout_pipe_.get(), POLLIN, 0},
                                  {stderr_pipe_.get(), POLLIN, 0},
                                  {meta_.get(), POLLIN, 0},
                                  {pid_fd_.get(), POLLIN, 0},
                                  {other_fd, POLLIN, 0}}};
    const bool busy = now_ns() < busy_until_ns;
    const int ready = poll(polled.data(), polled.size(), busy ? 0 : remaining_ms(deadline_ns));
    if (ready < 0 && errno != EINTR) return Event::kClosed;
    if (ready > 0) {
      drain_output();
      if (polled[0].revents != 0) {
        const Receive received = receive_message(channel_.get(), message);
        if (received == Receive::kMessage) return Event::kMessage;
        return received == Receive::kClosed ? Event::kClosed : Event::kMalformed;
      }
      if (polled[4].revents != 0) return Event::kClosed;
      // The jail writes its meta lines, which say how it ended, only at its end.
      if (polled[3].revents != 0) return Event::kClosed;
      if (polled[5].revents != 0) return Event::kOther;
    }
    if (now_ns() >= deadline_ns) return Event::kDeadline;
  }
}

bool JailProcess::send(const Message& message, std::span<const int> fds) {
  return send_message(channel_.get(), message, fds, Send::kNow);
}

bool JailProcess::command(char letter, JailUsage* usage) {
  if (!command_.valid()) return false;
  if (::send(command_.get(), &letter, 1, MSG_NOSIGNAL) != 1) return false;
  ++unanswered_;
  const uint64_t deadline_ns = now_ns() + command_timeout_ms_ * kNsPerMs;
  keydrome_jail_reply reply{};
  // Replies arrive in the order of the commands. Replies to commands that timed out earlier come
  // first and are skipped.
  for (; unanswered_ > 0; --unanswered_) {
    pollfd polled{command_.get(), POLLIN, 0};
    int ready = -1;
    do {
      ready = poll(&polled, 1, remaining_ms(deadline_ns));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0 || recv(command_.get(), &reply, sizeof reply, 0) != sizeof reply) return false;
  }
  if (reply.command != static_cast<uint8_t>(letter)) return false;
  if (usage != nullptr) {
    const auto known = [](uint64_t value) {
      return value == UINT64_MAX ? std::nullopt : std::optional(value);
    };
    *usage = {known(reply.cpu_us), known(reply.cpu_before_us), known(reply.memory_bytes), {}};
    std::transform(std::begin(reply.counters), std::end(reply.counters), usage->counters.begin(),
                   known);
  }
  return reply.error == 0;
}

bool JailProcess::freeze(JailUsage* usage) { return command(KEYDROME_JAIL_FREEZE, usage); }

bool JailProcess::thaw(JailUsage* usage) { return command(KEYDROME_JAIL_THAW, usage); }

std::optional<JailUsage> JailProcess::usage() {
  JailUsage usage;
  if (!command(KEYDROME_JAIL_USAGE, &usage)) return std::nullopt;
  return usage;
}

bool JailProcess::wait_for_exit(uint64_t deadline_ns) {
  for (;;) {
    std::array<pollfd, 4> polled{{{pid_fd_.get(), POLLIN, 0},
                                  {stdout_pipe_.get(), POLLIN, 0},
                                  {stderr_pipe_.get(), POLLIN, 0},
                                  {meta_.get(), POLLIN, 0}}};
    poll(polled.data(), polled.size(), remaining_ms(deadline_ns));
    drain_output();
    drain_meta();
    if (polled[0].revents != 0) return true;
    if (now_ns() >= deadline_ns) return false;
  }
}

// The jail ends when the player exits, when it receives the command KILL, or when the command
// channel closes. If a broken jail does not end, SIGKILL ends it; the kernel then kills the jail's
// init and every process in the jail.
JailEnd JailProcess::finish(uint64_t grace_ms) {
  bool exited = false;
  if (grace_ms > 0) {
    thaw();  // the jail's init may be frozen, and then it cannot report how the player ended
    exited = wait_for_exit(now_ns() + grace_ms * kNsPerMs);
  }
  if (!exited) {
    const char letter = KEYDROME_JAIL_KILL;
    if (::send(command_.get(), &letter, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) command_.reset();
    exited = wait_for_exit(now_ns() + kExitTimeoutMs * kNsPerMs);
  }
  if (!exited) {
    ::kill(pid_, SIGKILL);
    wait_for_exit(now_ns() + kExitTimeoutMs * kNsPerMs);
  }
  JailEnd end = reap(exited);
  end.killed_by_referee = !exited;
  return end;
}

JailEnd JailProcess::reap(bool exited) {
  JailEnd end;
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = waitpid(pid_, &status, exited ? 0 : WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  end.exited = exited && reaped == pid_ && WIFEXITED(status);
  end.exit_code = end.exited ? WEXITSTATUS(status) : -1;
  // Read the rest of the pipes without waiting, because another process may keep a pipe open.
  for (int i = 0; i < kDrainsAtExit; ++i) {
    drain_output();
    drain_meta();
  }
  end.meta = parse_meta(meta_text_);
  pid_ = -1;
  return end;
}

}  // namespace keydrome
