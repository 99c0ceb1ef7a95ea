// Tests of LockManager, which gives transactions shared and exclusive locks: modes, queues,
// upgrades, deadlocks and fairness, with real threads.
#include "runtime/locks/lock_manager.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <future>
#include <random>
#include <thread>
#include <vector>

namespace keydrome::runtime {
namespace {

constexpr LockMode kShared = LockMode::kShared;
constexpr LockMode kExclusive = LockMode::kExclusive;

// A thread with one transaction, which requests locks for a test.
struct Locker {
  Waiter waiter;
  LockOwner owner{waiter};
};

class LockManagerTest : public testing::Test {
 protected:
  bool acquire(Locker& locker, Lock& lock, LockMode mode) {
    return manager_.acquire(locker.owner, lock, mode);
  }
  void release(Locker& locker) { manager_.release_all(locker.owner); }

  // Starts a request that must wait. Returns when the request is in the queue.
  std::future<bool> waiting(Locker& locker, Lock& lock, LockMode mode) {
    const uint64_t waits = manager_.statistics().waits;
    auto granted = std::async(std::launch::async,
                              [this, &locker, &lock, mode] { return acquire(locker, lock, mode); });
    while (manager_.statistics().waits == waits) std::this_thread::yield();
    return granted;
  }

  LockManager manager_;
  Lock a_, b_, c_;
  std::array<Locker, 4> lockers_;
};

TEST_F(LockManagerTest, ReadersShare) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  EXPECT_TRUE(acquire(lockers_[1], a_, kShared));
  EXPECT_EQ(manager_.statistics().waits, 0u);
  release(lockers_[0]);
  release(lockers_[1]);
}

TEST_F(LockManagerTest, ARepeatedRequestSucceedsAtOnce) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  EXPECT_EQ(lockers_[0].owner.held(), 1u);
  release(lockers_[0]);
  EXPECT_EQ(lockers_[0].owner.held(), 0u);
}

TEST_F(LockManagerTest, AWriterKeepsOthersOut) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  auto reader = waiting(lockers_[1], a_, kShared);
  auto writer = waiting(lockers_[2], a_, kExclusive);
  release(lockers_[0]);
  EXPECT_TRUE(reader.get());
  release(lockers_[1]);
  EXPECT_TRUE(writer.get());
  release(lockers_[2]);
}

TEST_F(LockManagerTest, ALoneReaderUpgradesAheadOfTheQueue) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  auto writer = waiting(lockers_[1], a_, kExclusive);
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  release(lockers_[0]);
  EXPECT_TRUE(writer.get());
  release(lockers_[1]);
}

TEST_F(LockManagerTest, TryingDoesNotWait) {
  const auto attempt = [&](Locker& locker, LockMode mode) {
    return manager_.try_acquire(locker.owner, a_, mode);
  };
  EXPECT_TRUE(attempt(lockers_[0], kShared));
  EXPECT_TRUE(attempt(lockers_[1], kShared));
  EXPECT_FALSE(attempt(lockers_[0], kExclusive));
  EXPECT_FALSE(attempt(lockers_[2], kExclusive));
  release(lockers_[1]);
  EXPECT_TRUE(attempt(lockers_[0], kExclusive));
  EXPECT_FALSE(attempt(lockers_[2], kShared));
  EXPECT_EQ(lockers_[0].owner.held(), 1u);
  EXPECT_EQ(lockers_[2].owner.held(), 0u);
  EXPECT_EQ(manager_.statistics().waits, 0u);
  release(lockers_[0]);
}

TEST_F(LockManagerTest, TheViewDistinguishesMineFromOthers) {
  const auto view = [&](Locker& locker) { return manager_.view(locker.owner, a_); };
  EXPECT_FALSE(view(lockers_[0]).mine || view(lockers_[0]).others);
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  EXPECT_TRUE(view(lockers_[0]).mine && !view(lockers_[0]).others);
  EXPECT_TRUE(!view(lockers_[1]).mine && view(lockers_[1]).others);
  EXPECT_TRUE(acquire(lockers_[1], a_, kShared));
  EXPECT_TRUE(view(lockers_[0]).mine && view(lockers_[0]).others);
  release(lockers_[0]);
  release(lockers_[1]);
}

// LockOwner remembers only its newest locks. For an older lock, the manager must look at the lock.
TEST_F(LockManagerTest, AnOldLockIsStillMine) {
  std::array<Lock, 20> locks;
  for (Lock& lock : locks) EXPECT_TRUE(acquire(lockers_[0], lock, kShared));
  EXPECT_TRUE(acquire(lockers_[0], locks[0], kExclusive));
  EXPECT_TRUE(acquire(lockers_[0], locks[0], kExclusive));
  EXPECT_TRUE(acquire(lockers_[0], locks[1], kShared));
  EXPECT_EQ(lockers_[0].owner.held(), locks.size());
  EXPECT_FALSE(manager_.try_acquire(lockers_[1].owner, locks[0], kShared));
  release(lockers_[0]);
  EXPECT_TRUE(acquire(lockers_[1], locks[0], kExclusive));
  release(lockers_[1]);
  EXPECT_EQ(manager_.statistics().locks, locks.size() + 1);
}

TEST_F(LockManagerTest, WaitingThreadsAreCounted) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  auto first = waiting(lockers_[1], a_, kShared);
  auto second = waiting(lockers_[2], a_, kShared);
  while (manager_.statistics().waiting != 2) std::this_thread::yield();
  release(lockers_[0]);
  EXPECT_EQ(manager_.statistics().waiting, 0u);
  EXPECT_TRUE(first.get() && second.get());
  release(lockers_[1]);
  release(lockers_[2]);
}

TEST_F(LockManagerTest, AnUpgradeWaitsForTheOtherReaders) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  EXPECT_TRUE(acquire(lockers_[1], a_, kShared));
  auto upgrade = waiting(lockers_[0], a_, kExclusive);
  release(lockers_[1]);
  EXPECT_TRUE(upgrade.get());
  EXPECT_EQ(lockers_[0].owner.held(), 1u);
  release(lockers_[0]);
}

// A reader that arrives after a waiting writer waits too, so writers do not starve. A writer that
// arrives after a waiting reader waits too, so readers do not starve.
TEST_F(LockManagerTest, TheQueueIsServedInOrder) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  auto writer = waiting(lockers_[1], a_, kExclusive);
  auto reader = waiting(lockers_[2], a_, kShared);
  auto second_writer = waiting(lockers_[3], a_, kExclusive);
  release(lockers_[0]);
  EXPECT_TRUE(writer.get());
  EXPECT_EQ(reader.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  release(lockers_[1]);
  EXPECT_TRUE(reader.get());
  EXPECT_EQ(second_writer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  release(lockers_[2]);
  EXPECT_TRUE(second_writer.get());
  release(lockers_[3]);
}

// A thread that takes and releases a lock without pause can overtake a sleeping thread only for a
// limited time.
TEST_F(LockManagerTest, NoThreadIsOvertakenForEver) {
  for (const LockMode mode : {kShared, kExclusive}) {
    EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
    auto patient = waiting(lockers_[1], a_, mode);
    auto served = std::async(std::launch::async, [&] {
      const bool granted = patient.get();
      release(lockers_[1]);
      return granted;
    });
    while (served.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) {
      release(lockers_[0]);
      EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
    }
    release(lockers_[0]);
    EXPECT_TRUE(served.get());
  }
}

TEST_F(LockManagerTest, DeadlockOfTwoHasOneVictim) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  EXPECT_TRUE(acquire(lockers_[1], b_, kExclusive));
  auto first = waiting(lockers_[0], b_, kExclusive);
  EXPECT_FALSE(acquire(lockers_[1], a_, kExclusive));  // it waited last, so it is the youngest
  release(lockers_[1]);
  EXPECT_TRUE(first.get());
  release(lockers_[0]);
  EXPECT_EQ(manager_.statistics().deadlocks, 1u);
}

TEST_F(LockManagerTest, DeadlockOfThreeHasOneVictim) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  EXPECT_TRUE(acquire(lockers_[1], b_, kShared));
  EXPECT_TRUE(acquire(lockers_[2], c_, kExclusive));
  auto first = waiting(lockers_[0], b_, kExclusive);
  auto second = waiting(lockers_[1], c_, kShared);
  EXPECT_FALSE(acquire(lockers_[2], a_, kShared));
  release(lockers_[2]);
  EXPECT_TRUE(second.get());
  release(lockers_[1]);
  EXPECT_TRUE(first.get());
  release(lockers_[0]);
  EXPECT_EQ(manager_.statistics().deadlocks, 1u);
}

TEST_F(LockManagerTest, TwoUpgradesAreADeadlock) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  EXPECT_TRUE(acquire(lockers_[1], a_, kShared));
  auto first = waiting(lockers_[0], a_, kExclusive);
  EXPECT_FALSE(acquire(lockers_[1], a_, kExclusive));
  release(lockers_[1]);
  EXPECT_TRUE(first.get());
  release(lockers_[0]);
}

// The cycle includes a queue: the reader waits for a writer that waits for the same lock.
TEST_F(LockManagerTest, WaitingAfterAWriterCanCloseACycle) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kShared));
  EXPECT_TRUE(acquire(lockers_[1], b_, kExclusive));
  auto writer = waiting(lockers_[1], a_, kExclusive);
  EXPECT_TRUE(acquire(lockers_[2], c_, kExclusive));
  auto reader = waiting(lockers_[2], a_, kShared);
  EXPECT_FALSE(acquire(lockers_[0], c_, kShared));
  release(lockers_[0]);
  EXPECT_TRUE(writer.get());
  release(lockers_[1]);
  EXPECT_TRUE(reader.get());
  release(lockers_[2]);
}

// A victim keeps its age. When it tries again, it is older than the other owner. The other owner
// then becomes the victim, although it began to wait first.
TEST_F(LockManagerTest, AVictimThatTriesAgainGrowsOld) {
  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  EXPECT_TRUE(acquire(lockers_[1], b_, kExclusive));
  auto first = waiting(lockers_[0], b_, kExclusive);
  EXPECT_FALSE(acquire(lockers_[1], a_, kExclusive));
  release(lockers_[1]);
  EXPECT_TRUE(first.get());
  release(lockers_[0]);
  lockers_[0].owner.forget_age();

  EXPECT_TRUE(acquire(lockers_[0], a_, kExclusive));
  EXPECT_TRUE(acquire(lockers_[1], b_, kExclusive));
  auto younger = waiting(lockers_[0], b_, kExclusive);
  auto older = std::async(std::launch::async, [&] { return acquire(lockers_[1], a_, kExclusive); });
  EXPECT_FALSE(younger.get());
  release(lockers_[0]);
  EXPECT_TRUE(older.get());
  release(lockers_[1]);
}

TEST_F(LockManagerTest, AThreadsOwnOtherTransactionIsADeadlockAtOnce) {
  Waiter waiter;
  LockOwner own(waiter);
  LockOwner automatic(waiter);
  EXPECT_TRUE(manager_.acquire(own, a_, kShared));
  EXPECT_TRUE(manager_.acquire(automatic, a_, kShared));
  manager_.release_all(automatic);
  EXPECT_FALSE(manager_.acquire(automatic, a_, kExclusive));
  manager_.release_all(own);
  EXPECT_TRUE(manager_.acquire(automatic, a_, kExclusive));
  manager_.release_all(automatic);
}

// In an auto-commit call, thread 1 waits for thread 2, which waits for the transaction that thread
// 1 has open.
TEST_F(LockManagerTest, ACycleThroughBothTransactionsOfAThread) {
  Waiter waiter;
  LockOwner own(waiter);
  LockOwner automatic(waiter);
  EXPECT_TRUE(manager_.acquire(own, a_, kExclusive));
  EXPECT_TRUE(acquire(lockers_[0], b_, kExclusive));
  auto other = waiting(lockers_[0], a_, kExclusive);
  EXPECT_FALSE(manager_.acquire(automatic, b_, kExclusive));
  manager_.release_all(automatic);
  manager_.release_all(own);
  EXPECT_TRUE(other.get());
  release(lockers_[0]);
}

// Many threads run random transactions on few locks. The locks protect plain memory, so an error
// shows as a data race under a sanitizer, or as a wrong sum.
TEST_F(LockManagerTest, ManyThreadsMakeProgress) {
  constexpr uint64_t kFirstSeed = 41;
  constexpr int kThreads = 8;
  constexpr int kTransactions = 2000;
  constexpr size_t kLocks = 5;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kFirstSeed));
  std::array<Lock, kLocks> locks;
  std::array<uint64_t, kLocks> data{};
  std::atomic<uint64_t> writes = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(kFirstSeed + static_cast<uint64_t>(thread));
      Locker locker;
      for (int i = 0; i < kTransactions;) {
        uint64_t written = 0;
        bool deadlock = false;
        for (int step = 0; step < 3 && !deadlock; ++step) {
          const size_t lock = random() % kLocks;
          const LockMode mode = random() % 2 == 0 ? kShared : kExclusive;
          deadlock = !acquire(locker, locks[lock], mode);
          if (deadlock) break;
          if (mode == kExclusive) {
            ++data[lock];
            ++written;
          } else {
            written += data[lock] == UINT64_MAX ? 1 : 0;
          }
        }
        writes += written;
        release(locker);
        if (deadlock) continue;
        locker.owner.forget_age();
        ++i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t sum = 0;
  for (const uint64_t one : data) sum += one;
  EXPECT_EQ(sum, writes);
  std::printf("%llu waits, %llu deadlocks\n",
              static_cast<unsigned long long>(manager_.statistics().waits),
              static_cast<unsigned long long>(manager_.statistics().deadlocks));
}

}  // namespace
}  // namespace keydrome::runtime
