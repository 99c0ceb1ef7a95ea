// Tests files of keys: both formats, every kind of wrong file, and that replaced keys change nothing
// but the keys of a script.
#include "benchmarks/kit/workload/key_file/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/key_file/replace_keys.h"

namespace keydrome {
namespace {

using workload::KeyFile;
using workload::read_key_file;

// A folder of the test, and the path of its only file.
class KeyFiles : public ::testing::Test {
 protected:
  KeyFiles() {
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/keys";
  }
  ~KeyFiles() override { std::filesystem::remove_all(folder_); }

  Result<KeyFile> read(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return read_key_file(path_);
  }

  // Returns the error without the path.
  std::string fault(const std::string& content) const {
    const Result<KeyFile> keys = read(content);
    if (keys.ok()) return "";
    EXPECT_TRUE(keys.error().message.starts_with(path_)) << keys.error().message;
    return keys.error().message.substr(path_.size());
  }

  std::string folder_ = ::testing::TempDir() + "key_file_test." + std::to_string(getpid());
  std::string path_;
};

std::string word(uint64_t number) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

std::string binary(const std::vector<uint64_t>& keys) {
  std::string bytes = word(keys.size());
  for (const uint64_t key : keys) bytes += word(key);
  return bytes;
}

std::string lines(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += key + "\n";
  return text;
}

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
      {std::string(3, '\0'), ", byte 3: the file ends within its count"},
      {word(0), ", byte 0: the count is 0"},
      {whole.substr(0, whole.size() - 1), ", byte 31: the file ends here, but its count"},
      {whole.substr(0, 8), ", byte 8: the file ends here, but its count"},
      {word(UINT64_MAX >> 8), ", byte 8: the file ends here, but its count"},
      {whole + "x", ", byte 32: the file continues after 3 keys"},
      {word(2) + whole.substr(8), ", byte 24: the file continues after 2 keys"},
      {word(6) + whole.substr(8), ", byte 8: the 6 keys have 32 bits"},
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
      {"abcdefghi\nxy" + std::string(1, '\0') + "z\n", ", line 2, column 3: a key cannot contain"},
      {"a\n" + std::string(MAX_VARCHAR_LEN + 1, 'b'),
       ", line 2, column 129: the key has 129 bytes, but keys have at most 128"},
      {"b\na\nb", ", line 3, column 1: the key is also in line 1"},
      {"a\n\x01x\n", ", line 2, column 1: keys that begin with byte 1"},
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

// Returns the ranks of all keys of the pool.
template <typename Keys>
std::vector<std::size_t> ranks_of(const Keys& pool) {
  Keys sorted = pool;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::size_t> ranks;
  for (const auto& key : pool) {
    ranks.push_back(static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), key) -
                                             sorted.begin()));
  }
  return ranks;
}

std::vector<std::string_view> copy_of(const script::Strings& strings) {
  return {strings.begin(), strings.end()};
}

template <typename Keys, typename Key>
bool has(const Keys& sorted, const Key& key) {
  return std::binary_search(sorted.begin(), sorted.end(), key);
}

KeyType type_of(const std::string& name) { return name == "int64" ? INT : VARCHAR; }

// Returns the content of a file with as many keys as the instance says that it may use. The keys
// are hard to keep apart from those of checks: large integers, and strings that begin with '!'.
std::string content_for(const workload::Workload& workload, const workload::Parameters& parameters,
                        KeyType type, std::mt19937_64& rng) {
  const auto count = static_cast<std::size_t>(workload.demand(parameters).all_keys() * 1.05 + 50);
  std::set<uint64_t> numbers;
  while (numbers.size() < count) numbers.insert(rng() | uint64_t{1} << 20);
  if (type == INT) return binary({numbers.begin(), numbers.end()});
  std::vector<std::string> keys;
  for (const uint64_t number : numbers) {
    keys.push_back(std::string(1, static_cast<char>(2 + number % 254)) + std::to_string(number) +
                   std::string(number % 100, 'x'));
    if (keys.back()[0] == '\n' || keys.back()[0] == '\r') keys.back()[0] = '!';
  }
  return lines(keys);
}

TEST_F(KeyFiles, ReplacedKeysHaveTheOrderOfTheWorkloadsKeys) {
  std::mt19937_64 rng(4);
  std::size_t instances = 0;
  std::set<std::string> seen;  // benchmark and type; with KEYDROME_SOAK, every instance is tested
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const workload::Manifest manifest = testing::manifest_of(entry.name);
    for (const auto& [instance, facts] : manifest.instances) {
      if (facts.keys.empty()) continue;
      const bool is_first = seen.insert(std::string(entry.name) + facts.keys).second;
      if (!is_first && std::getenv("KEYDROME_SOAK") == nullptr) continue;
      SCOPED_TRACE(std::string(entry.name) + "/" + instance);
      ++instances;
      const KeyType type = type_of(facts.keys);
      const workload::Parameters parameters = manifest.resolve(instance, "smoke", {}).value();
      const auto file = read(content_for(*entry.make(instance), parameters, type, rng));
      ASSERT_TRUE(file.ok()) << file.error().message;
      ASSERT_EQ(file->type, type);
      const script::Script before = testing::make_script(entry.name, instance, 7);
      script::Script after = before;
      const Result<void> replaced = workload::replace_keys(after, *file, 7);
      ASSERT_TRUE(replaced.ok()) << replaced.error().message;
      for (const script::IndexSpec& index : before.indexes) EXPECT_EQ(index.type, type);
      EXPECT_TRUE(before.pools.procedures.empty());
      EXPECT_EQ(ranks_of(after.pools.int64_keys), ranks_of(before.pools.int64_keys));
      EXPECT_EQ(ranks_of(copy_of(after.pools.varchar_keys)),
                ranks_of(copy_of(before.pools.varchar_keys)));
      const std::size_t count =
          type == INT ? after.pools.int64_keys.size() : after.pools.varchar_keys.size();
      for (uint32_t number = 0; number < count; ++number) {
        const bool is_of_file = type == INT ? has(file->integers, after.pools.int64_keys[number])
                                            : has(file->strings, after.pools.varchar_keys[number]);
        ASSERT_NE(is_of_file, before.pools.is_kept(type, number)) << number;
      }
    }
  }
  EXPECT_GT(instances, 5u);
}

TEST_F(KeyFiles, SessionsWithReplacedKeysAreJudged) {
  std::mt19937_64 rng(5);
  const std::pair<const char*, const char*> cases[] = {{"lookups", "half"},
                                                       {"lookups", "misses_suffix"}};
  for (const auto& [name, instance] : cases) {
    const workload::Manifest manifest = testing::manifest_of(name);
    const workload::Parameters parameters = manifest.resolve(instance, "smoke", {}).value();
    const KeyType type = type_of(manifest.instances.find(instance)->second.keys);
    const auto workload = testing::benchmark(name).make(instance);
    std::string content = content_for(*workload, parameters, type, rng);
    // The test index recognises the keys of checks: negative integers, and strings with '!' first.
    if (type == INT) {
      for (std::size_t at = 15; at < content.size(); at += 8) content[at] &= 0x3f;
    } else {
      for (std::size_t at = 0; at < content.size(); at = content.find('\n', at) + 1)
        content[at] = 'k';
    }
    const auto file = read(content);
    ASSERT_TRUE(file.ok()) << file.error().message;
    script::Script script = testing::make_script(name, instance, 8);
    ASSERT_TRUE(workload::replace_keys(script, *file, 8).ok());
    testing::expect_right_is_not_accused(name, instance, script);
    testing::expect_faults_are_found(name, instance, script);
  }
}

TEST_F(KeyFiles, TheSeedChoosesTheKeys) {
  std::mt19937_64 rng(6);
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 25'000; ++i) keys.push_back(i * 1'000 + rng() % 1'000);
  const KeyFile file = read(binary(keys)).value();
  const auto chosen = [&](uint64_t seed) {
    script::Script script = testing::make_script("scan", "full", 1);
    EXPECT_TRUE(workload::replace_keys(script, file, seed).ok());
    return script.pools.int64_keys;
  };
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
}

TEST_F(KeyFiles, TooFewKeysAreRefused) {
  const KeyFile file = read(binary({1, 2, 3})).value();
  script::Script script = testing::make_script("scan", "full", 1);
  const Result<void> replaced = workload::replace_keys(script, file, 1);
  ASSERT_FALSE(replaced.ok());
  EXPECT_TRUE(replaced.error().message.starts_with("the key file has 3 keys, but the session uses"))
      << replaced.error().message;
}

}  // namespace
}  // namespace keydrome
