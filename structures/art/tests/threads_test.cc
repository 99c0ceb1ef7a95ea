// Lets eight threads use one adaptive radix tree. While nodes grow, shrink and disappear, no thread
// may miss a stored key, no result may mix two states of the tree, and no change may be lost.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "structures/tests/pair_source.h"
#include "structures/tests/shared_environment.h"

namespace keydrome {
namespace {

#ifdef KEYDROME_SANITIZED
constexpr uint32_t kSteps = 1'500;
#else
constexpr uint32_t kSteps = 4'000;
#endif
constexpr uint32_t kThreads = 8;

class ArtThreads : public testing::Test {
 protected:
  void create(uint32_t key_bytes) {
    const KeydromeSetup setup{sizeof setup, key_bytes, nullptr};
    tree_ = table_.create(environment_.get(), &setup);
    ASSERT_NE(tree_, nullptr);
  }
  void TearDown() override {
    if (tree_ == nullptr) return;
    EXPECT_EQ(table_.check(tree_), 0);
    table_.destroy(tree_);
  }

  // Runs `work` in all threads at the same time, with the number of the thread.
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

  int put(const std::string& key, const std::string& payload) {
    return table_.put(tree_, bytes_of(key), bytes_of(payload));
  }
  int del(const std::string& key, const std::string& payload) {
    return table_.del(tree_, bytes_of(key), bytes_of(payload));
  }
  int replace(const std::string& key, const std::string& before, const std::string& now) {
    return table_.replace(tree_, bytes_of(key), bytes_of(before), bytes_of(now));
  }
  // Returns the smallest payload or, if `after` is given, the smallest payload larger than *after.
  // Returns kNone if there is none.
  std::string find(const std::string& key, const std::string* after = nullptr) const {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer payload{bytes, 0, sizeof bytes};
    const KeydromeBytes from = after == nullptr ? kNoPayload : bytes_of(*after);
    const int found = table_.find(tree_, bytes_of(key), from, &payload);
    return found == 1 ? std::string(bytes, payload.size) : kNone;
  }
  // Returns at most `limit` pairs with keys >= `from`.
  std::vector<Pair> scan(const std::string& from, uint32_t limit) const {
    RunBuffer run(limit, limit * KEYDROME_RUN_BYTES_MIN);
    EXPECT_GE(table_.scan(tree_, bytes_of(from), kNoPayload, 0, run.get()), 0);
    return run.pairs();
  }
  // Any thread may call this. If `right` was ever false, expect_right() fails.
  void must(bool right) {
    if (!right) ++wrong_;
  }
  void expect_right() const { EXPECT_EQ(wrong_.load(), 0u); }

  static constexpr const char* kNone = "no payload";

  SharedEnvironment environment_;
  const KeydromeStructureTable& table_ = *keydrome_structure();
  KeydromeStructure* tree_ = nullptr;

 private:
  std::atomic<uint32_t> wrong_ = 0;
};

using KeyOf = std::string (*)(uint32_t number);
std::string random_number(uint32_t number) { return big_endian(number * 0x9E3779B97F4A7C15u, 8); }
std::string dense_number(uint32_t number) { return big_endian(number, 8); }
std::string text(uint32_t number) { return "a key of some length " + std::to_string(number); }
// Returns a payload for a key. For a key of 8 bytes it also has 8 bytes, so word pages (words.h)
// contain the pair.
std::string payload_for(const std::string& key, uint32_t number) {
  return key.size() == 8 ? dense_number(number) : text(number);
}
// Returns keys that are prefixes of each other, so the tree has forks (nodes with a child for the
// end of a key).
std::string nested(uint32_t number) {
  std::string key;
  for (++number; number > 0; number /= 3) key += "ab\xFF"[number % 3];
  return key;
}

// Each thread inserts its own keys and deletes some of them. After each change it looks for a key
// that it inserted earlier. At the end it deletes all but a few keys.
class ArtThreadsKeys : public ArtThreads, public testing::WithParamInterface<KeyOf> {};

TEST_P(ArtThreadsKeys, GrowAndShrinkTogether) {
  create(GetParam()(1).size() == 8 ? 8 : 0);
  run([&](uint32_t thread) {
    const auto key = [&](uint32_t i) { return GetParam()(i * kThreads + thread); };
    const auto payload = [&](uint32_t i) { return payload_for(key(i), i); };
    for (uint32_t i = 0; i < kSteps; ++i) {
      must(put(key(i), payload(i)) == 1);
      must(put(key(i), payload(i)) == 0);
      const uint32_t earlier = i * 7919 % (i + 1);
      must(find(key(earlier)) == payload(earlier));
      if (i % 4 != 3) continue;
      const uint32_t gone = i - 3;
      must(del(key(gone), payload(gone)) == 1);
      must(find(key(gone)) == kNone);
      must(del(key(gone), payload(gone)) == 0);
      must(put(key(gone), payload(gone)) == 1);
    }
    for (uint32_t i = 0; i < kSteps; ++i) {
      const uint32_t kept = i / 16 * 16;
      must(find(key(kept)) == payload(kept));
      if (i == kept) continue;
      must(del(key(i), payload(i)) == 1);
      must(find(key(i)) == kNone);
    }
  });
  expect_right();
  EXPECT_EQ(table_.check(tree_), 0);
}

INSTANTIATE_TEST_SUITE_P(Keys, ArtThreadsKeys,
                         testing::Values(random_number, dense_number, text, nested));

// All threads insert and delete the same few pairs, so nodes change at the same time as their
// parents and children. If a pair exists at the end, one more insertion than deletions must have
// succeeded. Otherwise their numbers must be equal.
class ArtThreadsFew : public ArtThreads, public testing::WithParamInterface<KeyOf> {
 protected:
  static constexpr uint32_t kPairs = 160;

  void change_same_pairs() {
    std::vector<std::atomic<int>> there(kPairs);
    run([&](uint32_t thread) {
      std::mt19937 random(thread);
      for (uint32_t i = 0; i < 2 * kSteps; ++i) {
        const auto number = static_cast<uint32_t>(random() % kPairs);
        // For a while most changes are insertions, and then most are deletions.
        const bool inserts = random() % 8 < (i / 512 % 2 == 0 ? 6u : 2u);
        const std::string key = GetParam()(number);
        const std::string payload = payload_for(key, 0);
        const int result = inserts ? put(key, payload) : del(key, payload);
        must(result == 0 || result == 1 || (inserts && result == KEYDROME_NO_MEMORY));
        if (result == 1) there[number].fetch_add(inserts ? 1 : -1);
      }
    });
    expect_right();
    for (uint32_t number = 0; number < kPairs; ++number) {
      const std::string found = find(GetParam()(number));
      ASSERT_EQ(there[number].load(), found == kNone ? 0 : 1) << number;
    }
  }
};

TEST_P(ArtThreadsFew, EverySuccessCounts) {
  create(0);
  change_same_pairs();
}

TEST_P(ArtThreadsFew, FailedAllocationsChangeNothing) {
  create(0);
  environment_.fail_every(5);
  change_same_pairs();
  environment_.fail_every(0);
}

INSTANTIATE_TEST_SUITE_P(Keys, ArtThreadsFew,
                         testing::Values(random_number, dense_number, text, nested));

// All threads change the same pages: in each page, each thread deletes its own pair. A thread that
// removes the page with its last pair must not also remove a pair of another thread.
class ArtThreadsPages : public ArtThreads, public testing::WithParamInterface<uint32_t> {};

TEST_P(ArtThreadsPages, EachThreadDeletesItsPairOfAPage) {
  create(0);
  for (uint32_t i = 0; i < 4 * kSteps; ++i) {
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      ASSERT_EQ(put(random_number(i), big_endian(thread, GetParam())), 1);
    }
  }
  run([&](uint32_t thread) {
    for (uint32_t i = 0; i < 4 * kSteps; ++i) {
      must(del(random_number(i), big_endian(thread, GetParam())) == 1);
    }
  });
  expect_right();
  EXPECT_TRUE(scan("", 1).empty());
}

INSTANTIATE_TEST_SUITE_P(PayloadBytes, ArtThreadsPages, testing::Values(4, 8));

// Each replacement adds 1 to a payload of one of a few keys, so the sum of the payloads must be the
// number of replacements. With `spread`, each key has so many other payloads that several pages
// contain them.
class ArtThreadsCount : public ArtThreads, public testing::WithParamInterface<bool> {};

TEST_P(ArtThreadsCount, UpdatesAreNotLost) {
  constexpr uint32_t kKeys = 5;
  create(8);
  const auto payload = [](uint32_t number) { return big_endian(number, 8); };
  for (uint32_t i = 0; i < kKeys; ++i) {
    ASSERT_EQ(put(dense_number(i), payload(0)), 1);
    for (uint32_t other = 0; GetParam() && other < 60; ++other) {
      ASSERT_EQ(put(dense_number(i), "z" + text(other)), 1);
    }
  }
  run([&](uint32_t thread) {
    for (uint32_t i = 0; i < kSteps / 2; ++i) {
      const std::string key = dense_number((i + thread) % kKeys);
      for (;;) {
        const std::string before = find(key);
        must(before.size() == 8);
        if (before == kNone) return;
        uint32_t number = 0;
        for (const char byte : before) number = number << 8 | static_cast<uint8_t>(byte);
        const int result = replace(key, before, payload(number + 1));
        must(result != 2);
        if (result == 1) break;
      }
    }
  });
  expect_right();
  uint32_t sum = 0;
  for (uint32_t i = 0; i < kKeys; ++i) {
    const std::string found = find(dense_number(i));
    for (uint32_t number = 0; number <= kSteps * kThreads; ++number) {
      if (payload(number) == found) sum += number;
    }
  }
  EXPECT_EQ(sum, kSteps / 2 * kThreads);
}

INSTANTIATE_TEST_SUITE_P(Spread, ArtThreadsCount, testing::Bool());

// One thread changes a key so that it always has the payload "a" or "b". Several pages contain the
// other payloads of the key. The smallest payload is therefore "a" or "b" at every moment, and a
// search must not return another one.
TEST_F(ArtThreads, SmallestPayloadIsThatOfOneMoment) {
  create(8);
  const std::string key = dense_number(7);
  const auto other = [](uint32_t number) { return "c" + std::to_string(10 + number); };
  const std::string a = "a", b = "b", last = other(59);
  ASSERT_EQ(put(key, a), 1);
  for (uint32_t i = 0; i < 60; ++i) ASSERT_EQ(put(key, other(i)), 1);
  std::atomic<uint32_t> readers = kThreads - 1;
  const auto change = [&](uint32_t i) {
    must(put(key, b) == 1);
    must(del(key, a) == 1);
    if (i % 2 == 0) {
      must(replace(key, b, a) == 1);
    } else {
      must(put(key, a) == 1);
      must(del(key, b) == 1);
    }
  };
  run([&](uint32_t thread) {
    for (uint32_t i = 0; thread == 0 && readers > 0; ++i) change(i);
    if (thread == 0) return;
    for (uint32_t i = 0; i < kSteps; ++i) {
      const std::string smallest = find(key);
      must(smallest == a || smallest == b);
      const std::string second = find(key, &a);
      must(second == b || second == other(0));
      must(find(key, &b) == other(0));
      must(find(key, &last) == kNone);
    }
    --readers;
  });
  expect_right();
}

// Even numbers stay in the tree, while threads insert and delete odd numbers. A scan must return
// all even numbers of its range, in order, and odd numbers only with their own payload.
class ArtThreadsScans : public ArtThreads,
                        public testing::WithParamInterface<std::tuple<uint32_t, bool>> {
 protected:
  static constexpr uint32_t kNumbers = 6000;
  static constexpr uint32_t kLimit = 100;

  static std::string key(uint64_t number) {
    return big_endian(number * std::get<0>(GetParam()), 8);
  }
  static std::string payload(uint32_t number) {
    return std::get<1>(GetParam()) ? dense_number(number) : text(number);
  }

  // Inserts the odd numbers of a thread, deletes them, and repeats this.
  void change(uint32_t thread) {
    for (uint32_t i = 0; i < 4 * kSteps; ++i) {
      const uint32_t number = i * 8 % kNumbers + 2 * thread + 1;
      const bool inserts = i / (kNumbers / 8) % 2 == 0;
      must((inserts ? put(key(number), payload(number)) : del(key(number), payload(number))) == 1);
    }
  }
  void scan_from(uint32_t even) {
    const std::vector<Pair> pairs = scan(key(even), kLimit);
    must(pairs.size() == kLimit);
    for (const Pair& pair : pairs) {
      // `even` is the next even number that the scan must return.
      const bool odd = pair.first == key(even - 1);
      must(odd || pair.first == key(even));
      must(pair.second == payload(odd ? even - 1 : even));
      if (!odd) even += 2;
    }
  }
};

TEST_P(ArtThreadsScans, ScansReturnWhatStays) {
  create(8);
  for (uint32_t i = 0; i < kNumbers; i += 2) ASSERT_EQ(put(key(i), payload(i)), 1);
  std::atomic<bool> done = false;
  run([&](uint32_t thread) {
    if (thread < kThreads / 2) {
      change(thread);
      if (thread == 0) done = true;
    } else {
      std::mt19937 random(thread);
      while (!done) scan_from(static_cast<uint32_t>(random() % (kNumbers / 4) * 2));
    }
  });
  expect_right();
}

INSTANTIATE_TEST_SUITE_P(StepsAndWords, ArtThreadsScans,
                         testing::Combine(testing::Values(1, 300, 70000), testing::Bool()));

// One thread replaces the payload of each key again and again, so that it is one of two words, and
// all keys are always there. The others must see one of these two payloads, in searches and scans.
TEST_F(ArtThreads, ReplacedWordsAreWhole) {
  constexpr uint32_t kKeys = 50;
  const std::string low(8, '\x11'), high(8, '\xEE');
  create(8);
  for (uint32_t i = 0; i < kKeys; ++i) ASSERT_EQ(put(random_number(i), low), 1);
  std::atomic<uint32_t> readers = kThreads - 1;
  run([&](uint32_t thread) {
    for (uint32_t i = 0; thread == 0 && readers > 0; ++i) {
      const bool rises = i / kKeys % 2 == 0;
      must(replace(random_number(i % kKeys), rises ? low : high, rises ? high : low) == 1);
    }
    if (thread == 0) return;
    for (uint32_t i = 0; i < kSteps; ++i) {
      const std::string found = find(random_number(i % kKeys));
      must(found == low || found == high);
      if (i % 64 != 0) continue;
      const std::vector<Pair> pairs = scan(std::string(8, '\0'), 2 * kKeys);
      must(pairs.size() == kKeys);
      for (const Pair& pair : pairs) must(pair.second == low || pair.second == high);
    }
    --readers;
  });
  expect_right();
}

}  // namespace
}  // namespace keydrome
