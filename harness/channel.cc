// Implements harness/channel.h: sends and receives messages with sendmsg() and recvmsg(). File
// descriptors travel as ancillary data (SCM_RIGHTS).
#include "harness/channel.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace keydrome {
namespace {

constexpr size_t kAncillaryBytes = CMSG_SPACE(sizeof(int) * kMessageFdsMax);

void take_fds(msghdr& header, std::array<UniqueFd, kMessageFdsMax>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count && i < fds.size(); ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
      fds[i].reset(descriptor);
    }
  }
}

}  // namespace

bool send_message(int socket, const Message& message, std::span<const int> fds, Send how) {
  iovec body{const_cast<Message*>(&message), sizeof message};
  alignas(cmsghdr) std::array<char, kAncillaryBytes> ancillary{};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = ancillary.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL | (how == Send::kNow ? MSG_DONTWAIT : 0));
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

Receive receive_message(int socket, Message& message, std::array<UniqueFd, kMessageFdsMax>* fds) {
  iovec body{&message, sizeof message};
  alignas(cmsghdr) std::array<char, kAncillaryBytes> ancillary{};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  if (fds != nullptr) {
    header.msg_control = ancillary.data();
    header.msg_controllen = ancillary.size();
  }
  ssize_t received = -1;
  do {
    received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return Receive::kClosed;
  if (fds != nullptr) take_fds(header, *fds);  // an empty message can have descriptors too
  if (received == 0) return Receive::kClosed;
  const bool whole = received == static_cast<ssize_t>(sizeof message) &&
                     (header.msg_flags & MSG_TRUNC) == 0 && message.version == kProtocolVersion;
  return whole ? Receive::kMessage : Receive::kMalformed;
}

}  // namespace keydrome
