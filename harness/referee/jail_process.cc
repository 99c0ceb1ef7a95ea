#include "harness/referee/jail_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/clock.h"
#include "harness/referee/session_limits.h"
#include "harness/referee/spawn.h"

namespace keydrome {
namespace {

constexpr int kCommandFd = 4;  // in the jail process
constexpr int kMetaFd = 5;
constexpr uint64_t kExitTimeoutMs = 20'000;  // tearing down a large process tree
constexpr size_t kMetaBytesMax = 65'536;
// An idle processor takes tens of microseconds to run a thread again, which would be most of what a
// short phase takes by our clock: so an answer is waited for busily at first. The time is that of a
// few such phases, and too short to take anything from one that counts.
constexpr uint64_t kBusyNs = 100'000;

int remaining_ms(uint64_t deadline_ns) {
  const uint64_t now = now_ns();
  if (now >= deadline_ns) return 0;
  return static_cast<int>((deadline_ns - now) / kNsPerMs) + 1;
}

// Reads what a non-blocking pipe holds now; closes it at its end. `take` gets the bytes.
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
    return;  // a flood may never end: the caller looks at its other descriptors in between
  }
}

void option(std::vector<std::string>& arguments, const char* name, uint64_t value) {
  if (value == 0) return;
  arguments.emplace_back(name);
  arguments.push_back(std::to_string(value));
}

void bind(std::vector<std::string>& arguments, const std::string& source, const char* target) {
  arguments.emplace_back("--bind");
  arguments.push_back(source + ":" + target);
}

}  // namespace

struct JailProcess::Ends {
  UniqueFd control;
  UniqueFd command;
  UniqueFd meta;
  UniqueFd stdout_pipe;
  UniqueFd stderr_pipe;
};

std::vector<std::string> jail_arguments(const JailOptions& options) {
  const JailPlan& plan = options.plan.jail;
  std::vector<std::string> arguments{plan.path, "--require", plan.require};
  arguments.emplace_back("--slot");
  arguments.push_back(std::to_string(plan.slot));
  bind(arguments, options.plan.player, "/player");
  bind(arguments, options.plan.library.path, "/library.so");
  if (!options.plan.library.structure.empty()) {
    bind(arguments, options.plan.library.structure, "/structure.so");
  }
  if (!plan.cpus.empty()) {
    arguments.emplace_back("--cpus");
    arguments.push_back(plan.cpus);
  }
  option(arguments, "--tmpfs-bytes", options.tmpfs_bytes);
  option(arguments, "--memory-bytes", options.memory_bytes);
  option(arguments, "--processes", options.processes);
  option(arguments, "--wall-ms", options.wall_ms + kJailSpareMs);
  if (plan.cpu_seconds) {
    option(arguments, "--cpu-seconds",
           std::min(kJailCpuSecondsMax, *plan.cpu_seconds + jail_spare_cpu_seconds()));
  }
  if (plan.counters) arguments.emplace_back("--counters");
  option(arguments, "--pass-fd", kControlFd);
  option(arguments, "--command-fd", kCommandFd);
  option(arguments, "--meta-fd", kMetaFd);
  arguments.emplace_back("--");
  arguments.emplace_back("/player");
  return arguments;
}

Result<JailProcess> JailProcess::start(const JailOptions& options) {
  Result<DescriptorPair> control = socket_pair(SOCK_SEQPACKET);
  if (!control) return control.error();
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
  actions.give(control->theirs, kControlFd);
  actions.give(command->theirs, kCommandFd);
  actions.give(meta->theirs, kMetaFd);
  pid_t pid = -1;
  const int error = actions.spawn(pid, jail_arguments(options));
  if (error != 0) {
    return Error{"cannot start the jail " + options.plan.jail.path + ": " + std::strerror(error)};
  }
  return JailProcess(pid,
                     {std::move(control->ours), std::move(command->ours), std::move(meta->ours),
                      std::move(output->ours), std::move(errors->ours)},
                     options);
}

JailProcess::JailProcess(pid_t pid, Ends ends, const JailOptions& options)
    : pid_(pid),
      pid_fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
      control_(std::move(ends.control)),
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
      control_(std::move(other.control_)),
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

// Poll leaves out negative descriptors, so pipes that have ended need no special case.
JailProcess::Event JailProcess::wait(Message& message, uint64_t deadline_ns, int beside) {
  const uint64_t busy_until_ns = now_ns() + kBusyNs;
  for (;;) {
    std::array<pollfd, 6> polled{{{control_.get(), POLLIN, 0},
                                  {stdout_pipe_.get(), POLLIN, 0},
                                  {stderr_pipe_.get(), POLLIN, 0},
                                  {meta_.get(), POLLIN, 0},
                                  {pid_fd_.get(), POLLIN, 0},
                                  {beside, POLLIN, 0}}};
    const bool busy = now_ns() < busy_until_ns;
    const int ready = poll(polled.data(), polled.size(), busy ? 0 : remaining_ms(deadline_ns));
    if (ready < 0 && errno != EINTR) return Event::kClosed;
    if (ready > 0) {
      drain(stdout_pipe_, [&](std::span<const char> bytes) { stdout_.append(bytes); });
      drain(stderr_pipe_, [&](std::span<const char> bytes) { stderr_.append(bytes); });
      if (polled[0].revents != 0) {
        const Receive received = receive_message(control_.get(), message);
        if (received == Receive::kMessage) return Event::kMessage;
        return received == Receive::kClosed ? Event::kClosed : Event::kMalformed;
      }
      if (polled[4].revents != 0) return Event::kClosed;
      if (polled[3].revents != 0) return Event::kClosed;  // meta lines come only at the end
      if (polled[5].revents != 0) return Event::kBeside;
    }
    if (now_ns() >= deadline_ns) return Event::kDeadline;
  }
}

bool JailProcess::send(const Message& message, std::span<const int> fds) {
  return send_message(control_.get(), message, fds, Send::kNow);
}

bool JailProcess::command(char letter, JailUsage* usage) {
  if (!command_.valid()) return false;
  if (::send(command_.get(), &letter, 1, MSG_NOSIGNAL) != 1) return false;
  ++unanswered_;
  const uint64_t deadline_ns = now_ns() + command_timeout_ms_ * kNsPerMs;
  keydrome_jail_reply reply{};
  // Answers come in the order of the commands, so those to commands that were given up come first.
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
    *usage = {known(reply.cpu_us), known(reply.memory_bytes), {}};
    std::transform(std::begin(reply.counters), std::end(reply.counters), usage->counters.begin(),
                   known);
  }
  return reply.error == 0;
}

bool JailProcess::freeze() { return command(KEYDROME_JAIL_FREEZE, nullptr); }

bool JailProcess::thaw() { return command(KEYDROME_JAIL_THAW, nullptr); }

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
    drain(stdout_pipe_, [&](std::span<const char> bytes) { stdout_.append(bytes); });
    drain(stderr_pipe_, [&](std::span<const char> bytes) { stderr_.append(bytes); });
    drain(meta_, [&](std::span<const char> bytes) {
      if (meta_text_.size() < kMetaBytesMax) meta_text_.append(bytes.data(), bytes.size());
    });
    if (polled[0].revents != 0) return true;
    if (now_ns() >= deadline_ns) return false;
  }
}

// The jail ends when the program does, when it is told to, and when the command channel closes;
// SIGKILL is for a jail that is broken itself, and takes the tree along because the tree's init
// dies with it.
JailEnd JailProcess::finish(uint64_t patience_ms) {
  bool exited = patience_ms > 0 && wait_for_exit(now_ns() + patience_ms * kNsPerMs);
  if (!exited) {
    const char letter = KEYDROME_JAIL_KILL;
    if (::send(command_.get(), &letter, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) command_.reset();
    exited = wait_for_exit(now_ns() + kExitTimeoutMs * kNsPerMs);
  }
  if (!exited) {
    ::kill(pid_, SIGKILL);
    wait_for_exit(now_ns() + kExitTimeoutMs * kNsPerMs);
  }
  return reap(exited);
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
  // What is left in the pipes after the exit; a pipe that someone still holds open is not waited
  // for.
  for (int i = 0; i < 64; ++i) {
    drain(stdout_pipe_, [&](std::span<const char> bytes) { stdout_.append(bytes); });
    drain(stderr_pipe_, [&](std::span<const char> bytes) { stderr_.append(bytes); });
    drain(meta_, [&](std::span<const char> bytes) {
      if (meta_text_.size() < kMetaBytesMax) meta_text_.append(bytes.data(), bytes.size());
    });
  }
  end.meta = parse_meta(meta_text_);
  pid_ = -1;
  return end;
}

}  // namespace keydrome
