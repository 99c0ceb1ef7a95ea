// Tests what the seals of an outcome forbid (harness/referee/memory/memfd.h). An outcome is shared
// memory into which a jailed process writes its results. ring_test.cc tests the seals of the ring,
// the memory for the operations.
#include "harness/referee/memory/memfd.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

namespace keydrome {
namespace {

TEST(Memfd, OutcomesKeepTheirSize) {
  const Result<SharedRegion> region = SharedRegion::create(8192);
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(ftruncate(region->fd(), 4096), -1);
  EXPECT_EQ(ftruncate(region->fd(), 16384), -1);
  ASSERT_EQ(pwrite(region->fd(), "seen", 4, 100), 4);
  EXPECT_EQ(std::memcmp(region->bytes().data() + 100, "seen", 4), 0);
}

}  // namespace
}  // namespace keydrome
