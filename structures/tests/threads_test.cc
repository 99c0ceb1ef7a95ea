// Lets several threads use one instance of a thread-safe data structure with the interface of
// contract B (keydrome/structure.h). Each change and each lookup must take effect at one moment. A
// scan must return every pair that exists during the whole scan. contract_test.cc has main().
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "structures/tests/model_checks.h"

namespace keydrome {
namespace {

constexpr uint32_t kThreads = 4;
constexpr uint64_t kSteps = 30'000 / (kLess * kLess);

// Calls `work` with the number of each thread. No thread calls it before all threads have started.
void run(uint32_t threads, const std::function<void(uint32_t)>& work) {
  std::atomic<uint32_t> ready = 0;
  std::vector<std::thread> all;
  for (uint32_t i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      ready.fetch_add(1);
      while (ready.load() < threads) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& thread : all) thread.join();
}

// The parameter is the size of all keys: 8 bytes, or 0 for keys of several sizes.
class ConcurrentCalls : public testing::TestWithParam<uint32_t> {
 protected:
  static bool applies() {
    const bool fits = table().key_bytes_only == 0 || table().key_bytes_only == GetParam();
    return fits && (table().capabilities & KEYDROME_THREAD_SAFE) != 0;
  }
  static bool is_many() { return table().payloads_max == 0; }

  static std::string key(uint64_t number) {
    return GetParam() == 8 ? big_endian(number * 0x9E3779B97F4A7C15u, 8)
                           : "a key of some length " + std::to_string(number);
  }
  static std::string word(uint64_t number) { return big_endian(number, 8); }
  static uint64_t number_in(const std::string& payload) {
    uint64_t number = 0;
    for (size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<uint8_t>(payload[i]);
    return number;
  }

  // Returns the smallest payload of the key or, if `after` is given, the smallest one larger than
  // *after. If the structure has no find, uses scan, as the runtime does.
  std::optional<std::string> find(const std::string& of,
                                  const std::optional<std::string>& after = std::nullopt) const {
    if (table().find != nullptr) return structure_.find(of, after);
    const Scanned scanned = structure_.scan(of, after, after.has_value(), RunBuffer(1));
    if (scanned.pairs.empty() || scanned.pairs.front().first != of) return std::nullopt;
    return scanned.pairs.front().second;
  }

  WatchedEnvironment environment_{Retired::kKept};
  Structure structure_{table(), environment_, GetParam()};
};

INSTANTIATE_TEST_SUITE_P(KeySizes, ConcurrentCalls, testing::Values(8u, 0u));

// Each thread inserts its own keys, and after each insertion looks for an earlier key.
TEST_P(ConcurrentCalls, NoKeyIsMissedWhileOthersGrow) {
  if (!applies()) return;
  std::atomic<uint64_t> wrong = 0;
  run(kThreads, [&](uint32_t thread) {
    for (uint64_t i = 0; i < kSteps; ++i) {
      const uint64_t number = i * kThreads + thread;
      if (structure_.put({key(number), word(~number)}) != 1) ++wrong;
      const uint64_t earlier = (i * 7919 % (i + 1)) * kThreads + thread;
      if (find(key(earlier)) != word(~earlier)) ++wrong;
      if (i % 4 != 3) continue;
      const uint64_t gone = number - 3 * kThreads;
      if (structure_.del({key(gone), word(~gone)}) != 1) ++wrong;
      if (find(key(gone))) ++wrong;
      if (structure_.put({key(gone), word(~gone)}) != 1) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0u) << "wrong results of put, del or find on the keys of one thread";
  EXPECT_TRUE(structure_.is_sound());
  for (uint64_t number = 0; number < kSteps * kThreads; ++number) {
    ASSERT_EQ(find(key(number)), word(~number)) << "a lookup after all threads have ended";
  }
}

// All threads insert and delete the same few pairs. For each pair, the numbers of successful
// insertions and deletions must be equal, except that there is one more insertion if the pair
// exists at the end.
TEST_P(ConcurrentCalls, ChangesOfOnePairTakeTurns) {
  if (!applies()) return;
  constexpr uint64_t kPairs = 7;
  std::array<std::atomic<int64_t>, kPairs> balance{};
  run(kThreads, [&](uint32_t thread) {
    for (uint64_t i = 0; i < kSteps; ++i) {
      const uint64_t number = (i * 31 + thread * i) % kPairs;
      const Pair pair{key(number / (is_many() ? 3 : 1)), word(number)};
      const bool inserts = (i + thread) % 2 == 0;
      const int changed = inserts ? structure_.put(pair) : structure_.del(pair);
      balance[number] += inserts ? changed : -changed;
    }
  });
  EXPECT_TRUE(structure_.is_sound());
  for (uint64_t number = 0; number < kPairs; ++number) {
    const Pair pair{key(number / (is_many() ? 3 : 1)), word(number)};
    EXPECT_TRUE(structure_.del_returns(pair, balance[number].load()))
        << "the required result is the number of insertions minus that of deletions";
  }
}

// One key always has its smallest and its largest payload. The threads insert and delete payloads
// between these two.
TEST_P(ConcurrentCalls, PayloadsOfOneKeyStayInOrder) {
  if (!applies() || !is_many()) return;
  const std::string one = key(1);
  const std::string first = word(0);
  const std::string last = word(900'000);
  ASSERT_TRUE(structure_.put_returns({one, first}, 1));
  ASSERT_TRUE(structure_.put_returns({one, last}, 1));
  std::atomic<uint64_t> wrong = 0;
  run(kThreads, [&](uint32_t thread) {
    for (uint64_t i = 0; i < kSteps / 4; ++i) {
      const uint64_t number = 1 + (i % 500) * kThreads + thread;
      const std::string own = word(number);
      const std::string before = word(number - 1);
      const bool inserts = i / 500 % 2 == 0;
      if ((inserts ? structure_.put({one, own}) : structure_.del({one, own})) != 1) ++wrong;
      if (find(one) != first) ++wrong;
      const auto next = find(one, before);
      if (!next || *next <= before || (inserts && *next > own)) ++wrong;
      const auto past = find(one, own);
      if (!past || *past <= own) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0u) << "wrong results of put, del or lookups of the payloads of one key";
  EXPECT_TRUE(structure_.is_sound());
}

// One thread replaces a key's payload by another one, again and again. It inserts the new payload
// before it deletes the old one, so the key always has a payload.
TEST_P(ConcurrentCalls, AKeyThatMovesIsAlwaysThere) {
  if (!applies() || !is_many()) return;
  const std::string one = key(1);
  ASSERT_TRUE(structure_.put_returns({one, word(0)}, 1));
  std::atomic<uint64_t> wrong = 0;
  std::atomic<bool> is_done = false;
  run(kThreads, [&](uint32_t thread) {
    if (thread > 0) {
      while (!is_done.load()) wrong += find(one) ? 0 : 1;
      return;
    }
    for (uint64_t i = 0; i < kSteps; ++i) {
      if (structure_.put({one, word((i + 1) % 3)}) != 1) ++wrong;
      if (structure_.del({one, word(i % 3)}) != 1) ++wrong;
    }
    is_done.store(true);
  });
  EXPECT_EQ(wrong.load(), 0u)
      << "put or del returned a wrong result, or a lookup found no payload of a key that has one";
}

// Two threads each insert a key and then look for the key of the other thread. At least one of them
// must find it. The threads wait a short time for each other, because a fault shows only if they
// run at the same time.
TEST_P(ConcurrentCalls, AChangeIsSeenAtOnce) {
  if (!applies()) return;
  constexpr uint32_t kTurns = 2000;
  std::array<std::atomic<uint64_t>, 2> rounds{};
  std::array<std::vector<bool>, 2> found{};
  run(2, [&](uint32_t thread) {
    for (uint64_t i = 0; i < kSteps; ++i) {
      const Pair own{key(2 * i + thread), word(i)};
      const std::string other = key(2 * i + 1 - thread);
      rounds[thread].store(i);
      for (uint32_t turn = 0; turn < kTurns && rounds[1 - thread].load() < i; ++turn) {
      }
      structure_.put(own);
      found[thread].push_back(find(other).has_value());
    }
  });
  for (uint64_t i = 0; i < kSteps; ++i) {
    ASSERT_TRUE(found[0][i] || found[1][i])
        << "in round " << i << ", two threads inserted a key each, and neither then found the key "
        << "of the other; a lookup must see every insertion that has ended before the lookup began";
  }
}

// Each replacement adds 1 to a payload of one of a few keys, so the sum of the payloads must be the
// number of replacements.
TEST_P(ConcurrentCalls, ReplacementsAreNotLost) {
  if (!applies() || table().replace == nullptr) return;
  constexpr uint64_t kKeys = 5;
  for (const std::string& rest : {std::string(), std::string("and bytes that need more room")}) {
    for (uint64_t i = 0; i < kKeys; ++i)
      ASSERT_TRUE(structure_.put_returns({key(i), word(0) + rest}, 1));
    run(kThreads, [&](uint32_t thread) {
      for (uint64_t i = 0; i < kSteps / 2; ++i) {
        const std::string one = key((i + thread) % kKeys);
        for (;;) {
          const std::string before = find(one).value();
          ASSERT_EQ(before.substr(8), rest) << "a lookup returned a payload that no call wrote";
          if (structure_.replace({one, before}, word(number_in(before) + 1) + rest) == 1) break;
        }
      }
    });
    uint64_t sum = 0;
    for (uint64_t i = 0; i < kKeys; ++i) {
      const std::string payload = find(key(i)).value();
      sum += number_in(payload);
      ASSERT_TRUE(structure_.del_returns({key(i), payload}, 1));
      ASSERT_EQ(find(key(i)), std::nullopt) << "the key's only payload was deleted";
    }
    EXPECT_EQ(sum, kSteps / 2 * kThreads)
        << "each replace that returned 1 added 1 to a payload, so replacements were lost";
  }
}

// Every second key stays in the structure. Other threads insert and delete the rest while one
// thread scans.
TEST_P(ConcurrentCalls, ScansReturnWhatStays) {
  if (!applies() || !structure_.is_ordered()) return;
  constexpr uint64_t kKeys = 400;
  const auto numbered = [](uint64_t number) {
    return GetParam() == 8 ? word(number) : "key " + std::to_string(1000 + number);
  };
  for (uint64_t i = 0; i < kKeys; i += 2)
    ASSERT_TRUE(structure_.put_returns({numbered(i), word(i)}, 1));
  const auto expect_even = [&](const std::vector<Pair>& pairs) {
    uint64_t expected = 0;
    Pair last;
    for (const Pair& pair : pairs) {
      ASSERT_GT(pair, last) << "a scan returned pairs that are not in ascending order";
      last = pair;
      const uint64_t number = number_in(pair.second);
      ASSERT_EQ(pair.first, numbered(number)) << "a scan returned a pair that no call inserted";
      if (number % 2 != 0) continue;
      ASSERT_EQ(number, expected) << "a scan missed a pair that exists all the time";
      expected += 2;
    }
    ASSERT_EQ(expected, kKeys) << "a scan ended before the last pair";
  };
  std::atomic<bool> is_done = false;
  run(kThreads, [&](uint32_t thread) {
    if (thread == 0) {
      for (uint64_t i = 0; i < kSteps / 100; ++i)
        expect_even(structure_.all(numbered(0), i % 2 == 0 ? 1000 : 7));
      is_done.store(true);
      return;
    }
    for (uint64_t i = 0; !is_done.load(); ++i) {
      const uint64_t number = 2 * ((i * 17 + thread * 101) % (kKeys / 2)) + 1;
      const Pair pair{numbered(number), word(number)};
      i / 50 % 2 == 0 ? structure_.put(pair) : structure_.del(pair);
    }
  });
  EXPECT_TRUE(structure_.is_sound());
}

}  // namespace
}  // namespace keydrome
