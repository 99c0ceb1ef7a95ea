// Implements RefereeChannel, the channel to the process that runs the benchmark. Every failed send
// or receive ends this process.
#include "harness/player/referee_channel.h"

#include <unistd.h>

#include <algorithm>

namespace keydrome {

MessageType RefereeChannel::receive() {
  fds_ = {};
  if (receive_message(kChannelFd, message_, &fds_) != Receive::kMessage) exit_now(1);
  return message_.type;
}

void RefereeChannel::send(MessageType type, PhaseId about, uint32_t status,
                          std::string_view text) const {
  Message message = make_message(type);
  message.nonce = about.nonce;
  message.phase = about.phase;
  message.status = status;
  text.copy(message.text, std::min(text.size(), size_t{kTextBytes - 1}));
  send_or_exit(message);
}

void RefereeChannel::need(PhaseId about, uint32_t thread, uint32_t piece) const {
  Message message = make_message(MessageType::kNeed);
  message.nonce = about.nonce;
  message.phase = about.phase;
  message.thread = thread;
  message.piece = piece;
  send_or_exit(message);
}

void RefereeChannel::send_or_exit(const Message& message) const {
  if (!send_message(kChannelFd, message)) exit_now(1);
}

void exit_now(int code) { _exit(code); }

}  // namespace keydrome
