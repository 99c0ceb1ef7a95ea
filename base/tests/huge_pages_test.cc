// Tests base/huge_pages.cc, which replaces operator new of this test program.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace keydrome {
namespace {

#ifndef KEYDROME_SANITIZED

constexpr std::size_t kHugePage = std::size_t{2} << 20;

uintptr_t address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

TEST(HugePages, LargeAllocationsStartOnAHugePage) {
  for (const std::size_t size : {2 * kHugePage, 2 * kHugePage + 1, 40 * kHugePage - 1}) {
    const auto memory = std::make_unique<char[]>(size);
    EXPECT_EQ(address_of(memory.get()) % kHugePage, 0u) << size;
    EXPECT_EQ(memory[size - 1], 0);
  }
}

TEST(HugePages, ImpossibleSizesThrow) {
  const volatile std::size_t sizes[] = {SIZE_MAX, SIZE_MAX - kHugePage, SIZE_MAX / 2};
  for (const std::size_t size : sizes) {
    EXPECT_THROW(::operator delete(::operator new(size)), std::bad_alloc) << size;
  }
}

#endif

}  // namespace
}  // namespace keydrome
