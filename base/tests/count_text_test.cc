// Tests base/count_text.h: only the number 1 has a noun in the singular.
#include "base/count_text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace keydrome {
namespace {

TEST(CountText, OnlyOneIsSingular) {
  EXPECT_EQ(count_text(0, "record"), "0 records");
  EXPECT_EQ(count_text(1, "record"), "1 record");
  EXPECT_EQ(count_text(uint64_t{2}, "record"), "2 records");
  EXPECT_EQ(count_text(int64_t{-1}, "record"), "-1 records");
}

}  // namespace
}  // namespace keydrome
