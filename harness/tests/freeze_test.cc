// The referee, the process that runs a benchmark, freezes the jail (sandbox) between phases, so
// that a library cannot work while its time is not measured. This file tests how the referee
// handles a jail that fails to freeze or thaw, or that sends wrong replies. A Python script
// replaces the jail and the player, the process in it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "harness/protocol.h"
#include "harness/referee/judging/verdict.h"
#include "harness/referee/session/conductor.h"
#include "jail/command.h"

namespace keydrome {
namespace {

// The script sends the player's messages HELLO and LOADED (harness/protocol.h), and logs the
// commands that it receives. It exits when it receives the message GO or the command kill. While it
// is frozen, it reads no messages. Every reply contains the command's letter in the field for the
// memory usage, so that a test can see which reply the referee used. The script has three settings:
// - `errors`: the errno of the reply, by command
// - `wrong`: commands whose reply names another command
// - `late`: commands whose reply arrives together with the next reply
constexpr const char* kFakeJail = R"py(#!/usr/bin/python3
import os, select, socket, struct, sys
channel, command = (socket.socket(fileno=fd) for fd in (3, 4))
errors, wrong, late = SETTINGS
held = b""
frozen = False
log = open(os.path.abspath(__file__) + ".log", "w", buffering=1)
def say(kind):
    channel.send(struct.pack("<IIQIIIIII8192x", VERSION, kind, 0, 0, 0, 0, 0, 0, 0))
say(1)
while True:
    for ready in select.select([command] if frozen else [channel, command], [], [], 20)[0] or sys.exit(1):
        if ready is channel:
            message = channel.recv(65536)
            if len(message) < 8 or struct.unpack_from("<I", message, 4)[0] != 2:
                sys.exit(0)
            say(3)
        else:
            letter = command.recv(1)
            if letter in (b"", b"K"):
                sys.exit(0)
            log.write(letter.decode())
            frozen = letter == b"F" or frozen and (letter != b"T" or ord("T") in errors)
            answers, held = held + letter, b""
            if letter in late:
                held, answers = answers, b""
            for answer in answers:
                said = 0 if answer in wrong else answer
                command.send(struct.pack("<IIQQQQ72x", said, errors.get(answer, 0), 0, answer, 0, 0))
)py";

class FreezeTest : public ::testing::Test {
 protected:
  // Plays one phase against the script. `settings` is a Python tuple of the three settings.
  SessionResult play_with(const std::string& settings) {
    static_assert(sizeof(Message) == 40 + kTextBytes);
    static_assert(sizeof(keydrome_jail_reply) == 40 + 72);
    const std::string path = ::testing::TempDir() + "keydrome_fake_jail" + std::to_string(getpid());
    std::string text = kFakeJail;
    text.replace(text.find("SETTINGS"), std::string("SETTINGS").size(), settings);
    text.replace(text.find("VERSION"), std::string("VERSION").size(),
                 std::to_string(kProtocolVersion));
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    script::Script script;
    script.indexes = {{"numbers", INT}};
    script.class_names = {"insert"};
    script.pools.payloads = {""};
    script::PhaseScript& phase = script.phases.emplace_back();
    phase.name = "create";
    phase.threads = {{format::Op{.code = format::OpCode::kCreate, .flags = format::kUnitStart}}};
    phase.trace_capacity_bytes = {0};
    options_.plan.jail.path = path;
    options_.plan.limits.phase_timeout_ms = 10'000;
    SessionResult result = play(script, options_, {});
    std::stringstream commands;
    commands << std::ifstream(path + ".log").rdbuf();
    commands_ = commands.str();
    unlink(path.c_str());
    unlink((path + ".log").c_str());
    return result;
  }

  JailOptions options_;
  std::string commands_;
};

TEST_F(FreezeTest, AfterAFailedFreezeTheJailIsThawed) {
  const SessionResult result = play_with("{ord('F'): 110}, b'', b''");
  EXPECT_EQ(result.stop, StopReason::kClosed) << result.detail << result.standard_errors;
  EXPECT_EQ(result.stage, Stage::kPlaying);
  EXPECT_FALSE(result.frozen_between);
  EXPECT_EQ(result.unfrozen_after, "loading");
  EXPECT_EQ(commands_.substr(0, 3), "UFT");
}

TEST_F(FreezeTest, AReplyToAnotherCommandIsAFailure) {
  const SessionResult result = play_with("{}, b'F', b''");
  EXPECT_EQ(result.stop, StopReason::kClosed) << result.detail << result.standard_errors;
  EXPECT_FALSE(result.frozen_between);
}

TEST_F(FreezeTest, ALateReplyIsNotTakenForTheNext) {
  options_.command_timeout_ms = 100;
  const SessionResult result = play_with("{}, b'', b'F'");
  EXPECT_FALSE(result.frozen_between);
  EXPECT_EQ(commands_.substr(0, 4), "UFTU");
  EXPECT_EQ(result.memory_before_loading_bytes, uint64_t{'U'});
  EXPECT_EQ(result.loading.memory_bytes, uint64_t{0});
}

TEST_F(FreezeTest, AJailThatDoesNotThawIsOurFailure) {
  const SessionResult result = play_with("{ord('T'): 110}, b'', b''");
  EXPECT_TRUE(result.frozen_between) << result.detail << result.standard_errors;
  EXPECT_EQ(result.stop, StopReason::kNotStarted);
  EXPECT_EQ(decide(result, judge::Findings(), "none").name, "infrastructure");
}

}  // namespace
}  // namespace keydrome
