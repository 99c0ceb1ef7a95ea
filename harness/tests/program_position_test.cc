// Tests program_position(), which says where a thread is in its program (list of operations), for
// each kind of operation.
#include "harness/referee/hang/program_position.h"

#include <gtest/gtest.h>

#include <vector>

#include "benchmarks/kit/format/outcome.h"

namespace keydrome {
namespace {

format::Op op_of(format::OpCode code, uint32_t key = 0, uint32_t argument = 0, uint8_t flags = 0) {
  return {.code = code, .flags = flags, .slot = 0, .key = key, .argument = argument};
}

script::Script two_indexes() {
  script::Script script;
  script.indexes = {{"numbers", SHORT}, {"words", VARCHAR}};
  script.pools.int32_keys = {-5, 7};
  script.pools.varchar_keys = {"a\"b\x01", std::string(100, 'x')};
  return script;
}

// Returns these operations: 0 opens the index, 1 begins a transaction, 2 gets key 7, 3 inserts key
// -5. Operation 4 inserts key 7 with auto-commit, i.e. outside the transaction. Operation 5
// commits, and operation 6 waits for another thread.
std::vector<format::Op> program() {
  return {op_of(format::OpCode::kOpen),
          op_of(format::OpCode::kBegin, 0, 4),
          op_of(format::OpCode::kGet, 1),
          op_of(format::OpCode::kInsert, 0),
          op_of(format::OpCode::kInsert, 1, 0, format::kAutoCommit),
          op_of(format::OpCode::kCommit),
          op_of(format::OpCode::kWait)};
}

TEST(ProgramPosition, NamesTheCallAndWhatItsTransactionHasTouched) {
  const ProgramPosition position = program_position(two_indexes(), program(), 3);
  EXPECT_EQ(position.call, "insertRecord(\"numbers\", -5)");
  EXPECT_TRUE(position.in_call);
  EXPECT_EQ(position.begin, 1u);
  ASSERT_EQ(position.touched.size(), 1u);
  EXPECT_EQ(touch_text(two_indexes(), position.touched[0]), "key 7 of \"numbers\"");
  EXPECT_FALSE(position.touched[0].writes);
  ASSERT_TRUE(position.wants);
  EXPECT_TRUE(position.wants->writes);
  EXPECT_EQ(position.wants->key, "-5");
}

TEST(ProgramPosition, AnAutoCommitCallIsNotOfTheTransaction) {
  const ProgramPosition position = program_position(two_indexes(), program(), 5);
  EXPECT_EQ(position.call, "commitTransaction()");
  EXPECT_FALSE(position.wants);
  EXPECT_EQ(position.touched.size(), 2u);  // without the key of the auto-commit call
}

TEST(ProgramPosition, BeforeAndAfterATransactionNothingIsTouched) {
  EXPECT_FALSE(program_position(two_indexes(), program(), 1).begin);
  const ProgramPosition after = program_position(two_indexes(), program(), 6);
  EXPECT_FALSE(after.begin);
  EXPECT_TRUE(after.touched.empty());
  EXPECT_FALSE(after.in_call);
}

TEST(ProgramPosition, ARollbackStillTouchesEverything) {
  const ProgramPosition position =
      program_position(two_indexes(), program(), 3 | format::kRollingBack);
  EXPECT_TRUE(position.rolling_back);
  EXPECT_FALSE(position.wants);
  EXPECT_EQ(position.touched.size(), 2u);
}

TEST(ProgramPosition, AThreadThatWaitsForItsPieceMakesNoCall) {
  const ProgramPosition position =
      program_position(two_indexes(), program(), 3 | format::kAwaitsPiece);
  EXPECT_TRUE(position.awaits_piece);
  EXPECT_EQ(position.op, 3u);
  EXPECT_FALSE(position.in_call);
  EXPECT_FALSE(position.wants);
}

TEST(ProgramPosition, AcceptsAnyNumber) {
  EXPECT_TRUE(program_position(two_indexes(), program(), 7).finished);
  EXPECT_TRUE(program_position(two_indexes(), program(), UINT64_MAX).finished);
}

TEST(ProgramPosition, StringKeysAreQuotedAndCut) {
  const std::vector<format::Op> ops{op_of(format::OpCode::kOpen, 0, 1),
                                    op_of(format::OpCode::kGet, 0, 0, format::kAutoCommit),
                                    op_of(format::OpCode::kGet, 1, 0, format::kAutoCommit)};
  EXPECT_EQ(program_position(two_indexes(), ops, 1).call, "get(\"words\", \"a\\x22b\\x01\")");
  const std::string x(20, 'x');
  EXPECT_EQ(program_position(two_indexes(), ops, 2).call,
            "get(\"words\", \"" + x + "..." + x + "\" (100 bytes))");
}

TEST(ProgramPosition, ReadersDoNotBlockReaders) {
  const Touch read{.op = 0, .index = 0, .key = "1", .writes = false};
  const Touch write{.op = 0, .index = 0, .key = "1", .writes = true};
  const Touch other{.op = 0, .index = 0, .key = "2", .writes = true};
  const Touch scan{.op = 0, .index = 0, .key = "", .writes = false};
  const Touch elsewhere{.op = 0, .index = 1, .key = "1", .writes = true};
  EXPECT_FALSE(may_block(read, read, false));
  EXPECT_TRUE(may_block(read, write, true));
  EXPECT_TRUE(may_block(write, read, true));
  EXPECT_FALSE(may_block(write, other, true));
  EXPECT_TRUE(may_block(write, other, false));
  EXPECT_FALSE(may_block(scan, write, true));
  EXPECT_TRUE(may_block(scan, write, false));
  EXPECT_FALSE(may_block(write, elsewhere, false));
}

}  // namespace
}  // namespace keydrome
