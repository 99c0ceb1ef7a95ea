// What the referee tells a jail that cannot freeze in time; the jail and its player are a script.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "harness/protocol.h"
#include "harness/referee/run.h"

namespace keydrome {
namespace {

// Says HELLO and LOADED, answers the first freeze with ETIMEDOUT and everything else well, writes
// down the commands, and ends at GO.
constexpr const char* kFakeJail = R"py(#!/usr/bin/python3
import os, select, socket, struct, sys
control, command = (socket.socket(fileno=fd) for fd in (3, 4))
log = open(os.path.abspath(__file__) + ".log", "w", buffering=1)
def say(kind):
    control.send(struct.pack("<IIQIIII8192x", 1, kind, 0, 0, 0, 0, 0))
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
            if not letter:
                sys.exit(0)
            log.write(letter.decode())
            error = 110 if letter == b"F" else 0
            command.send(struct.pack("<IIQQQ", letter[0], error, 0, 0, 0))
)py";

TEST(FreezeTest, AFreezeThatFailedIsTakenBack) {
  static_assert(sizeof(Message) == 32 + kTextBytes);
  const std::string path = ::testing::TempDir() + "keydrome_fake_jail" + std::to_string(getpid());
  std::ofstream(path) << kFakeJail;
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"insert"};
  script.pools.payloads = {""};
  PhaseScript& phase = script.phases.emplace_back();
  phase.name = "create";
  phase.threads = {{Op{.code = OpCode::kCreate, .flags = kUnitStart}}};
  phase.trace_capacity_bytes = {0};
  JailOptions options;
  options.plan.jail.path = path;
  options.plan.limits.phase_timeout_ms = 10'000;

  const RunFacts facts = play(script, options, {});

  EXPECT_EQ(facts.stop, Stop::kClosed) << facts.detail << facts.standard_errors;
  EXPECT_EQ(facts.stage, Stage::kPlaying);
  EXPECT_FALSE(facts.frozen_between);
  std::stringstream commands;
  commands << std::ifstream(path + ".log").rdbuf();
  EXPECT_EQ(commands.str().substr(0, 2), "FT");
  unlink(path.c_str());
  unlink((path + ".log").c_str());
}

}  // namespace
}  // namespace keydrome
