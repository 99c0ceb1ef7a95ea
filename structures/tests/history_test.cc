// Tests is_linearizable() (history.h) with histories that are linearizable and histories that are
// not.
#include "structures/tests/history.h"

#include <gtest/gtest.h>

namespace keydrome {
namespace {

using enum Call::Kind;
constexpr int kNone = Call::kNone;

TEST(RecordedHistory, CallsThatOverlapMayTakeEffectInAnyOrder) {
  EXPECT_TRUE(is_linearizable({{{kPut, 0, 0, 1, 1, 6}}, {{kFind, kNone, 0, 0, 2, 3}}}));
  EXPECT_TRUE(is_linearizable({{{kPut, 0, 0, 1, 1, 6}}, {{kFind, kNone, 0, kNone, 2, 3}}}));
  EXPECT_TRUE(is_linearizable({{{kPut, 0, 0, 0, 1, 6}}, {{kPut, 0, 0, 1, 2, 5}}}));
}

TEST(RecordedHistory, AReadMustNotMissAnEarlierChange) {
  EXPECT_FALSE(is_linearizable({{{kPut, 0, 0, 1, 1, 2}}, {{kFind, kNone, 0, kNone, 3, 4}}}));
  EXPECT_FALSE(is_linearizable(
      {{{kPut, 0, 0, 1, 1, 2}, {kDel, 0, 0, 1, 3, 4}}, {{kFind, kNone, 0, 0, 5, 6}}}));
}

TEST(RecordedHistory, ReadsMustNotGoBack) {
  EXPECT_FALSE(is_linearizable(
      {{{kPut, 0, 0, 1, 1, 9}}, {{kFind, kNone, 0, 0, 2, 3}, {kFind, kNone, 0, kNone, 4, 5}}}));
}

TEST(RecordedHistory, OneOfTwoEqualChangesMustFail) {
  EXPECT_FALSE(is_linearizable({{{kPut, 0, 0, 1, 1, 4}}, {{kPut, 0, 0, 1, 2, 3}}}));
  EXPECT_FALSE(
      is_linearizable({{{kPut, 1, 0, 1, 1, 2}, {kDel, 1, 0, 1, 3, 6}}, {{kDel, 1, 0, 1, 4, 5}}}));
}

TEST(RecordedHistory, Replacements) {
  EXPECT_TRUE(is_linearizable({{{kPut, 0, 0, 1, 1, 2},
                                {kReplace, 0, 2, 1, 3, 4},
                                {kFind, 0, 0, 2, 5, 6},
                                {kFind, 2, 0, kNone, 7, 8}}}));
  EXPECT_FALSE(is_linearizable(
      {{{kPut, 0, 0, 1, 1, 2}, {kReplace, 0, 2, 1, 3, 4}, {kFind, kNone, 0, 0, 5, 6}}}));
  EXPECT_FALSE(is_linearizable({{{kReplace, 0, 2, 1, 1, 2}}}));
  EXPECT_FALSE(is_linearizable({{{kPut, 0, 0, 1, 1, 2}, {kReplace, 0, 2, 2, 3, 4}}}));
}

TEST(RecordedHistory, AFailedCallChangesNothing) {
  EXPECT_TRUE(is_linearizable({{{kPut, 0, 0, -1, 1, 2}, {kFind, kNone, 0, kNone, 3, 4}}}));
  EXPECT_FALSE(is_linearizable({{{kPut, 0, 0, -1, 1, 2}, {kFind, kNone, 0, 0, 3, 4}}}));
}

}  // namespace
}  // namespace keydrome
