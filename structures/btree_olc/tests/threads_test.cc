// Lets eight threads use one B+-tree while its leaves grow, divide, merge and disappear. The test
// of contract B, the interface of a data structure, judges recorded calls
// (structures/tests/linearizable_test.cc). The test in this file makes far more calls, and each
// thread knows the results that its own calls must have.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "structures/tests/pair_source.h"
#include "structures/tests/shared_environment.h"

namespace keydrome {
namespace {

#ifdef KEYDROME_SANITIZED
constexpr uint32_t kSteps = 1'000;
#else
constexpr uint32_t kSteps = 4'000;
#endif
constexpr uint32_t kThreads = 8;

using PairOf = Pair (*)(uint32_t number);
Pair dense_number(uint32_t number) { return {big_endian(number, 8), big_endian(number, 8)}; }
Pair spread_number(uint32_t number) {
  return {big_endian(number * 0x9E3779B97F4A7C15u, 8), big_endian(number, 8)};
}
Pair text_pair(uint32_t number) {
  return {"a common start, and then " + std::to_string(number * 2654435761u), "some payload"};
}
// Few keys, whose payloads are in many leaves.
Pair payload_of_few(uint32_t number) {
  return {big_endian(number % 2, 8), "a payload " + std::to_string(number * 2654435761u)};
}

class BtreeOlcThreads : public testing::TestWithParam<PairOf> {
 protected:
  BtreeOlcThreads() {
    const bool is_number = GetParam()(1).first.size() == 8;
    const KeydromeSetup setup{sizeof setup, is_number ? 8u : 0u, nullptr};
    tree_ = table_.create(environment_.get(), &setup);
  }
  ~BtreeOlcThreads() override {
    EXPECT_EQ(wrong_.load(), 0u);
    EXPECT_EQ(table_.check(tree_), 0);
    table_.destroy(tree_);
  }

  // Runs `work` in all threads at the same time, with the number of the thread.
  static void run(const std::function<void(uint32_t)>& work) {
    std::atomic<uint32_t> ready = 0;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        ready.fetch_add(1);
        while (ready.load() < kThreads) std::this_thread::yield();
        work(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  int put(const Pair& pair) {
    return table_.put(tree_, bytes_of(pair.first), bytes_of(pair.second));
  }
  int del(const Pair& pair) {
    return table_.del(tree_, bytes_of(pair.first), bytes_of(pair.second));
  }
  // Returns true if a scan that starts at the pair finds it.
  bool exists(const Pair& pair) const {
    RunBuffer run(1, KEYDROME_RUN_BYTES_MIN);
    table_.scan(tree_, bytes_of(pair.first), bytes_of(pair.second), 0, run.get());
    return run.pairs() == std::vector<Pair>{pair};
  }
  // Counts a wrong result. Any thread may call it, unlike ASSERT_TRUE.
  void must(bool right) {
    if (!right) ++wrong_;
  }

  SharedEnvironment environment_;
  const KeydromeStructureTable& table_ = *keydrome_structure();
  KeydromeStructure* tree_ = nullptr;

 private:
  std::atomic<uint32_t> wrong_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Pairs, BtreeOlcThreads,
                         testing::Values(dense_number, spread_number, text_pair, payload_of_few));

// Each thread has pairs of its own, next to those of the others. It inserts and deletes them, and
// knows at each time which of them exist.
TEST_P(BtreeOlcThreads, GrowAndShrinkTogether) {
  run([&](uint32_t thread) {
    const auto pair = [&](uint32_t i) { return GetParam()(i * kThreads + thread); };
    for (uint32_t i = 0; i < kSteps; ++i) {
      must(put(pair(i)) == 1);
      must(put(pair(i)) == 0);
      must(exists(pair(i * 7919 % (i + 1))));
      if (i % 4 != 3) continue;
      must(del(pair(i - 3)) == 1);
      must(!exists(pair(i - 3)));
      must(put(pair(i - 3)) == 1);
    }
    for (uint32_t i = 0; i < kSteps; ++i) {
      const uint32_t kept = i / 16 * 16;
      must(exists(pair(kept)));
      if (i == kept) continue;
      must(del(pair(i)) == 1);
      must(del(pair(i)) == 0);
    }
  });
}

// All threads change the same pairs. If a pair exists at the end, one more insertion than deletions
// of this pair must have succeeded. Otherwise both numbers must be equal. If allocations fail, only
// puts may fail.
TEST_P(BtreeOlcThreads, EverySuccessCounts) {
  constexpr uint32_t kPairs = 600;
  for (const unsigned period : {0u, 3u}) {
    environment_.fail_every(period);
    std::array<std::atomic<int>, kPairs> there{};
    run([&](uint32_t thread) {
      std::mt19937 random(thread);
      for (uint32_t i = 0; i < 2 * kSteps; ++i) {
        const auto number = static_cast<uint32_t>(random() % kPairs);
        // Mostly insertions for a while, and then mostly deletions.
        const bool inserts = random() % 8 < (i / 512 % 2 == 0 ? 6u : 2u);
        const int result = inserts ? put(GetParam()(number)) : del(GetParam()(number));
        must(result == 0 || result == 1 || (inserts && result == KEYDROME_NO_MEMORY));
        if (result == 1) there[number].fetch_add(inserts ? 1 : -1);
      }
    });
    environment_.fail_every(0);
    EXPECT_EQ(table_.check(tree_), 0);
    for (uint32_t number = 0; number < kPairs; ++number) {
      ASSERT_EQ(there[number].load(), exists(GetParam()(number)) ? 1 : 0) << number;
      del(GetParam()(number));
    }
  }
}

// Two threads replace one payload of a key by others, which belong to other leaves. At the end,
// exactly one of these payloads exists. Meanwhile the other threads scan, and must find all
// payloads that stay.
TEST_P(BtreeOlcThreads, AReplacedPayloadIsInOnePlace) {
  constexpr uint32_t kOthers = 400;
  const std::string key = big_endian(7, 8);
  const auto moving = [](uint32_t number) { return std::to_string(10 + number % 40) + " moves"; };
  for (uint32_t i = 0; i < kOthers; ++i) {
    ASSERT_EQ(put({key, std::to_string(10 + i % 40) + " stays " + std::to_string(i)}), 1);
  }
  ASSERT_EQ(put({key, moving(0)}), 1);
  run([&](uint32_t thread) {
    std::mt19937 random(thread);
    for (uint32_t i = 0; i < kSteps / 4; ++i) {
      const std::string before = moving(static_cast<uint32_t>(random()));
      const std::string now = moving(static_cast<uint32_t>(random()));
      if (thread < 2) {
        must(table_.replace(tree_, bytes_of(key), bytes_of(before), bytes_of(now)) >= 0);
        continue;
      }
      RunBuffer run(kOthers + 2, (kOthers + 2) * KEYDROME_RUN_BYTES_MIN);
      table_.scan(tree_, bytes_of(key), kNoPayload, 0, run.get());
      must(run.pairs().size() >= kOthers);
    }
  });
  uint32_t found = 0;
  for (uint32_t i = 0; i < 40; ++i) found += exists({key, moving(i)}) ? 1 : 0;
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace keydrome
