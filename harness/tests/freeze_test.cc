// What the referee makes of a jail that freezes, thaws or answers badly; the jail and its player
// are a script.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "harness/protocol.h"
#include "harness/referee/run.h"
#include "harness/referee/verdict.h"
#include "jail/command.h"

namespace keydrome {
namespace {

// Says HELLO and LOADED, writes down the commands, and ends at GO or a kill. `errors` has the errno
// that a command is answered with, `wrong` the commands that are answered as if they were another,
// `late` those whose answer comes with the next one's. The memory of an answer is its command's
// letter.
constexpr const char* kFakeJail = R"py(#!/usr/bin/python3
import os, select, socket, struct, sys
control, command = (socket.socket(fileno=fd) for fd in (3, 4))
errors, wrong, late = SETTINGS
held = b""
log = open(os.path.abspath(__file__) + ".log", "w", buffering=1)
def say(kind):
    control.send(struct.pack("<IIQIIIIII8192x", 3, kind, 0, 0, 0, 0, 0, 0, 0))
say(1)
while True:
    for ready in select.select([control, command], [], [], 20)[0] or sys.exit(1):
        if ready is control:
            message = control.recv(65536)
            if len(message) < 8 or struct.unpack_from("<I", message, 4)[0] != 2:
                sys.exit(0)
            say(3)
        else:
            letter = command.recv(1)
            if letter in (b"", b"K"):
                sys.exit(0)
            log.write(letter.decode())
            answers, held = held + letter, b""
            if letter in late:
                held, answers = answers, b""
            for answer in answers:
                said = 0 if answer in wrong else answer
                command.send(struct.pack("<IIQQQ72x", said, errors.get(answer, 0), 0, answer, 0))
)py";

class FreezeTest : public ::testing::Test {
 protected:
  // Plays one phase against the script with these settings: a Python tuple.
  RunFacts play_with(const std::string& settings) {
    static_assert(sizeof(Message) == 40 + kTextBytes);
    static_assert(sizeof(keydrome_jail_reply) == 32 + 72);
    const std::string path = ::testing::TempDir() + "keydrome_fake_jail" + std::to_string(getpid());
    std::string text = kFakeJail;
    text.replace(text.find("SETTINGS"), std::string("SETTINGS").size(), settings);
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    Script script;
    script.indexes = {{"numbers", INT}};
    script.class_names = {"insert"};
    script.pools.payloads = {""};
    PhaseScript& phase = script.phases.emplace_back();
    phase.name = "create";
    phase.threads = {{Op{.code = OpCode::kCreate, .flags = kUnitStart}}};
    phase.trace_capacity_bytes = {0};
    options_.plan.jail.path = path;
    options_.plan.limits.phase_timeout_ms = 10'000;
    RunFacts facts = play(script, options_, {});
    std::stringstream commands;
    commands << std::ifstream(path + ".log").rdbuf();
    commands_ = commands.str();
    unlink(path.c_str());
    unlink((path + ".log").c_str());
    return facts;
  }

  JailOptions options_;
  std::string commands_;
};

TEST_F(FreezeTest, AFreezeThatFailedIsTakenBack) {
  const RunFacts facts = play_with("{ord('F'): 110}, b'', b''");
  EXPECT_EQ(facts.stop, Stop::kClosed) << facts.detail << facts.standard_errors;
  EXPECT_EQ(facts.stage, Stage::kPlaying);
  EXPECT_FALSE(facts.frozen_between);
  EXPECT_EQ(facts.unfrozen_after, "loading");
  EXPECT_EQ(commands_.substr(0, 2), "FT");
}

TEST_F(FreezeTest, AnAnswerToAnotherCommandIsNone) {
  const RunFacts facts = play_with("{}, b'F', b''");
  EXPECT_EQ(facts.stop, Stop::kClosed) << facts.detail << facts.standard_errors;
  EXPECT_FALSE(facts.frozen_between);
}

TEST_F(FreezeTest, ALateAnswerIsNotTakenForTheNextOne) {
  options_.command_timeout_ms = 100;
  const RunFacts facts = play_with("{}, b'', b'F'");
  EXPECT_FALSE(facts.frozen_between);
  EXPECT_EQ(commands_.substr(0, 3), "FTU");
  EXPECT_EQ(facts.memory_loaded_bytes, uint64_t{'U'});
}

// The library is not to blame for a jail that does not let it run.
TEST_F(FreezeTest, AJailThatDoesNotThawIsOurFault) {
  const RunFacts facts = play_with("{ord('T'): 110}, b'', b''");
  EXPECT_TRUE(facts.frozen_between) << facts.detail << facts.standard_errors;
  EXPECT_EQ(facts.stop, Stop::kNotStarted);
  EXPECT_EQ(decide(facts, Findings(), "none").name, "infrastructure");
}

}  // namespace
}  // namespace keydrome
