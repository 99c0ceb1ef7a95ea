// Tests that keys from a file change nothing but the keys of a script, in the instances whose keys
// a user may replace. The test is not in benchmarks/kit/tests, because it needs all benchmarks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/tests/key_files.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/key_file/replace_keys.h"

namespace keydrome::testing {
namespace {

using workload::KeyFile;

class ReplacedKeys : public KeyFiles {};

// Returns the rank, i.e. the position in key order, of each key in a script's list of keys (pool).
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

// Returns the content of a key file. The number of keys is the largest number that the instance may
// use. Some keys look like the keys of the extra check transactions: strings that begin with '!',
// or large integers, which become negative when the file is read.
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

TEST_F(ReplacedKeys, ReplacedKeysHaveTheOrderOfTheWorkloadsKeys) {
  std::mt19937_64 rng(4);
  std::size_t instances = 0;
  // Without the environment variable KEYDROME_SOAK, only the first instance of each benchmark and
  // key type is tested.
  std::set<std::string> seen;  // benchmark and key type
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const workload::Manifest manifest = manifest_of(entry.name);
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
      const script::Script before = make_script(entry.name, instance, 7);
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

TEST_F(ReplacedKeys, SessionsWithReplacedKeysAreJudged) {
  std::mt19937_64 rng(5);
  const std::pair<const char*, const char*> cases[] = {{"lookups", "half"},
                                                       {"lookups", "misses_suffix"}};
  for (const auto& [name, instance] : cases) {
    const workload::Manifest manifest = manifest_of(name);
    const workload::Parameters parameters = manifest.resolve(instance, "smoke", {}).value();
    const KeyType type = type_of(manifest.instances.find(instance)->second.keys);
    const auto workload = benchmark(name).make(instance);
    std::string content = content_for(*workload, parameters, type, rng);
    // The test index takes negative integers and strings that begin with '!' for keys of check
    // transactions. So the file must not contain such keys.
    if (type == INT) {
      for (std::size_t at = 15; at < content.size(); at += 8) content[at] &= 0x3f;
    } else {
      for (std::size_t at = 0; at < content.size(); at = content.find('\n', at) + 1)
        content[at] = 'k';
    }
    const auto file = read(content);
    ASSERT_TRUE(file.ok()) << file.error().message;
    script::Script script = make_script(name, instance, 8);
    ASSERT_TRUE(workload::replace_keys(script, *file, 8).ok());
    expect_right_is_not_accused(name, instance, script);
    expect_faults_are_found(name, instance, script);
  }
}

TEST_F(ReplacedKeys, TheSeedChoosesTheKeys) {
  std::mt19937_64 rng(6);
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 25'000; ++i) keys.push_back(i * 1'000 + rng() % 1'000);
  const KeyFile file = read(binary(keys)).value();
  const auto chosen = [&](uint64_t seed) {
    script::Script script = make_script("scan", "full", 1);
    EXPECT_TRUE(workload::replace_keys(script, file, seed).ok());
    return script.pools.int64_keys;
  };
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
}

TEST_F(ReplacedKeys, TooFewKeysAreRefused) {
  const KeyFile file = read(binary({1, 2, 3})).value();
  script::Script script = make_script("scan", "full", 1);
  const Result<void> replaced = workload::replace_keys(script, file, 1);
  ASSERT_FALSE(replaced.ok());
  EXPECT_TRUE(replaced.error().message.starts_with("the key file has 3 keys, but the session uses"))
      << replaced.error().message;
}

}  // namespace
}  // namespace keydrome::testing
