// Implements DriverProcess: starts the driver, the process that plays the operations outside the
// jail (sandbox) in verified mode. Gives the driver one end of a channel. The other end stays in
// this process, the referee. Kills and reaps the driver at the end.
#include "harness/referee/processes/driver_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "harness/referee/processes/spawn.h"

namespace keydrome {

Result<DriverProcess> DriverProcess::start(const std::string& path) {
  Result<DescriptorPair> channel = socket_pair(SOCK_SEQPACKET);
  if (!channel) return channel.error();
  SpawnActions actions;
  actions.give(channel->theirs, kChannelFd);
  const Result<pid_t> pid = actions.spawn("the driver", {path, std::to_string(getpid())});
  if (!pid) return pid.error();
  return DriverProcess(*pid, std::move(channel->ours));
}

DriverProcess::DriverProcess(DriverProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}

DriverProcess::~DriverProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace keydrome
