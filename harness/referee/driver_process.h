// The driver of verified mode, started and always ended. It is ours and trusted: what goes wrong
// with it is never the library's fault.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "base/result.h"
#include "harness/channel.h"
#include "harness/unique_fd.h"

namespace keydrome {

class DriverProcess {
 public:
  // Starts the program at `path`.
  static Result<DriverProcess> start(const std::string& path);
  DriverProcess(DriverProcess&& other) noexcept;
  DriverProcess& operator=(DriverProcess&&) = delete;
  // Kills it and waits for its end.
  ~DriverProcess();

  // Readable when a message has come or the driver is gone.
  int descriptor() const { return control_.get(); }
  Receive receive(Message& message) { return receive_message(control_.get(), message); }
  // False when the driver is gone.
  bool send(const Message& message, std::span<const int> fds = {}) {
    return send_message(control_.get(), message, fds, Send::kNow);
  }

 private:
  DriverProcess(pid_t pid, UniqueFd control) : pid_(pid), control_(std::move(control)) {}

  pid_t pid_;
  UniqueFd control_;
};

}  // namespace keydrome
