// Lets several threads use one hash table: no key that is there is missed while the table grows, no
// answer mixes two states, and updates are not lost.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "structures/hash/tests/owned_table.h"

namespace keydrome::hash {
namespace {

#ifdef KEYDROME_SANITIZED
constexpr uint64_t kSteps = 4'000;
#else
constexpr uint64_t kSteps = 60'000;
#endif
constexpr uint32_t kThreads = 4;

std::string word(uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}
uint64_t number_in(const std::string& payload) {
  uint64_t number = 0;
  payload.copy(reinterpret_cast<char*>(&number), sizeof number);
  return number;
}
std::string text(uint64_t number) { return "a key of some length " + std::to_string(number); }

void run(const std::function<void(uint32_t)>& work) {
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

// Each thread inserts keys of its own, and after each looks for one that it inserted before.
void grow_together(uint32_t key_bytes, const std::function<std::string(uint64_t)>& key) {
  SharedEnvironment environment;
  OwnedTable table(environment, key_bytes);
  std::atomic<uint64_t> missed = 0;
  run([&](uint32_t thread) {
    std::string payload;
    for (uint64_t i = 0; i < kSteps; ++i) {
      const uint64_t number = i * kThreads + thread;
      if (table.put(key(number), word(~number)) != 1) ++missed;
      const uint64_t earlier = (i * 7919 % (i + 1)) * kThreads + thread;
      if (!table.find(key(earlier), nullptr, payload) || payload != word(~earlier)) ++missed;
      if (i % 4 != 3) continue;
      const uint64_t gone = number - 3 * kThreads;
      if (table.del(key(gone), word(~gone)) != 1) ++missed;
      if (table.find(key(gone), nullptr, payload)) ++missed;
      if (table.put(key(gone), word(~gone)) != 1) ++missed;
    }
  });
  EXPECT_EQ(missed.load(), 0u);
  EXPECT_EQ(table.check(), 0);
  EXPECT_EQ(table.statistic(KEYDROME_STATISTIC_SLOTS_USED), kSteps * kThreads);
}

TEST(HashThreads, GrowTogether) {
  grow_together(8, word);
  grow_together(0, text);
}

// Each replacement adds 1 to a payload of a few keys, so the sum of the payloads counts them.
void count_together(uint32_t key_bytes, const std::string& rest) {
  constexpr uint64_t kKeys = 5;
  SharedEnvironment environment;
  OwnedTable table(environment, key_bytes);
  for (uint64_t key = 0; key < kKeys; ++key) ASSERT_EQ(table.put(word(key), word(0) + rest), 1);
  run([&](uint32_t thread) {
    for (uint64_t i = 0; i < kSteps; ++i) {
      const std::string key = word((i + thread) % kKeys);
      for (std::string before;;) {
        ASSERT_TRUE(table.find(key, nullptr, before));
        ASSERT_EQ(before.substr(8), rest);
        if (table.replace(key, before, word(number_in(before) + 1) + rest) == 1) break;
      }
    }
  });
  uint64_t sum = 0;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const std::vector<std::string> all = table.payloads(word(key));
    ASSERT_EQ(all.size(), 1u);
    sum += number_in(all.front());
  }
  EXPECT_EQ(sum, kSteps * kThreads);
}

TEST(HashThreads, UpdatesAreNotLost) {
  count_together(8, "");
  count_together(8, "and more bytes than an entry holds");
  count_together(0, "");
}

// One key always has its smallest and its largest payload. The threads add and delete others between
// them, so that Blocks and Directories come and go.
TEST(HashThreads, PayloadsOfOneKey) {
  SharedEnvironment environment;
  OwnedTable table(environment, 8);
  const auto payload = [](uint64_t number) { return std::to_string(1'000'000 + number); };
  const std::string key = word(1), first = payload(0), last = payload(900'000);
  ASSERT_EQ(table.put(key, first), 1);
  ASSERT_EQ(table.put(key, last), 1);
  std::atomic<uint64_t> wrong = 0;
  run([&](uint32_t thread) {
    std::string found, next;
    for (uint64_t i = 0; i < kSteps / 4; ++i) {
      const std::string own = payload(1 + (i % 500) * kThreads + thread);
      const bool adds = i / 500 % 2 == 0;
      if ((adds ? table.put(key, own) : table.del(key, own)) != 1) ++wrong;
      if (table.find(key, nullptr, found) != 1 || found != first) ++wrong;
      const std::string before = own.substr(0, own.size() - 1);
      if (!table.find(key, &before, next) || next <= before) ++wrong;
      if (adds && next > own) ++wrong;
      if (!table.find(key, &own, next) || next <= own) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(table.check(), 0);
}

}  // namespace
}  // namespace keydrome::hash
