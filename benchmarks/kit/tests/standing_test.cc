#include "benchmarks/kit/standing.h"

#include <gtest/gtest.h>

#include <vector>

#include "benchmarks/kit/outcome.h"

namespace keydrome {
namespace {

Op op(OpCode code, uint32_t key = 0, uint32_t argument = 0, uint8_t flags = 0) {
  return {.code = code, .flags = flags, .slot = 0, .key = key, .argument = argument};
}

Script two_indexes() {
  Script script;
  script.indexes = {{"numbers", SHORT}, {"words", VARCHAR}};
  script.pools.int32_keys = {-5, 7};
  script.pools.varchar_keys = {"a\"b\x01", std::string(100, 'x')};
  return script;
}

// 0 open, 1 begin, 2 get 7, 3 insert -5, 4 auto-commit insert 7, 5 commit, 6 wait
std::vector<Op> program() {
  return {op(OpCode::kOpen),
          op(OpCode::kBegin, 0, 4),
          op(OpCode::kGet, 1),
          op(OpCode::kInsert, 0),
          op(OpCode::kInsert, 1, 0, kAutoCommit),
          op(OpCode::kCommit),
          op(OpCode::kWait)};
}

TEST(Standing, TellsTheCallAndWhatItsTransactionHasTouched) {
  const Standing standing = standing_of(two_indexes(), program(), 3);
  EXPECT_EQ(standing.call, "insertRecord(\"numbers\", -5)");
  EXPECT_TRUE(standing.in_call);
  EXPECT_EQ(standing.begin, 1u);
  ASSERT_EQ(standing.touched.size(), 1u);
  EXPECT_EQ(touch_text(two_indexes(), standing.touched[0]), "key 7 of \"numbers\"");
  EXPECT_FALSE(standing.touched[0].writes);
  ASSERT_TRUE(standing.wants);
  EXPECT_TRUE(standing.wants->writes);
  EXPECT_EQ(standing.wants->key, "-5");
}

TEST(Standing, AnAutoCommitCallHoldsNothing) {
  const Standing standing = standing_of(two_indexes(), program(), 5);
  EXPECT_EQ(standing.call, "commitTransaction()");
  EXPECT_FALSE(standing.wants);
  EXPECT_EQ(standing.touched.size(), 2u);  // not the auto-commit call's
}

TEST(Standing, ATransactionHoldsNothingBeforeAndBehind) {
  EXPECT_FALSE(standing_of(two_indexes(), program(), 1).begin);
  const Standing behind = standing_of(two_indexes(), program(), 6);
  EXPECT_FALSE(behind.begin);
  EXPECT_TRUE(behind.touched.empty());
  EXPECT_FALSE(behind.in_call);
}

TEST(Standing, WhatIsTakenBackIsStillHeld) {
  const Standing standing = standing_of(two_indexes(), program(), 3 | kTakingBack);
  EXPECT_TRUE(standing.taking_back);
  EXPECT_FALSE(standing.wants);
  EXPECT_EQ(standing.touched.size(), 2u);
}

TEST(Standing, AnyNumberIsTaken) {
  EXPECT_TRUE(standing_of(two_indexes(), program(), 7).finished);
  EXPECT_TRUE(standing_of(two_indexes(), program(), UINT64_MAX).finished);
}

TEST(Standing, StringKeysAreQuotedAndCut) {
  const std::vector<Op> ops{op(OpCode::kOpen, 0, 1), op(OpCode::kGet, 0, 0, kAutoCommit),
                            op(OpCode::kGet, 1, 0, kAutoCommit)};
  EXPECT_EQ(standing_of(two_indexes(), ops, 1).call, "get(\"words\", \"a\\x22b\\x01\")");
  const std::string x(20, 'x');
  EXPECT_EQ(standing_of(two_indexes(), ops, 2).call, "get(\"words\", \"" + x + "..." + x + "\")");
}

TEST(Standing, ReadersAreInNobodysWay) {
  const Touch read{.op = 0, .index = 0, .key = "1", .writes = false};
  const Touch write{.op = 0, .index = 0, .key = "1", .writes = true};
  const Touch other{.op = 0, .index = 0, .key = "2", .writes = true};
  const Touch scan{.op = 0, .index = 0, .key = "", .writes = false};
  const Touch elsewhere{.op = 0, .index = 1, .key = "1", .writes = true};
  EXPECT_FALSE(in_the_way(read, read, false));
  EXPECT_TRUE(in_the_way(read, write, true));
  EXPECT_TRUE(in_the_way(write, read, true));
  EXPECT_FALSE(in_the_way(write, other, true));
  EXPECT_TRUE(in_the_way(write, other, false));
  EXPECT_FALSE(in_the_way(scan, write, true));
  EXPECT_TRUE(in_the_way(scan, write, false));
  EXPECT_FALSE(in_the_way(write, elsewhere, false));
}

}  // namespace
}  // namespace keydrome
