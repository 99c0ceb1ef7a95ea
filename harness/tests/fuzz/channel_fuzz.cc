// Fuzz target for receive_message(), the receiving side of the channel between the referee
// (trusted) and the player (the jailed process with the library).
//
// The first byte of the input is the number of descriptors sent with the message. The second byte
// decides whether the receiver accepts them. The other bytes are the message. The target checks
// that only whole messages of this version are accepted, and that no descriptor leaks.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "harness/channel.h"

namespace {

constexpr size_t kMostFds = 8;  // more than a message may have

void send_raw(int socket, const uint8_t* data, size_t size, size_t fds) {
  iovec body{const_cast<uint8_t*>(data), size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFds)> ancillary{};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  if (fds > 0) {
    header.msg_control = ancillary.data();
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds);
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * fds);
    std::vector<int> numbers(fds, socket);
    std::memcpy(CMSG_DATA(part), numbers.data(), sizeof(int) * fds);
  }
  if (sendmsg(socket, &header, MSG_NOSIGNAL) < 0) std::abort();
}

// Returns the lowest free descriptor. The number becomes higher if a descriptor leaks.
int lowest_free() {
  const int lowest = dup(STDERR_FILENO);
  close(lowest);
  return lowest;
}

void play(size_t fds, bool takes, const uint8_t* data, size_t size) {
  using namespace keydrome;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  const UniqueFd theirs(ends[0]);
  const UniqueFd ours(ends[1]);
  send_raw(theirs.get(), data, size, fds);
  const int before = lowest_free();
  {
    Message message{};
    std::array<UniqueFd, kMessageFdsMax> taken;
    const Receive result = receive_message(ours.get(), message, takes ? &taken : nullptr);
    const bool is_whole = size == sizeof message && message.version == kProtocolVersion;
    if ((result == Receive::kMessage) != is_whole) std::abort();
    if (size > 0 && result == Receive::kClosed) std::abort();
    const auto got = std::count_if(taken.begin(), taken.end(), [](auto& fd) { return fd.valid(); });
    if (static_cast<size_t>(got) != (takes ? std::min(fds, kMessageFdsMax) : 0)) std::abort();
    if (!takes && lowest_free() != before) std::abort();
  }
  if (lowest_free() != before) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kLongest = sizeof(keydrome::Message) + 64;
  if (size < 2) return 0;
  play(data[0] % (kMostFds + 1), data[1] % 2 != 0, data + 2, std::min(size - 2, kLongest));
  return 0;
}
