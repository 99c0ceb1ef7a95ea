// Runs the driver, the trusted process that plays the operations of a benchmark outside the jail
// (sandbox) in verified mode (harness/driver/main.cc).
//
// In verified mode the driver decides which calls to make. The player, the process in the jail that
// contains the library, makes them. A failure of the driver does not count as a failure of the
// library. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "harness/channel.h"

namespace keydrome {

class DriverProcess {
 public:
  // Starts the driver program at `path`.
  static Result<DriverProcess> start(const std::string& path);
  DriverProcess(DriverProcess&& other) noexcept;
  DriverProcess& operator=(DriverProcess&&) = delete;
  // Kills the driver and reaps it.
  ~DriverProcess();

  pid_t pid() const { return pid_; }
  // The channel to the driver. It is readable when a message has arrived or the driver has exited.
  int descriptor() const { return channel_.get(); }
  Receive receive(Message& message) { return receive_message(channel_.get(), message); }
  // Never blocks. Returns false if the driver has exited or does not read its messages.
  bool send(const Message& message, std::span<const int> fds = {}) {
    return send_message(channel_.get(), message, fds, Send::kNow);
  }

 private:
  DriverProcess(pid_t pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}

  pid_t pid_;
  UniqueFd channel_;
};

}  // namespace keydrome
