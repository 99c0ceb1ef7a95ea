#include "harness/referee/memfd.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace keydrome {
namespace {

TEST(Memfd, InputsCannotBeChangedAnyMore) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  const Result<UniqueFd> fd = sealed_input(bytes);
  ASSERT_TRUE(fd.ok());
  EXPECT_EQ(pwrite(fd->get(), "x", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(fd->get(), 0), -1);
  EXPECT_EQ(mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0), MAP_FAILED);
  std::array<std::byte, 3> read_back{};
  ASSERT_EQ(pread(fd->get(), read_back.data(), 3, 0), 3);
  EXPECT_EQ(read_back, bytes);
}

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
