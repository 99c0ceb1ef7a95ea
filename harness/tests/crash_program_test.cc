// Tests which calls a crash program contains (judging/crash_program.h). A crash program is a C
// program that makes the calls of a session (one repetition of a benchmark) up to the crash of the
// library.
// tests/test_crash_programs.py compiles crash programs of real sessions and runs them.
#include "harness/referee/judging/crash_program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/tests/small_script.h"

namespace keydrome {
namespace {

using format::OpCode;
using testing::counting_script;
using testing::op;
using testing::phase;

constexpr const char* kEnd =
    "the library's process was ended by SIGSEGV in phase 2 of the benchmark";

// Returns the result of a session that crashed after `ended` phases, with the threads of the next
// phase at these operations.
SessionResult crashed(std::size_t ended, std::vector<uint64_t> positions) {
  SessionResult result;
  result.phases.resize(ended);
  result.positions = std::move(positions);
  return result;
}

bool has(const CrashProgram& program, const std::string& part) {
  return program.text.find(part) != std::string::npos;
}

TEST(CrashProgram, ContainsTheCallsUpToTheCrash) {
  const script::Script script = counting_script(2, 1, 3);
  const CrashProgram program = crash_program(script, crashed(1, {3, 1}), kEnd);
  EXPECT_EQ(program.why_none, "");
  EXPECT_TRUE(has(program, kEnd));
  EXPECT_TRUE(has(program, "static char name0[] = \"numbers\";\n"));
  EXPECT_TRUE(has(program, "phase0_thread0[] = {\n    {CREATE},\n};"));
  // Thread 0 was in its third insert, thread 1 in its first.
  EXPECT_TRUE(has(program,
                  "phase1_thread0[] = {\n    {OPEN}, {INSERT,0,0,0,0,AUTO}, {INSERT,2,2,0,0,AUTO}, "
                  "{INSERT,4,4,0,0,AUTO},\n};"))
      << program.text;
  EXPECT_TRUE(has(program, "phase1_thread1[] = {\n    {OPEN}, {INSERT,1,1,0,0,AUTO},\n};"));
  EXPECT_TRUE(has(program, "How calls of different\n * threads overlapped is not recorded"));
  EXPECT_FALSE(has(program, "phase2"));
}

TEST(CrashProgram, DoesNotWaitForThreadsThatHadNotGoneOn) {
  script::Script script;
  script.indexes = {{"numbers", INT}};
  script.pools.int64_keys = {INT64_MIN};
  script.phases.push_back(phase("play",
                                {{op(OpCode::kCreate), op(OpCode::kOpen), op(OpCode::kBegin, 0, 2),
                                  op(OpCode::kGet), op(OpCode::kCommit)},
                                 {op(OpCode::kWait)}},
                                0));
  const CrashProgram program = crash_program(script, crashed(0, {3, 0}), kEnd);
  EXPECT_TRUE(has(program, "{CREATE}, {OPEN}, {BEGIN,0,2}, {GET,-9223372036854775807LL - 1},\n"))
      << program.text;
  EXPECT_FALSE(has(program, "{WAIT"));
  EXPECT_TRUE(has(program, "    {NULL, 0},\n"));
}

TEST(CrashProgram, AcceptsEveryPosition) {
  const script::Script script = counting_script(1, 1, 1);
  EXPECT_TRUE(has(crash_program(script, crashed(1, {UINT64_MAX}), kEnd), "{CLOSE},\n};"));
  EXPECT_EQ(crash_program(script, crashed(1, {}), kEnd).text, "");
  EXPECT_EQ(crash_program(script, crashed(3, {0}), kEnd).text, "");
  EXPECT_EQ(crash_program({}, {}, kEnd).text, "");
}

TEST(CrashProgram, LeavesOutPhasesOfOtherIndexesIfItIsTooLong) {
  script::Script script = counting_script(1, 1, kCrashProgramBytesMax / 16);
  script.indexes.push_back({"others", INT});
  script.phases[2] =
      phase("small", {{op(OpCode::kCreate, 0, 1), op(OpCode::kOpen, 0, 1), op(OpCode::kGet)}}, 0);
  const CrashProgram program = crash_program(script, crashed(2, {2}), kEnd);
  EXPECT_TRUE(has(program, "leaves out 2 earlier phases that share no index with"))
      << program.why_none;
  EXPECT_TRUE(has(program, "{CREATE,0,1}, {OPEN,0,1}, {GET},\n")) << program.text;
  EXPECT_FALSE(has(program, "\"populate\""));
}

TEST(CrashProgram, SaysWhyThereIsNone) {
  const script::Script script = counting_script(1, 1, kCrashProgramBytesMax / 8);
  const CrashProgram long_one = crash_program(script, crashed(2, {0}), kEnd);
  EXPECT_EQ(long_one.text, "");
  EXPECT_EQ(
      long_one.why_none,
      "no C program repeats the crash, because a program with the 50004 operations up to the crash "
      "would be longer than 400000 bytes");
  script::Script procedures = counting_script(1, 1, 1);
  procedures.phases[1].threads[0][1] = op(OpCode::kRun);
  EXPECT_NE(crash_program(procedures, crashed(2, {0}), kEnd).why_none.find("depend on results"),
            std::string::npos);
}

}  // namespace
}  // namespace keydrome
