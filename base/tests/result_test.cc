// Tests base/result.h: a Result contains a value or an error. It aborts the process if its value is
// read although it contains an error.
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace keydrome {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error{"odd"};
  return number / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(half(8).value(), 4);
  EXPECT_FALSE(half(7).ok());
  EXPECT_EQ(half(7).error().message, "odd");
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 3);
}

TEST(Result, OfVoidIsOkByDefault) {
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_EQ(Result<void>(Error{"no"}).error().message, "no");
}

TEST(ResultDeathTest, TheValueOfAnErrorEndsTheProcessWithItsText) {
  EXPECT_DEATH((void)half(7).value(), "odd");
}

}  // namespace
}  // namespace keydrome
