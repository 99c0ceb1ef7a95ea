// Tests what the seals of inputs and outcomes forbid (harness/referee/session/memfd.h).
#include "harness/referee/session/memfd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "harness/player/mapping.h"

namespace keydrome {
namespace {

TEST(Memfd, SealedInputsCannotChange) {
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

// The player maps inputs with class Mapping, in the process that also runs the library. If the
// library could make a mapping writable, it could rewrite the operations that come next.
TEST(Memfd, TheMappingOfAnInputCannotBeMadeWritable) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  const Result<UniqueFd> fd = sealed_input(bytes);
  ASSERT_TRUE(fd.ok());
  const Mapping mapping(fd->get(), Mapping::Access::kRead);
  ASSERT_EQ(mapping.bytes().size(), bytes.size());
  void* const memory = mapping.bytes().data();
  EXPECT_EQ(mprotect(memory, 1, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(madvise(memory, 4096, MADV_REMOVE), -1);
  EXPECT_EQ(fallocate(fd->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(fcntl(fd->get(), F_ADD_SEALS, F_SEAL_WRITE), -1);
  EXPECT_EQ(std::memcmp(memory, bytes.data(), bytes.size()), 0);
}

}  // namespace
}  // namespace keydrome
