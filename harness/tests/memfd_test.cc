// Tests what the seals of an outcome forbid (harness/referee/memory/memfd.h). An outcome is shared
// memory into which a jailed process writes its results. ring_test.cc tests the seals of the ring,
// the memory for the operations.
#include "harness/referee/memory/memfd.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
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

uint64_t bytes_held(const SharedRegion& region) {
  struct stat status{};
  return fstat(region.fd(), &status) == 0 ? static_cast<uint64_t>(status.st_blocks) * 512 : 0;
}

TEST(Memfd, TheRestHasMemoryOnlyOnceItIsTouched) {
  Result<SharedRegion> region =
      SharedRegion::create(100'000, SharedRegion::Others::kMayWrite, 8'193);
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(region->before_rest().size(), 12'288u);
  EXPECT_EQ(bytes_held(*region), 12'288u);
  ASSERT_EQ(pwrite(region->fd(), "kept", 4, 100), 4);
  ASSERT_EQ(pwrite(region->fd(), "lost", 4, 50'000), 4);
  EXPECT_EQ(bytes_held(*region), 16'384u);
  ASSERT_TRUE(region->empty_rest().ok());
  EXPECT_EQ(bytes_held(*region), 12'288u);
  ASSERT_TRUE(region->touch_rest().ok());
  EXPECT_EQ(bytes_held(*region), 102'400u);
  EXPECT_EQ(std::memcmp(region->bytes().data() + 100, "kept", 4), 0);
  EXPECT_EQ(region->bytes()[50'000], std::byte{0});
}

TEST(Memfd, ARegionWithoutARestHasAllItsMemory) {
  Result<SharedRegion> region = SharedRegion::create(5'000);
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(region->before_rest().size(), 8'192u);
  EXPECT_EQ(bytes_held(*region), 8'192u);
  ASSERT_EQ(pwrite(region->fd(), "kept", 4, 4'500), 4);
  ASSERT_TRUE(region->empty_rest().ok());
  ASSERT_TRUE(region->touch_rest().ok());
  EXPECT_EQ(std::memcmp(region->bytes().data() + 4'500, "kept", 4), 0);
}

}  // namespace
}  // namespace keydrome
