// The player's end of the control channel.
//
// Whenever the referee is gone or sends nonsense there is nothing left to do: the process ends. Any
// thread may send; one receives.
#pragma once

#include <array>
#include <string_view>

#include "harness/channel.h"

namespace keydrome {

// Which phase a message is about.
struct Address {
  uint64_t nonce = 0;
  uint32_t phase = 0;
};

class Control {
 public:
  using Fds = std::array<UniqueFd, kMessageFdsMax>;

  // Waits for the next message.
  MessageType receive();
  // The last message received, and the descriptors that came with it.
  const Message& message() const { return message_; }
  Fds& fds() { return fds_; }

  // Sends a message; `text` is cut to what fits.
  void send(MessageType type, Address about, uint32_t round = 0, uint32_t status = 0,
            std::string_view text = {}) const;

 private:
  Message message_{};
  Fds fds_;
};

// Ends the process at once: no destructor of the library gets a say.
[[noreturn]] void leave(int code);

}  // namespace keydrome
