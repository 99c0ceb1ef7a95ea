// Tests that keydrome/structure_class.h makes a structure from a class. The tests check which
// functions the table has, how these call the members, and which results they return for failures.
#include "keydrome/structure_class.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace keydrome {
namespace {

// Counts the allocated blocks. If `budget` is not negative, only `budget` more allocations succeed.
struct Environment {
  KeydromeEnvironment functions{sizeof(KeydromeEnvironment), 0, this, allocate, retire};
  int budget = -1;
  int blocks = 0;

  static void* allocate(void* context, size_t size, size_t) {
    auto& self = *static_cast<Environment*>(context);
    if (self.budget == 0) return nullptr;
    if (self.budget > 0) --self.budget;
    ++self.blocks;
    return std::malloc(size);
  }
  static void retire(void* context, void* memory, size_t, size_t) {
    --static_cast<Environment*>(context)->blocks;
    std::free(memory);
  }
};

// A structure of at most one pair, whose memory comes from the environment.
class OnePair {
 public:
  OnePair(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
      : resource_(environment), key_bytes_(setup.key_bytes), spare_(100, 's', &resource_) {}

  int put(KeydromeBytes key, KeydromeBytes payload) {
    key_ = view_of(key);
    payload_ = view_of(payload);
    return 1;
  }
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept {
    return view_of(key) == key_ && view_of(payload) == payload_ ? 1 : 0;
  }
  int scan(KeydromeBytes, KeydromeBytes, bool after, KeydromeRun& run) const {
    keydrome_run_clear(&run);
    if (!after) keydrome_run_add(&run, bytes_of(key_), bytes_of(payload_));
    return 0;
  }
  int split(KeydromeBytes, OnePair& high) {
    high.put(bytes_of(key_), bytes_of(payload_));
    return 0;
  }
  int concat(OnePair& high) { return put(bytes_of(high.key_), bytes_of(high.payload_)); }
  uint64_t statistic(uint32_t which) const { return which == 0 ? key_bytes_ : spare_.size(); }

 private:
  StructureResource resource_;
  uint32_t key_bytes_;
  std::pmr::string spare_;
  std::pmr::string key_{&resource_}, payload_{&resource_};
};

constexpr KeydromeStructureTable kTable = structure_table<OnePair>({
    .name = "one_pair",
    .description = "holds one pair",
    .capabilities = KEYDROME_SHARED_READS,
    .key_bytes_only = 8,
    .payloads_max = 1,
});

const std::string kLong(60, 'x');

KeydromeStructure* make(const Environment& environment, const char* options = nullptr) {
  const KeydromeSetup setup{sizeof setup, 8, options};
  return kTable.create(&environment.functions, &setup);
}

TEST(StructureClass, TableSaysWhatTheClassHas) {
  EXPECT_EQ(kTable.version, KEYDROME_STRUCTURE_VERSION);
  EXPECT_EQ(kTable.size, sizeof kTable);
  EXPECT_EQ(kTable.capabilities, KEYDROME_SHARED_READS);
  EXPECT_EQ(kTable.key_bytes_only, 8u);
  EXPECT_EQ(kTable.payload_bytes_max, 0u);
  EXPECT_EQ(kTable.payloads_max, 1u);
  EXPECT_STREQ(kTable.name, "one_pair");
  EXPECT_TRUE(kTable.scan && kTable.split && kTable.concat && kTable.statistic);
  EXPECT_TRUE(!kTable.find && !kTable.find_batch && !kTable.replace && !kTable.load);
  EXPECT_EQ(kTable.check, nullptr);
}

TEST(StructureClass, CallsReachTheObject) {
  Environment environment;
  KeydromeStructure* one = make(environment, "{}");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(kTable.statistic(one, 0), 8u);
  EXPECT_EQ(kTable.put(one, bytes_of("key"), bytes_of("payload")), 1);
  EXPECT_EQ(kTable.del(one, bytes_of("key"), bytes_of("payload")), 1);
  EXPECT_EQ(kTable.del(one, bytes_of("key"), {nullptr, 9}), 0);
  char bytes[KEYDROME_RUN_BYTES_MIN];
  KeydromeRun run{bytes, sizeof bytes, 0, 2, 0};
  EXPECT_EQ(kTable.scan(one, bytes_of(""), bytes_of(""), 2, &run), 0);
  EXPECT_EQ(run.pairs, 0u);
  EXPECT_EQ(kTable.scan(one, bytes_of(""), bytes_of(""), 0, &run), 0);
  KeydromeBytes key, payload;
  keydrome_run_read(&run, 0, &key, &payload);
  EXPECT_EQ(view_of(key), "key");
  EXPECT_EQ(view_of(payload), "payload");
  kTable.destroy(one);
  EXPECT_EQ(environment.blocks, 0);
}

TEST(StructureClass, OptionsAreRefused) {
  const Environment environment;
  EXPECT_EQ(make(environment, "{\"order\": 3}"), nullptr);
  EXPECT_EQ(environment.blocks, 0);
}

TEST(StructureClass, CreateGivesBackWhatItAllocated) {
  // The allocation of the instance fails, and then the allocation in its constructor.
  for (int budget = 0; budget < 2; ++budget) {
    Environment environment;
    environment.budget = budget;
    EXPECT_EQ(make(environment), nullptr);
    EXPECT_EQ(environment.blocks, 0);
  }
}

TEST(StructureClass, BadAllocBecomesAResult) {
  Environment environment;
  KeydromeStructure* one = make(environment);
  environment.budget = 0;
  EXPECT_EQ(kTable.put(one, bytes_of(kLong), bytes_of("")), KEYDROME_NO_MEMORY);
  environment.budget = -1;
  kTable.destroy(one);
  EXPECT_EQ(environment.blocks, 0);
}

TEST(StructureClass, SplitMakesAnInstanceOrNone) {
  Environment environment;
  KeydromeStructure* low = make(environment);
  ASSERT_EQ(kTable.put(low, bytes_of(kLong), bytes_of("")), 1);
  const int blocks = environment.blocks;
  // The allocation of the instance fails, then that in its constructor, then that of its key.
  for (int budget = 0; budget < 3; ++budget) {
    environment.budget = budget;
    EXPECT_EQ(kTable.split(low, bytes_of("a"), &environment.functions), nullptr);
    EXPECT_EQ(environment.blocks, blocks);
  }
  environment.budget = -1;
  KeydromeStructure* high = kTable.split(low, bytes_of("a"), &environment.functions);
  ASSERT_NE(high, nullptr);
  EXPECT_EQ(kTable.statistic(high, 0), 8u);
  EXPECT_EQ(kTable.concat(low, high), 1);  // no success, so `high` remains
  kTable.destroy(high);
  kTable.destroy(low);
  EXPECT_EQ(environment.blocks, 0);
}

TEST(StructureClass, PayloadsAreCopied) {
  for (const size_t size : {0, 7, 8, 60}) {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer buffer{bytes, 0, sizeof bytes};
    copy_payload(kLong.substr(0, size), buffer);
    EXPECT_EQ(std::string(bytes, buffer.size), kLong.substr(0, size));
  }
}

}  // namespace
}  // namespace keydrome
