// Tests the command line of the referee, the program that runs a benchmark, with correct and with
// wrong arguments.
#include "harness/referee/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace keydrome {
namespace {

using Arguments = std::vector<std::string_view>;

std::string error_of(const Arguments& arguments) {
  const Result<CommandLine> line = parse_command_line(arguments);
  return line ? "" : line.error().message;
}

TEST(CommandLineArguments, OfARun) {
  const Result<CommandLine> line =
      parse_command_line(Arguments{"run", "--report", "r.json", "plan.json", "--progress",
                                   "--histories", "h", "--all-histories"});
  ASSERT_TRUE(line.ok()) << line.error().message;
  EXPECT_EQ(line->command, CommandLine::Command::kRun);
  EXPECT_EQ(line->run.plan_path, "plan.json");
  EXPECT_EQ(line->run.report_path, "r.json");
  EXPECT_EQ(line->run.histories.folder, "h");
  EXPECT_TRUE(line->run.progress);
  EXPECT_TRUE(line->run.histories.all);
}

TEST(CommandLineArguments, OfTheOtherCommands) {
  EXPECT_EQ(parse_command_line(Arguments{"list"})->command, CommandLine::Command::kList);
  EXPECT_EQ(parse_command_line(Arguments{"--version"})->command, CommandLine::Command::kVersion);
  const Result<CommandLine> line = parse_command_line(Arguments{"fingerprint", "tatp"});
  EXPECT_EQ(line->command, CommandLine::Command::kFingerprint);
  EXPECT_EQ(line->benchmark, "tatp");
  const Result<CommandLine> memory = parse_command_line(Arguments{"memory", "plan.json"});
  EXPECT_EQ(memory->command, CommandLine::Command::kMemory);
  EXPECT_EQ(memory->plan_path, "plan.json");
}

TEST(CommandLineArguments, KeysAndTraceReadAFile) {
  const Result<CommandLine> keys = parse_command_line(Arguments{"keys", "urls.txt"});
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->command, CommandLine::Command::kKeys);
  EXPECT_EQ(keys->file_path, "urls.txt");
  const Result<CommandLine> trace = parse_command_line(Arguments{"trace", "calls.txt"});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->command, CommandLine::Command::kTrace);
  EXPECT_EQ(trace->file_path, "calls.txt");
}

TEST(CommandLineArguments, AnErrorNamesTheArgument) {
  const std::pair<Arguments, const char*> cases[] = {
      {{}, "a command is missing"},
      {{"rum"}, "unknown command \"rum\""},
      {{"run", "p.json", "--rapport", "r"}, "run: unknown option \"--rapport\""},
      {{"run", "p.json", "--report"},
       "--report: the name of the file is missing after this option"},
      {{"run", "p.json", "--histories"},
       "--histories: the name of the folder is missing after this option"},
      {{"run", "--report", "r.json"}, "run: the argument PLAN.json is missing"},
      {{"run", "p.json"}, "run: the option --report FILE is missing"},
      {{"run", "p.json", "q.json"},
       "run: unexpected argument \"q.json\" after the plan \"p.json\""},
      {{"list", "all"}, "list: unexpected argument \"all\""},
      {{"keys"}, "keys: the argument FILE is missing"},
      {{"keys", "a", "b"}, "keys: unexpected argument \"b\""},
      {{"trace"}, "trace: the argument FILE is missing"},
      {{"trace", "a", "b"}, "trace: unexpected argument \"b\""},
      {{"memory"}, "memory: the argument PLAN.json is missing"},
      {{"fingerprint"}, "fingerprint: the argument BENCHMARK is missing"},
      {{"fingerprint", "a", "b"}, "fingerprint: unexpected argument \"b\""},
      {{"--version", "2"}, "--version: unexpected argument \"2\""},
  };
  for (const auto& [arguments, error] : cases) EXPECT_EQ(error_of(arguments), error);
}

}  // namespace
}  // namespace keydrome
