// Lets threads split and merge the pages of one Bw-tree all the time, while others read it. Some
// pairs always exist, so every search and every scan must find them.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "structures/bwtree/tree.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/shared_environment.h"

namespace keydrome::bwtree {
namespace {

#ifdef KEYDROME_SANITIZED
constexpr uint32_t kWaves = 6;
#else
constexpr uint32_t kWaves = 40;
#endif
constexpr uint32_t kWriters = 3;
constexpr uint32_t kReaders = 3;
constexpr uint32_t kPairs = 2'000;  // of each writer
constexpr uint32_t kStable = 97;    // one of 97 pairs is never deleted

// The pairs of the writers take turns in the order of the tree, so writers share all pages.
class Waves : public testing::Test {
 protected:
  static uint32_t number(uint32_t writer, uint32_t i) { return i * kWriters + writer; }
  static bool is_stable(uint32_t i) { return i % kStable == 0; }

  int put(uint32_t number) {
    const std::string bytes = big_endian(number, 8);
    return tree_.put(bytes_of(bytes), bytes_of(bytes));
  }
  int del(uint32_t number) {
    const std::string bytes = big_endian(number, 8);
    return tree_.del(bytes_of(bytes), bytes_of(bytes));
  }
  bool has(uint32_t number) const {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer payload{bytes, 0, sizeof bytes};
    const std::string key = big_endian(number, 8);
    return tree_.find(bytes_of(key), kNoPayload, payload) == 1;
  }
  // Returns how many stable pairs a scan of the whole tree finds. The keys must ascend.
  uint32_t scan_stable() {
    uint32_t stable = 0;
    std::string last;
    for (bool more = true, after = false; more; after = true) {
      RunBuffer run(50);
      more = tree_.scan(bytes_of(last), kNoPayload, after, *run.get()) == 1;
      for (const auto& [key, payload] : run.pairs()) {
        must(last.empty() || last < key);
        last = key;
        const auto found = static_cast<uint32_t>(load_big(key.data()));
        if (is_stable(found / kWriters)) ++stable;
      }
    }
    return stable;
  }
  // Counts a wrong result. Any thread may call it, unlike ASSERT_TRUE.
  void must(bool right) {
    if (!right) ++wrong_;
  }

  SharedEnvironment environment_;
  const KeydromeSetup setup_{sizeof(KeydromeSetup), 8, nullptr};
  Tree tree_{*environment_.get(), setup_};
  std::atomic<uint32_t> wrong_ = 0;
};

TEST_F(Waves, NoPairIsLostWhilePagesAreSplitAndMerged) {
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    for (uint32_t i = 0; i < kPairs; i += kStable) put(number(writer, i));
  }
  constexpr uint32_t kStablePairs = kWriters * ((kPairs + kStable - 1) / kStable);
  std::atomic<uint32_t> writing = kWriters;
  const auto write = [&](uint32_t writer) {
    for (uint32_t wave = 0; wave < kWaves; ++wave) {
      for (uint32_t i = 0; i < kPairs; ++i) {
        if (!is_stable(i)) must(put(number(writer, i)) == 1);
      }
      for (uint32_t i = 0; i < kPairs; ++i) {
        if (!is_stable(i)) must(del(number(writer, i)) == 1);
      }
    }
    --writing;
  };
  const auto read = [&](uint32_t reader) {
    for (uint32_t turn = reader; writing.load() > 0; ++turn) {
      must(scan_stable() == kStablePairs);
      for (uint32_t i = 0; i < kPairs; i += kStable) must(has(number(turn % kWriters, i)));
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kWriters; ++i) threads.emplace_back(write, i);
  for (uint32_t i = 0; i < kReaders; ++i) threads.emplace_back(read, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_.load(), 0u);
  EXPECT_EQ(tree_.check(), 0);
  EXPECT_EQ(scan_stable(), kStablePairs);
  EXPECT_LT(tree_.statistic(KEYDROME_STATISTIC_NODES), 40u) << "the waves did not merge pages";
}

// All threads change the same pairs, and some allocations fail. If a pair exists at the end, one
// more insertion than deletions of this pair must have succeeded. Otherwise both numbers must be
// equal.
TEST_F(Waves, EverySuccessCountsAlsoWithLittleMemory) {
  constexpr uint32_t kShared = 400;
  std::vector<std::atomic<int>> there(kShared);
  environment_.fail_every(5);
  const auto change = [&](uint32_t thread) {
    for (uint32_t i = 0; i < kWaves * kShared; ++i) {
      const uint32_t at = (i * 31 + thread * i) % kShared;
      const bool inserts = (i / kShared + thread) % 2 == 0;
      const int result = inserts ? put(at) : del(at);
      must(result == 0 || result == 1 || result == KEYDROME_NO_MEMORY);
      if (result == 1) there[at] += inserts ? 1 : -1;
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kWriters; ++i) threads.emplace_back(change, i);
  for (std::thread& thread : threads) thread.join();
  environment_.fail_every(0);
  EXPECT_EQ(wrong_.load(), 0u);
  EXPECT_EQ(tree_.check(), 0);
  for (uint32_t at = 0; at < kShared; ++at) ASSERT_EQ(has(at) ? 1 : 0, there[at].load()) << at;
}

// The payloads of one key are in two leaves. One of two payloads always exists: the last one of the
// first leaf, or the first one of the second leaf. A lookup must find one of them. It must succeed
// even if it reads the first leaf before the insertion there, and the second leaf after the
// deletion there.
TEST_F(Waves, ALookupInTwoLeavesSeesBothAtOneMoment) {
  const std::string key = big_endian(7, 8);
  const auto payload = [](uint64_t number) { return big_endian(number, 8); };
  const auto put_payload = [&](const std::string& bytes) {
    return tree_.put(bytes_of(key), bytes_of(bytes));
  };
  const auto del_payload = [&](const std::string& bytes) {
    return tree_.del(bytes_of(key), bytes_of(bytes));
  };
  for (uint64_t i = 1; i <= 150; ++i) ASSERT_EQ(put_payload(payload(10 * i)), 1);
  const Page& root = *tree_.root().page.load();
  ASSERT_EQ(root.level, 1);
  const Page& second = *base(root).children()[1]->page.load();
  const auto first = load_big(base_of(second).pair(0).payload.data());
  const std::string before = payload(first - 10);
  const std::string low = payload(first - 9);  // belongs to the first leaf
  const std::string high = payload(first);
  ASSERT_LT(compare({key, low}, base(root).pair(1)), 0);
  std::atomic<bool> writing = true;
  std::thread writer([&] {
    for (uint32_t i = 0; i < kWaves * 3000; ++i) {
      must(put_payload(low) == 1);
      must(del_payload(high) == 1);
      must(put_payload(high) == 1);
      must(del_payload(low) == 1);
    }
    writing = false;
  });
  while (writing.load()) {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer found{bytes, 0, sizeof bytes};
    must(tree_.find(bytes_of(key), bytes_of(before), found) == 1);
    const std::string text(bytes, found.size);
    must(text == low || text == high);
  }
  writer.join();
  EXPECT_EQ(wrong_.load(), 0u);
}

}  // namespace
}  // namespace keydrome::bwtree
