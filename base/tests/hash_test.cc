// Tests base/hash.h: every byte and the length change the hash, and similar strings do not collide.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace keydrome {
namespace {

// Hashes a copy of the text at the end of its memory block, so that the sanitizers detect a read
// after the text.
uint64_t hash_of_copy(const std::string& text, std::size_t offset) {
  std::vector<char> copy(offset + text.size());
  std::copy(text.begin(), text.end(), copy.begin() + static_cast<std::ptrdiff_t>(offset));
  return hash_bytes({copy.data() + offset, text.size()});
}

TEST(Hash, DependsOnTheBytesAndNotOnTheirAddress) {
  for (std::size_t size = 0; size <= 130; ++size) {
    const std::string text(size, 'x');
    for (std::size_t offset = 0; offset < 9; ++offset) {
      EXPECT_EQ(hash_of_copy(text, offset), hash_bytes(text)) << size;
    }
  }
}

TEST(Hash, EveryByteAndTheLengthCount) {
  std::set<uint64_t> seen;
  std::size_t strings = 0;
  for (std::size_t size = 0; size <= 130; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      std::string text(size, '\0');
      if (at < size) text[at] = 'x';
      seen.insert(hash_bytes(text));
      ++strings;
    }
  }
  EXPECT_EQ(seen.size(), strings);
}

// Hashes strings that differ only at the beginning, like payloads, or only at the end, like keys.
TEST(Hash, SimilarStringsDoNotCollide) {
  std::set<uint64_t> seen;
  constexpr uint32_t kStrings = 50'000;
  for (uint32_t i = 0; i < kStrings; ++i) {
    const std::string number = std::to_string(100'000 + i);
    seen.insert(hash_bytes(number));
    seen.insert(hash_bytes(number + std::string(40, 't')));
    seen.insert(hash_bytes(std::string(40, 't') + number));
  }
  EXPECT_EQ(seen.size(), 3 * kStrings);
}

}  // namespace
}  // namespace keydrome
