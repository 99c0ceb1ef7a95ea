// Tests that both formats of key files are read, and every kind of wrong file is refused.
#include "benchmarks/kit/workload/key_file/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/tests/key_files.h"

namespace keydrome::testing {
namespace {

using workload::KeyFile;
using workload::read_key_file;

TEST_F(KeyFiles, BinaryKeysAreSorted) {
  const Result<KeyFile> keys = read(binary({5, 0, INT64_MAX, 7}));
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_EQ(keys->type, INT);
  EXPECT_EQ(keys->integers, (std::vector<int64_t>{0, 5, 7, INT64_MAX}));
  EXPECT_FALSE(keys->shifted);
}

TEST_F(KeyFiles, LargeKeysKeepTheirOrderAndDistances) {
  const uint64_t half = uint64_t{1} << 63, first = uint64_t{1} << 20;
  const Result<KeyFile> keys = read(binary({UINT64_MAX, first, half, half - 1}));
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_EQ(keys->integers,
            (std::vector<int64_t>{INT64_MIN + static_cast<int64_t>(first), -1, 0, INT64_MAX}));
  EXPECT_TRUE(keys->shifted);
}

TEST_F(KeyFiles, LinesAreBytesInAnyEncoding) {
  const std::string longest(MAX_VARCHAR_LEN, 'x');
  const Result<KeyFile> keys = read("b\xff\r\n \t\na\r\r\n\xc3\xa4\n" + longest + "\n\x02");
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_EQ(keys->type, VARCHAR);
  EXPECT_EQ(keys->strings,
            (std::vector<std::string_view>{"\x02", " \t", "a\r", "b\xff", longest, "\xc3\xa4"}));
  EXPECT_EQ(read("1\n").value().strings.size(), 1u);
}

TEST_F(KeyFiles, AWrongBinaryFileIsRefusedWithItsByte) {
  const std::string whole = binary({1, 2, 3});
  const std::pair<std::string, const char*> cases[] = {
      {"", ": is empty"},
      {std::string(3, '\0'),
       ", byte 3: the file ends here, but a binary key file begins with 8 bytes"},
      {word(0), ", byte 0: the first 8 bytes give the count 0"},
      {whole.substr(0, whole.size() - 1),
       ", byte 31: the file ends here, but its first 8 bytes give the count"},
      {whole.substr(0, 8), ", byte 8: the file ends here, but its first 8 bytes give the count"},
      {word(UINT64_MAX >> 8), ", byte 8: the file ends here, but its first 8 bytes give the count"},
      {whole + "x",
       ", byte 32: the file continues here, but its first 8 bytes say that it ends after 3 keys"},
      {word(2) + whole.substr(8),
       ", byte 24: the file continues here, but its first 8 bytes say that it ends after 2 keys"},
      {word(6) + whole.substr(8), ", byte 8: the keys have 32 bits each"},
      {binary({9, 1, 9}), ", byte 24: the key 9 is also at byte 8: leave one of them out"},
      {binary({1, 1}), ", byte 16: the key 1 is also at byte 8"},
      {binary({UINT64_MAX, 3}), ", byte 16: the key is 3, but in a file with keys of 2^63 or more"},
  };
  for (const auto& [content, words] : cases) {
    EXPECT_TRUE(fault(content).starts_with(words)) << fault(content) << " is not " << words;
  }
}

TEST_F(KeyFiles, AWrongLineIsRefusedWithItsColumn) {
  const std::pair<std::string, const char*> cases[] = {
      {"a\n\nb\n", ", line 2, column 1: the line is empty"},
      {"\n", ", line 1, column 1: the line is empty"},
      {"a\nb\n\r\n", ", line 3, column 1: the line is empty"},
      {"abcdefghi\nxy" + std::string(1, '\0') + "z\n",
       ", line 2, column 3: the key contains a zero byte"},
      {"a\n" + std::string(MAX_VARCHAR_LEN + 1, 'b'),
       ", line 2, column 129: the key has 129 bytes, but keys have at most 128"},
      {"b\na\nb", ", line 3, column 1: the key is also in line 1"},
      {"a\n\x01x\n", ", line 2, column 1: the key begins with byte 1"},
  };
  for (const auto& [content, words] : cases) {
    EXPECT_TRUE(fault(content).starts_with(words)) << fault(content) << " is not " << words;
  }
}

TEST_F(KeyFiles, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const std::pair<std::string, const char*> cases[] = {
      {path_, ": is a device or a pipe"},
      {"/dev/zero", ": is a device or a pipe"},
      {folder_, ": is a directory"},
      {folder_ + "/none", ": cannot be read (No such file or directory)"},
  };
  for (const auto& [path, words] : cases) {
    EXPECT_TRUE(read_key_file(path).error().message.starts_with(path + words)) << path;
    EXPECT_TRUE(workload::key_file_bytes(path).error().message.starts_with(path + words)) << path;
  }
}

// Random changes of right files: each is refused with its place, or gives exactly the keys of the
// file.
TEST_F(KeyFiles, NoContentIsMisread) {
  std::mt19937_64 rng(2026);
  std::size_t accepted = 0, refused = 0;
  for (int trial = 0; trial < 600; ++trial) {
    std::string content = trial % 2 == 0 ? binary({rng() >> 1, rng() >> 2, rng() >> 1})
                                         : lines({"one", "two", "three"});
    for (uint64_t changes = rng() % 3; changes > 0; --changes) {
      const std::size_t at = rng() % content.size();
      if (rng() % 2 == 0) content[at] = static_cast<char>(rng());
      if (rng() % 8 == 0) content.erase(at, 1 + rng() % 8);
      if (rng() % 8 == 0) content.insert(at, content.substr(0, rng() % 9));
      if (content.empty()) content = "x";
    }
    const Result<KeyFile> keys = read(content);
    ++(keys.ok() ? accepted : refused);
    if (!keys.ok()) {
      EXPECT_NE(keys.error().message.find(": "), std::string::npos);
      continue;
    }
    if (keys->type == INT) {
      ASSERT_EQ(content.size(), 8 * (keys->size() + 1));
      std::set<uint64_t> wanted;
      for (std::size_t i = 1; i <= keys->size(); ++i) {
        uint64_t number = 0;
        std::memcpy(&number, content.data() + 8 * i, 8);
        wanted.insert(keys->shifted ? number ^ uint64_t{1} << 63 : number);
      }
      ASSERT_EQ(wanted.size(), keys->size());
      for (const int64_t key : keys->integers)
        ASSERT_TRUE(wanted.contains(static_cast<uint64_t>(key)));
      ASSERT_TRUE(std::is_sorted(keys->integers.begin(), keys->integers.end()));
    } else {
      ASSERT_TRUE(std::is_sorted(keys->strings.begin(), keys->strings.end()));
      ASSERT_EQ(keys->size(),
                static_cast<std::size_t>(std::count(content.begin(), content.end(), '\n') +
                                         (content.back() == '\n' ? 0 : 1)));
    }
  }
  EXPECT_GT(accepted, 60u);
  EXPECT_GT(refused, 60u);
}

TEST_F(KeyFiles, FactsAreThoseOfTheKeys) {
  const workload::KeyFacts integers = facts_of(read(binary({0, 1, 2, 3})).value());
  EXPECT_EQ(integers.local_hardness, 250'000);
  EXPECT_EQ(integers.global_hardness, 250'000);
  const KeyFile text = read(lines({"ab", "abcd", "b"})).value();
  EXPECT_EQ(text.longest_bytes, 4u);
  const workload::KeyFacts strings = facts_of(text);
  EXPECT_NEAR(strings.mean_bytes, 7.0 / 3, 1e-9);
  EXPECT_NEAR(strings.mean_shared_bytes, 2.0 / 3, 1e-9);
}

}  // namespace
}  // namespace keydrome::testing
