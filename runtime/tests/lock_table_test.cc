// Tests of LockTable, which finds or makes a lock by its name: one lock per name, reuse of entries,
// and use by several threads.
#include "runtime/locks/lock_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/index.h"
#include "runtime/tests/bytes_of.h"

namespace keydrome::runtime {
namespace {

using Kind = LockName::Kind;

struct Taken {
  LockTable::Entry* entry = nullptr;
  std::vector<LockTable::Entry*> leases;  // `entry`, once for each time that it is taken
};

class LockTableTest : public testing::Test {
 protected:
  // Returns the name with this number. The names are keys, gaps and ends of two indexes.
  LockName name(uint32_t number) const {
    const std::string key(number / 6 % 40, 'k');
    const std::string text = key + std::to_string(number / 6);
    return {indexes_[number % 2], std::array{Kind::kKey, Kind::kGap, Kind::kEnd}[number % 3],
            bytes_of(text)};
  }

  std::array<Index, 2> indexes_ = {Index("a", VARCHAR, nullptr, nullptr),
                                   Index("b", VARCHAR, nullptr, nullptr)};
  LockTable table_;
};

// The table grows to thousands of names and shrinks again, several times. At the end it is empty.
TEST_F(LockTableTest, HasOneLockPerNameWhileItIsTaken) {
  constexpr uint32_t kNames = 20'000;
  std::mt19937 random(11);  // NOLINT(bugprone-random-generator-seed): the same run each time
  std::map<uint32_t, Taken> model;
  const auto give_back = [&](std::map<uint32_t, Taken>::iterator taken) {
    table_.give_back(*taken->second.leases.back());
    taken->second.leases.pop_back();
    if (taken->second.leases.empty()) model.erase(taken);
  };
  for (const uint32_t taking : {9u, 1u, 9u, 1u, 5u, 0u}) {  // probability of a take, in tenths
    for (uint32_t step = 0; step < 40'000; ++step) {
      const auto number = static_cast<uint32_t>(random() % kNames);
      if (random() % 10 < taking) {
        Taken& taken = model[number];
        LockTable::Entry& entry = table_.take(name(number)).keep();
        EXPECT_EQ(entry.name, name(number).text());
        ASSERT_TRUE(taken.entry == nullptr || taken.entry == &entry);
        taken.entry = &entry;
        taken.leases.push_back(&entry);
      } else if (!model.empty()) {
        auto taken = model.lower_bound(number);
        give_back(taken == model.end() ? model.begin() : taken);
      }
      const auto other = static_cast<uint32_t>(random() % kNames);
      const auto lease = table_.take_if_there(name(other));
      ASSERT_EQ(lease.has_value(), model.contains(other));
      ASSERT_TRUE(!lease || &lease->entry() == model[other].entry);
    }
  }
  EXPECT_TRUE(model.empty());
}

// When the table reuses an entry for another name, the entry's lock must be free.
TEST_F(LockTableTest, LocksAreFreeWhenTheyAreTakenAgain) {
  LockManager manager;
  Waiter one_waiter, other_waiter;
  LockOwner one(one_waiter), other(other_waiter);
  for (uint32_t number = 0; number < 5'000; ++number) {
    LockOwner& owner = number % 2 == 0 ? one : other;
    const LockTable::Lease lease = table_.take(name(number));
    Lock& lock = lease.entry().lock;
    const LockView view = manager.view(owner, lock);
    EXPECT_FALSE(view.mine || view.others);
    EXPECT_TRUE(manager.try_acquire(owner, lock, LockMode::kExclusive));
    manager.release_all(owner);
  }
}

TEST_F(LockTableTest, ThreadsExcludeEachOther) {
  constexpr uint32_t kThreads = 4, kNames = 30, kRounds = 20'000;
  LockManager manager;
  std::array<uint64_t, kNames> counts{};  // lock number i guards counts[i]
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Waiter waiter;
      LockOwner owner(waiter);
      for (uint32_t round = 0; round < kRounds; ++round) {
        const uint32_t number = (round * 7 + thread) % kNames;
        const LockTable::Lease lease = table_.take(name(number));
        ASSERT_TRUE(manager.acquire(owner, lease.entry().lock, LockMode::kExclusive));
        ++counts.at(number);
        manager.release_all(owner);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t sum = 0;
  for (const uint64_t count : counts) sum += count;
  EXPECT_EQ(sum, kThreads * kRounds);
  for (uint32_t number = 0; number < kNames; ++number) {
    EXPECT_FALSE(table_.take_if_there(name(number)).has_value());
  }
}

}  // namespace
}  // namespace keydrome::runtime
