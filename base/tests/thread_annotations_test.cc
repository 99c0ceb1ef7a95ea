// Tests base/thread_annotations.h: Mutex excludes other threads, and Condition wakes them up.
#include "base/thread_annotations.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace keydrome {
namespace {

class Counter {
 public:
  void add() {
    MutexLock lock(mutex_);
    ++value_;
    changed_.notify_all();
  }
  int wait_for(int value) {
    MutexLock lock(mutex_);
    while (value_ < value) changed_.wait(mutex_);
    return value_;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int value_ KEYDROME_GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, ExcludesAndWakes) {
  constexpr int kThreads = 4, kRounds = 1000;
  Counter counter;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) counter.add();
    });
  }
  EXPECT_EQ(counter.wait_for(kThreads * kRounds), kThreads * kRounds);
}

}  // namespace
}  // namespace keydrome
