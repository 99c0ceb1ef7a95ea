// Implements harness/referee/processes/spawn.h: starts the child processes of the referee (this
// process) with posix_spawn(). The children are the jail (sandbox) and the driver. A child gets
// only the environment variables PATH and LC_ALL. In the child no signal is blocked, and the memory
// limit that the referee has set for itself does not apply.
#include "harness/referee/processes/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "harness/referee/machine/memory_bound.h"

namespace keydrome {
namespace {

// The referee's pipes and sockets have numbers from 16, which are higher than the numbers they get
// in the child. So dup2() in the child overwrites none of them.
constexpr int kFirstFreeFd = 16;

UniqueFd raise(int fd) {
  UniqueFd low(fd);
  return UniqueFd(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
}

// Says what to do when a pipe or a socket pair cannot be made.
const char* remedy_for_files(int error) {
  return error == ENFILE ? "; this machine has too many open files: end programs that have many "
                           "files open, or as root raise the limit (sysctl fs.file-max)"
                         : "; raise the limit of open files (ulimit -n)";
}

// Says what to do when posix_spawn() has failed with this error.
const char* remedy(int error) {
  switch (error) {
    case EAGAIN:
      return "the machine allows no more processes: end other programs, or raise the limit (ulimit "
             "-u; in a container, pids_limit)";
    case ENOMEM:
      return "the machine has too little memory: end other programs";
    case ENOEXEC:
      return "this file is no program for this machine: run ./dev build here, or, in a plan of "
             "your own, correct the path";
    default:
      return "run ./dev build, or, in a plan of your own, correct the path";
  }
}

}  // namespace

Result<DescriptorPair> socket_pair(int type) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{std::string("the referee cannot make a socket pair: ") + std::strerror(errno) +
                 remedy_for_files(errno)};
  }
  return DescriptorPair{raise(ends[0]), raise(ends[1])};
}

Result<DescriptorPair> output_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{std::string("the referee cannot make a pipe: ") + std::strerror(errno) +
                 remedy_for_files(errno)};
  }
  DescriptorPair pair{raise(ends[0]), raise(ends[1])};
  fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK);
  return pair;
}

SpawnActions::SpawnActions() {
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_init(&attributes_);
}

SpawnActions::~SpawnActions() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

void SpawnActions::give(const UniqueFd& fd, int as) {
  posix_spawn_file_actions_adddup2(&actions_, fd.get(), as);
}

Result<pid_t> SpawnActions::spawn(const std::string& what,
                                  const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.data()));
  argv.push_back(nullptr);
  std::string path = "PATH=/usr/bin:/bin";
  std::string locale = "LC_ALL=C.UTF-8";
  std::array<char*, 3> environment{path.data(), locale.data(), nullptr};
  posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes_, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes_, &signals);
  posix_spawnattr_setpgroup(&attributes_, 0);
  posix_spawnattr_setflags(&attributes_,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const MemoryUnbound for_the_child;
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, argv[0], &actions_, &attributes_, argv.data(), environment.data());
  if (error == 0) return pid;
  return Error{"cannot start " + what + " " + arguments[0] + ": " + std::strerror(error) + "; " +
               remedy(error)};
}

}  // namespace keydrome
