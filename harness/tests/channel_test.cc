// Tests harness/channel.h over a real socket pair, with the messages of honest and hostile players.
// The player is the jailed process that runs the library under test; the referee is the trusted
// process at the other end.
#include "harness/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace keydrome {
namespace {

struct Pair {
  UniqueFd left;
  UniqueFd right;
};

Pair make_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

TEST(Channel, CarriesMessagesWhole) {
  Pair pair = make_pair();
  Message sent = make_message(MessageType::kGo);
  sent.nonce = 42;
  sent.text[kTextBytes - 1] = 'z';
  ASSERT_TRUE(send_message(pair.left.get(), sent));
  Message received{};
  ASSERT_EQ(receive_message(pair.right.get(), received), Receive::kMessage);
  EXPECT_EQ(std::memcmp(&sent, &received, sizeof sent), 0);
}

TEST(Channel, CarriesDescriptors) {
  Pair pair = make_pair();
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::array<int, 2> sent{null.get(), null.get()};
  ASSERT_TRUE(send_message(pair.left.get(), make_message(MessageType::kGo), sent));
  Message message{};
  std::array<UniqueFd, kMessageFdsMax> fds;
  ASSERT_EQ(receive_message(pair.right.get(), message, &fds), Receive::kMessage);
  EXPECT_TRUE(fds[0].valid());
  EXPECT_TRUE(fds[1].valid());
  EXPECT_FALSE(fds[2].valid());
}

// Descriptors from a hostile player must not fill the referee's descriptor table.
TEST(Channel, ClosesUnwantedDescriptors) {
  Pair pair = make_pair();
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int fd = null.get();
  const UniqueFd before(dup(fd));
  ASSERT_TRUE(send_message(pair.left.get(), make_message(MessageType::kDone), {&fd, 1}));
  Message message{};
  ASSERT_EQ(receive_message(pair.right.get(), message), Receive::kMessage);
  const UniqueFd after(dup(fd));
  EXPECT_EQ(after.get(), before.get() + 1);
}

// A player that sends and never reads must not block the referee.
TEST(Channel, DoesNotWaitForAPeerThatDoesNotRead) {
  Pair pair = make_pair();
  constexpr int kMoreThanFits = 1000;  // messages of 8 KiB; more than the socket can hold
  int sent = 0;
  while (sent < kMoreThanFits &&
         send_message(pair.left.get(), make_message(MessageType::kGo), {}, Send::kNow)) {
    ++sent;
  }
  EXPECT_GT(sent, 0);
  EXPECT_LT(sent, kMoreThanFits);
}

TEST(Channel, ReportsMalformedMessages) {
  Pair pair = make_pair();
  Message message{};
  ASSERT_EQ(send(pair.left.get(), "short", 5, 0), 5);
  EXPECT_EQ(receive_message(pair.right.get(), message), Receive::kMalformed);
  Message other_version = make_message(MessageType::kHello);
  other_version.version = kProtocolVersion + 1;
  ASSERT_TRUE(send_message(pair.left.get(), other_version));
  EXPECT_EQ(receive_message(pair.right.get(), message), Receive::kMalformed);
  pair.left.reset();
  EXPECT_EQ(receive_message(pair.right.get(), message), Receive::kClosed);
  EXPECT_FALSE(send_message(pair.right.get(), message));
}

}  // namespace
}  // namespace keydrome
