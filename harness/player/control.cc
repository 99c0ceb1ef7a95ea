#include "harness/player/control.h"

#include <unistd.h>

#include <algorithm>

namespace keydrome {

MessageType Control::receive() {
  fds_ = {};
  if (receive_message(kControlFd, message_, &fds_) != Receive::kMessage) leave(1);
  return message_.type;
}

void Control::send(MessageType type, Address about, uint32_t round, uint32_t status,
                   std::string_view text) const {
  Message message = make_message(type);
  message.nonce = about.nonce;
  message.phase = about.phase;
  message.round = round;
  message.status = status;
  text.copy(message.text, std::min(text.size(), size_t{kTextBytes - 1}));
  if (!send_message(kControlFd, message)) leave(1);
}

void leave(int code) { _exit(code); }

}  // namespace keydrome
