#include "harness/referee/driver_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/referee/spawn.h"

namespace keydrome {

Result<DriverProcess> DriverProcess::start(const std::string& path) {
  Result<DescriptorPair> control = socket_pair(SOCK_SEQPACKET);
  if (!control) return control.error();
  SpawnActions actions;
  actions.give(control->theirs, kControlFd);
  pid_t pid = -1;
  const int error = actions.spawn(pid, {path, std::to_string(getpid())});
  if (error != 0) return Error{"cannot start the driver " + path + ": " + std::strerror(error)};
  return DriverProcess(pid, std::move(control->ours));
}

DriverProcess::DriverProcess(DriverProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), control_(std::move(other.control_)) {}

DriverProcess::~DriverProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace keydrome
