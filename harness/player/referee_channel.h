// The channel to the referee, the trusted process that runs the benchmark (harness/protocol.h). Two
// programs use this class: the player, which runs the library in the jail (sandbox), and the
// driver, which plays the operations outside the jail in verified mode.
//
// If the referee exits or sends a malformed message, the process exits, because it has nothing
// useful left to do. Any thread may send; only one thread may receive.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "harness/channel.h"

namespace keydrome {

// Identifies the phase that a message belongs to.
struct PhaseId {
  uint64_t nonce = 0;
  uint32_t phase = 0;
};

class RefereeChannel {
 public:
  using Fds = std::array<UniqueFd, kMessageFdsMax>;

  // Waits for the next message.
  MessageType receive();
  // The last received message, and the descriptors that came with it.
  const Message& message() const { return message_; }
  Fds& fds() { return fds_; }

  // Sends a message. `text` is truncated to kTextBytes - 1 bytes.
  void send(MessageType type, PhaseId about, uint32_t status = 0, std::string_view text = {}) const;
  // Asks for piece (portion) number `piece` of a thread's list of operations.
  void need(PhaseId about, uint32_t thread, uint32_t piece) const;

 private:
  void send_or_exit(const Message& message) const;

  Message message_{};
  Fds fds_;
};

// Ends the process at once without running destructors, because destructors of the library could
// hang or crash.
[[noreturn]] void exit_now(int code);

}  // namespace keydrome
