// Tests the command lines of the measuring programs (harness/bench/arguments.h).
#include "harness/bench/arguments.h"

#include <gtest/gtest.h>

namespace keydrome {
namespace {

TEST(BenchArguments, WordsAndAJsonFile) {
  const Result<BenchArguments> parsed = parse_bench_arguments({"null.so", "--json", "x"}, 1);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->json_path, "x");
  EXPECT_EQ(parsed->words, std::vector<std::string>{"null.so"});
}

TEST(BenchArguments, AnErrorNamesTheArgument) {
  EXPECT_EQ(parse_bench_arguments({"--jsn", "x"}, 0).error().message,
            "unknown option \"--jsn\": the only option is --json FILE");
  EXPECT_EQ(parse_bench_arguments({"--json"}, 0).error().message,
            "--json: the name of the file is missing; write it after --json");
  EXPECT_EQ(
      parse_bench_arguments({"a", "b"}, 1).error().message,
      "unexpected argument \"b\": besides --json FILE, at most 1 argument is allowed: remove one");
}

}  // namespace
}  // namespace keydrome
