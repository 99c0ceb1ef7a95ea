// Tests structures that promise KEYDROME_THREAD_SAFE (keydrome/structure.h) with eight threads.
// Calls must be linearizable, scans must return each pair that exists all the time, and calls whose
// allocations fail must change nothing. For structures without this promise, the tests check
// nothing. contract_test.cc has main().
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "structures/tests/history.h"
#include "structures/tests/model_checks.h"
#include "structures/tests/shared_environment.h"

namespace keydrome {
namespace {

constexpr uint32_t kThreads = 8;
// After each kSteps steps, all threads wait for each other, and retired memory is freed.
constexpr uint32_t kSteps = 100;
constexpr uint32_t kRounds = 40 / kLess;
constexpr uint32_t kNumbers = 600;  // number of keys
constexpr uint64_t kSeed = 41;

bool is_thread_safe() { return (table().capabilities & KEYDROME_THREAD_SAFE) != 0; }

// Returns a payload. Payloads have the order of their numbers. They have several sizes, because a
// structure may store short payloads in another way than long ones.
std::string payload_of(int number) {
  constexpr uint32_t kSizes[] = {8, 1, KEYDROME_PAYLOAD_BYTES_MAX};
  const uint32_t size = std::min(kSizes[number], Limits::of(table()).payload_bytes_max);
  return std::string(size, static_cast<char>('a' + number));
}
int payloads() {
  const uint32_t most = Limits::of(table()).payloads_max;
  return static_cast<int>(most == 0 ? Call::kPayloadsMost : std::min(most, Call::kPayloadsMost));
}

class Threads : public testing::TestWithParam<Shape> {
 protected:
  std::string key(uint32_t number) const {
    const uint32_t size = source_.key_bytes();
    if (size > 0) return big_endian(number, size);
    const std::string prefix(GetParam() == Shape::kCommonPrefix ? 100 : 0, 'k');
    return prefix + std::to_string(1000 + number);
  }

  // Calls `step` with the number of the thread: kRounds * kSteps times in each thread.
  void run(const std::function<void(uint32_t, std::mt19937_64&)>& step) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
    std::barrier all_wait(kThreads, [this]() noexcept { environment_.free_retired(); });
    std::vector<std::thread> threads;
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937_64 random(kSeed + thread);
        for (uint32_t i = 0; i < kRounds * kSteps; ++i) {
          if (i % kSteps == 0) all_wait.arrive_and_wait();
          step(thread, random);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Returns the payloads of a key in order.
  std::vector<std::string> payloads_of(const std::string& key) const {
    std::vector<std::string> all;
    std::optional<std::string> after;
    while ((after = structure_.find(key, after))) all.push_back(*after);
    return all;
  }

  KeydromeStructure* create() const {
    const KeydromeSetup setup{sizeof setup, source_.key_bytes(), nullptr};
    return table().create(environment_.get(), &setup);
  }

  const PairSource source_{GetParam(), kSeed, 1, Limits::of(table())};
  SharedEnvironment environment_;
  Structure structure_{table(), create()};
};

// All threads change a few shared keys, and these calls are recorded. In between, each thread
// changes its own keys. It knows the right results of these calls, regardless of how other threads
// change the nodes.
class RecordedThreads : public Threads {
 protected:
  static bool is_shared(uint32_t number) { return number % 150 == 75; }
  static constexpr std::array<uint32_t, 4> kShared{75, 225, 375, 525};

  void step(uint32_t thread, std::mt19937_64& random) {
    const auto number = static_cast<uint32_t>(random() % (kNumbers / kThreads)) * kThreads + thread;
    if (random() % 2 == 0 && !is_shared(number)) {
      change_own(thread, key(number), random);
    } else if (random() % 8 == 0 && table().find_batch != nullptr) {
      find_all(thread);
    } else {
      call_shared(thread, random() % kShared.size(), random);
    }
  }

  void change_own(uint32_t thread, const std::string& key, std::mt19937_64& random) {
    const Pair pair{key,
                    payload_of(static_cast<int>(random() % static_cast<uint64_t>(payloads())))};
    Model& own = own_[thread];
    const bool exists = own.count(pair) > 0;
    // The thread first inserts most of its keys, then deletes them, and so on.
    if (own.empty() || own.size() > kNumbers / kThreads) grows_[thread] = own.empty();
    const bool inserts = random() % 4 < (grows_[thread] ? 3u : 1u);
    const int result = inserts ? structure_.put(pair) : structure_.del(pair);
    if (result == KEYDROME_NO_MEMORY) {
      ++failures_;
      return;
    }
    EXPECT_EQ(result, exists != inserts ? 1 : 0)
        << (inserts ? "put" : "del") << " of a pair that only this thread changes; the pair "
        << (exists ? "exists" : "does not exist");
    if (inserts) own.insert(pair);
    if (!inserts) own.erase(pair);
    if (table().find == nullptr) return;
    const auto first = own.lower_bound({key, ""});
    const bool found = first != own.end() && first->first == key;
    EXPECT_EQ(structure_.find(key), found ? std::optional(first->second) : std::nullopt)
        << "find of a key that only this thread changes";
  }

  void call_shared(uint32_t thread, size_t shared, std::mt19937_64& random) {
    const std::string name = key(kShared[shared]);
    const auto draw = [&] {
      return static_cast<int>(random() % static_cast<uint64_t>(payloads()));
    };
    Call call{static_cast<Call::Kind>(random() % 4), draw(), draw(), 0, 0, 0};
    const std::string payload = payload_of(call.payload);
    const std::string now = payload_of(call.now);
    if (call.kind == Call::Kind::kReplace && table().replace == nullptr)
      call.kind = Call::Kind::kPut;
    if (call.kind == Call::Kind::kFind && table().find == nullptr) call.kind = Call::Kind::kDel;
    call.begin = tick();
    switch (call.kind) {
      case Call::Kind::kPut:
        call.result = structure_.put({name, payload});
        break;
      case Call::Kind::kDel:
        call.result = structure_.del({name, payload});
        break;
      case Call::Kind::kReplace:
        call.result =
            table().replace(structure_.get(), bytes_of(name), bytes_of(payload), bytes_of(now));
        break;
      case Call::Kind::kFind:
        if (random() % 2 == 0) call.payload = Call::kNone;
        call.result = number_of(
            structure_.find(name, call.payload < 0 ? std::nullopt : std::optional(payload)));
    }
    call.end = tick();
    if (call.kind != Call::Kind::kFind && call.result < 0) {
      EXPECT_EQ(call.result, KEYDROME_NO_MEMORY) << "the only error of put, del and replace";
      ++failures_;
    }
    histories_[shared][thread].push_back(call);
  }

  void find_all(uint32_t thread) {
    std::array<std::string, kShared.size()> keys;
    std::array<char[KEYDROME_PAYLOAD_BYTES_MAX], kShared.size()> bytes;
    std::vector<KeydromeLookup> lookups;
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = key(kShared[i]);
      lookups.push_back({bytes_of(keys[i]), {bytes[i], 0, sizeof bytes[i]}, -9});
    }
    const uint64_t begin = tick();
    table().find_batch(structure_.get(), static_cast<uint32_t>(keys.size()), lookups.data());
    const uint64_t end = tick();
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_TRUE(lookups[i].found == 0 || lookups[i].found == 1)
          << "find_batch set `found` to " << lookups[i].found << "; it must be 0 or 1";
      std::optional<std::string> found;
      if (lookups[i].found == 1) found.emplace(bytes[i], lookups[i].payload.size);
      histories_[i][thread].push_back(
          {Call::Kind::kFind, Call::kNone, 0, number_of(found), begin, end});
    }
  }

  // Returns the number of a payload. For wrong bytes, returns a number that no call can return.
  static int number_of(const std::optional<std::string>& payload) {
    if (!payload) return Call::kNone;
    for (int number = 0; number < payloads(); ++number) {
      if (*payload == payload_of(number)) return number;
    }
    return static_cast<int>(Call::kPayloadsMost);
  }

  // Returns a number larger than those of all earlier calls. Relaxed order is enough on x86-64,
  // where the operation is a full barrier. A stronger order would hide races from ThreadSanitizer.
  uint64_t tick() {
#ifdef KEYDROME_SANITIZED
    return clock_.fetch_add(1, std::memory_order_relaxed);
#else
    return clock_.fetch_add(1);
#endif
  }

  void expect_linearizable() {
    for (size_t i = 0; i < kShared.size(); ++i) {
      EXPECT_TRUE(is_linearizable(histories_[i]))
          << "no order of the calls on key " << key(kShared[i]) << " explains all their results, "
          << "but a structure with KEYDROME_THREAD_SAFE must be linearizable";
    }
  }
  // Each thread's own keys must have the payloads that the thread expects. The shared keys are read
  // once more, and these reads are added to the histories.
  void expect_final_state() {
    EXPECT_TRUE(structure_.is_sound());
    Model expected;
    for (const Model& own : own_) expected.insert(own.begin(), own.end());
    for (size_t i = 0; i < kShared.size() && table().find != nullptr; ++i) {
      int before = Call::kNone;
      for (const std::string& payload : payloads_of(key(kShared[i]))) {
        const int number = number_of(payload);
        const uint64_t begin = tick();
        histories_[i][0].push_back({Call::Kind::kFind, before, 0, number, begin, tick()});
        before = number;
        expected.insert({key(kShared[i]), payload});
      }
      const uint64_t begin = tick();
      histories_[i][0].push_back({Call::Kind::kFind, before, 0, Call::kNone, begin, tick()});
    }
    if (table().find != nullptr) expect_same(structure_, expected, source_);
  }

  std::atomic<uint64_t> clock_ = 1;
  std::atomic<uint64_t> failures_ = 0;
  std::array<Model, kThreads> own_;
  std::array<bool, kThreads> grows_{};
  std::array<History, kShared.size()> histories_{History(kThreads), History(kThreads),
                                                 History(kThreads), History(kThreads)};
};

constexpr Shape kShapes[] = {Shape::kInt32, Shape::kInt64, Shape::kText, Shape::kCommonPrefix};
INSTANTIATE_TEST_SUITE_P(Shapes, RecordedThreads, testing::ValuesIn(kShapes));

TEST_P(RecordedThreads, CallsAreLinearizable) {
  if (!is_thread_safe()) return;  // not promised
  run([&](uint32_t thread, std::mt19937_64& random) { step(thread, random); });
  EXPECT_EQ(failures_.load(), 0u) << "calls failed, but no allocation failed";
  expect_final_state();
  expect_linearizable();
}

TEST_P(RecordedThreads, FailedAllocationsChangeNothing) {
  if (!is_thread_safe()) return;  // not promised
  environment_.fail_every(3);
  run([&](uint32_t thread, std::mt19937_64& random) { step(thread, random); });
  environment_.fail_every(0);
  EXPECT_GT(failures_.load(), 0u)
      << "every third allocation failed, but no call returned KEYDROME_NO_MEMORY";
  expect_final_state();
  expect_linearizable();
}

TEST_P(RecordedThreads, AReplacedPayloadIsNeverMissing) {
  if (!is_thread_safe() || payloads() < 2) return;                    // not promised
  if (table().replace == nullptr || table().find == nullptr) return;  // optional
  const std::string key = this->key(kShared[0]);
  ASSERT_TRUE(structure_.put_returns({key, payload_of(0)}, 1));
  run([&](uint32_t thread, std::mt19937_64& random) {
    for (int i = 0; i < (thread < 2 ? 5 : 20); ++i) {
      const auto draw = static_cast<int>(random() % static_cast<uint64_t>(payloads()));
      if (thread >= 2) {
        const int found = number_of(structure_.find(key));
        EXPECT_TRUE(found >= 0 && found < payloads())
            << "find returned no payload, or a wrong one, while another thread replaced the "
               "payload";
      } else {
        const std::string before = payload_of(draw), now = payload_of((draw + 1) % payloads());
        EXPECT_GE(table().replace(structure_.get(), bytes_of(key), bytes_of(before), bytes_of(now)),
                  0)
            << "replace returned an error, but no allocation failed";
      }
    }
  });
  EXPECT_EQ(payloads_of(key).size(), 1u) << "a replaced payload must not remain";
  EXPECT_TRUE(structure_.is_sound());
}

// Every third pair exists all the time. Six threads insert and delete the other pairs, and two
// threads scan.
class ScanningThreads : public Threads {
 protected:
  static constexpr uint32_t kScanners = 2;

  // Pair 3n + 1 has the same key as pair 3n, if the structure can have several payloads for a key.
  Pair pair(uint32_t number) const {
    const bool second = number % 3 == 1 && payloads() > 1;
    return {key(second ? number - 1 : number), payload_of(second ? 1 : 0)};
  }
  void fill() {
    for (uint32_t number = 0; number < kNumbers; ++number) {
      all_.insert(pair(number));
      if (number % 3 != 0) continue;
      stable_.insert(pair(number));
      ASSERT_TRUE(structure_.put_returns(pair(number), 1));
    }
  }
  void change(uint32_t thread, std::mt19937_64& random) {
    constexpr uint32_t kWriters = kThreads - kScanners;
    const auto mine = static_cast<uint32_t>(random() % (kNumbers / 3 / kWriters));
    const Pair pair = this->pair((mine * kWriters + thread) * 3 + 1 + random() % 2);
    if (random() % 2 == 0) {
      EXPECT_GE(structure_.put(pair), 0) << "put returned an error, but no allocation failed";
    } else {
      EXPECT_GE(structure_.del(pair), 0) << "del returned an error, but no allocation failed";
    }
  }
  // Makes one scan, in runs of at most `limit` pairs.
  void scan(const Pair& from, uint32_t limit) {
    auto expected = stable_.lower_bound(from);
    Pair after = from;
    for (bool first = true, more = true; more; first = false) {
      const Scanned run = structure_.scan(after.first, after.second, !first, RunBuffer(limit));
      for (const Pair& pair : run.pairs) {
        EXPECT_TRUE(first ? pair >= after : pair > after) << "scan returned pairs out of order";
        EXPECT_EQ(all_.count(pair), 1u) << "scan returned a pair that never existed";
        if (expected != stable_.end() && pair >= *expected) {
          EXPECT_EQ(pair, *expected) << "scan missed a pair that exists all the time";
          ++expected;
        }
        first = false;
        after = pair;
      }
      more = run.more && !run.pairs.empty();
      EXPECT_EQ(more, run.more)
          << "scan returned 1 with an empty run; 1 means that a pair may follow";
    }
    EXPECT_EQ(expected, stable_.end()) << "scan returned 0 although further pairs exist";
  }

  Model all_;
  Model stable_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, ScanningThreads, testing::ValuesIn(kShapes));

TEST_P(ScanningThreads, ScansMissNoPair) {
  if (!is_thread_safe() || !structure_.is_ordered()) return;  // not promised
  ASSERT_NO_FATAL_FAILURE(fill());
  run([&](uint32_t thread, std::mt19937_64& random) {
    if (thread < kThreads - kScanners) {
      change(thread, random);
    } else if (random() % 8 == 0) {
      constexpr uint32_t kLimits[] = {1, 7, 64, 1000};
      scan(pair(static_cast<uint32_t>(random() % kNumbers)), kLimits[random() % 4]);
    }
  });
  EXPECT_TRUE(structure_.is_sound());
}

}  // namespace
}  // namespace keydrome
