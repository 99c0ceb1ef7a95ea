// Tests contract A (keydrome/index.h) with many concurrent threads, which retry after DEADLOCK.
// Sums must stay constant, updates must not be lost, scans must be repeatable, and all threads must
// make progress. Transfers also run in one thread first, which shows failures that do not depend on
// concurrency.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "indexes/tests/library.h"

namespace keydrome {
namespace {

// A transaction that does not commit is given up after this many attempts, but not before this time
// has passed: on a busy machine, the thread that holds a lock may have to wait for a processor.
// After the first transaction that was given up, the time no longer counts, so that a library that
// commits nothing fails soon.
constexpr int kAttemptsMax = 10000;
constexpr std::chrono::seconds kTimeMin{2};
std::atomic<bool> gave_up = false;

bool may_try_again(int attempts, std::chrono::steady_clock::time_point start) {
  if (attempts < kAttemptsMax) return true;
  if (gave_up.load()) return false;
  return attempts % kAttemptsMax != 0 || std::chrono::steady_clock::now() - start < kTimeMin;
}

// A call of a transaction returned `code`, or abortTransaction returned `aborted` after DEADLOCK.
// Reports the result that is wrong. `call` names the call.
void report_wrong_code(const char* call, ErrCode code, ErrCode aborted) {
  if (code != DEADLOCK) {
    ADD_FAILURE() << call << " returned " << code_name(code)
                  << ", but must return SUCCESS or DEADLOCK here";
  } else {
    ADD_FAILURE() << "abortTransaction returned " << code_name(aborted) << " after " << call
                  << " had returned DEADLOCK, but must return SUCCESS or TXN_DNE";
  }
}

// Runs `body` in a transaction, and repeats the transaction after DEADLOCK until it commits. `body`
// returns SUCCESS to commit, or DEADLOCK to be repeated. Returns false if the transaction is given
// up, or if a call returns another result code.
bool commit_with_retry(const std::function<ErrCode(TxnState*)>& body) {
  const auto start = std::chrono::steady_clock::now();
  for (int attempt = 0; may_try_again(attempt, start); ++attempt) {
    if (attempt > 0) std::this_thread::yield();
    TxnState* txn = nullptr;
    ErrCode code = library().begin(&txn);
    if (code == DEADLOCK) {
      if (txn != nullptr) library().abort(txn);
      continue;
    }
    const char* call = "beginTransaction";
    if (code == SUCCESS) {
      code = body(txn);
      call = last_call();
    }
    if (code == SUCCESS) {
      code = library().commit(txn);
      call = "commitTransaction";
    }
    if (code == SUCCESS) return true;
    const ErrCode aborted = library().abort(txn);
    if (code != DEADLOCK || (aborted != SUCCESS && aborted != TXN_DNE)) {
      report_wrong_code(call, code, aborted);
      return false;
    }
  }
  gave_up.store(true);
  ADD_FAILURE() << "a transaction received DEADLOCK in every attempt, and it made at least "
                << kAttemptsMax
                << ": the library must let one of several conflicting transactions commit";
  return false;
}

void in_threads(int count, const std::function<void(int)>& body) {
  std::latch start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

int64_t number(const std::string& payload) { return std::strtoll(payload.c_str(), nullptr, 10); }

// Adds `amount` to the number that is the only payload of the key.
ErrCode add(const Handle& handle, TxnState* txn, const KeyValue& key, int64_t amount) {
  const Read read = handle.get(txn, key);
  if (read.code != SUCCESS) return read.code;
  std::this_thread::yield();  // lets other threads run between the read and the write
  ErrCode code = handle.erase(txn, key, read.payload);
  if (code != SUCCESS) return code;
  return handle.insert(txn, key, std::to_string(number(read.payload) + amount));
}

// Adds up the numbers of all records in an index, and counts the records.
ErrCode sum(const Handle& handle, TxnState* txn, int64_t* total, int* count) {
  Read read = handle.next(txn);
  for (; read.code == SUCCESS && *count < kScanMax; read = handle.next(txn)) {
    *total += number(read.payload);
    ++*count;
  }
  return read.code == DB_END ? SUCCESS : read.code;
}

constexpr int kAccounts = 40;  // per index
constexpr int64_t kBalance = 1000;

class RequiredConcurrent : public testing::TestWithParam<KeyType> {
 protected:
  void SetUp() override {
    for (const char* name : names) {
      const Handle handle(name, GetParam());
      for (int i = 0; i < kAccounts; ++i) {
        ASSERT_EQ(handle.insert(nullptr, handle.key(i), std::to_string(kBalance)), SUCCESS);
      }
    }
  }

  void transfer(int thread, int transfers) const {
    const Handle a(names[0], GetParam());
    const Handle b(names[1], GetParam());
    std::mt19937_64 random(test_seed() + static_cast<uint64_t>(thread));
    for (int i = 0; i < transfers; ++i) {
      const Handle& from = random() % 2 == 0 ? a : b;
      const Handle& to = random() % 2 == 0 ? a : b;
      const KeyValue source = from.key(static_cast<int64_t>(random() % kAccounts));
      const KeyValue target = to.key(static_cast<int64_t>(random() % kAccounts));
      const auto amount = static_cast<int64_t>(random() % 10);
      if (!commit_with_retry([&](TxnState* txn) {
            const ErrCode code = add(from, txn, source, -amount);
            return code == SUCCESS ? add(to, txn, target, amount) : code;
          })) {
        return;
      }
    }
  }

  void audit(int rounds) const {
    const Handle a(names[0], GetParam());
    const Handle b(names[1], GetParam());
    for (int i = 0; i < rounds; ++i) {
      int64_t total = 0;
      int count = 0;
      const bool done = commit_with_retry([&](TxnState* txn) {
        total = 0;
        count = 0;
        const ErrCode code = sum(a, txn, &total, &count);
        return code == SUCCESS ? sum(b, txn, &total, &count) : code;
      });
      if (!done) return;
      EXPECT_EQ(count, 2 * kAccounts);
      EXPECT_EQ(total, 2 * kAccounts * kBalance);
    }
  }

  const std::array<const char*, 2> names = {make_index(GetParam()), make_index(GetParam())};
};

TEST_P(RequiredConcurrent, TransfersKeepTheSum) {
  transfer(0, 50);
  audit(1);
  in_threads(8, [&](int thread) {
    if (thread < 6) {
      transfer(thread, 60);
    } else {
      audit(20);
    }
  });
  audit(1);
}

TEST_P(RequiredConcurrent, NoUpdateOfAHotRecordIsLost) {
  constexpr int kThreads = 8;
  constexpr int kUpdates = 40;
  const Handle handle(names[0], GetParam());
  in_threads(kThreads, [&](int) {
    const Handle own(names[0], GetParam());
    for (int i = 0; i < kUpdates; ++i) {
      commit_with_retry([&](TxnState* txn) { return add(own, txn, own.key(0), 1); });
    }
  });
  EXPECT_EQ(handle.get(nullptr, handle.key(0)).payload,
            std::to_string(kBalance + kThreads * kUpdates));
}

TEST_P(RequiredConcurrent, ScansRepeatWhileOthersInsertAndDelete) {
  std::atomic<bool> over{false};
  in_threads(4, [&](int thread) {
    const Handle own(names[0], GetParam());
    std::mt19937_64 random(test_seed() + static_cast<uint64_t>(thread));
    if (thread != 0) {
      for (int i = 0; i < 5000 && !over.load(); ++i) {
        const KeyValue key = own.key(kAccounts + static_cast<int64_t>(random() % 20));
        const ErrCode code = random() % 2 == 0 ? own.insert(nullptr, key, std::to_string(thread))
                                               : own.erase_all(nullptr, key);
        EXPECT_TRUE(code == SUCCESS || code == ENTRY_EXISTS || code == KEY_NOTFOUND ||
                    code == DEADLOCK)
            << code_name(code);
      }
      return;
    }
    for (int round = 0; round < 20; ++round) {
      std::array<std::vector<Read>, 2> scans;
      commit_with_retry([&](TxnState* txn) {
        for (auto& scan : scans) {
          scan.clear();
          std::this_thread::yield();
          Read read = own.get(txn, own.key(kAccounts - 1));
          for (; read.code == SUCCESS && scan.size() < kScanMax; read = own.next(txn)) {
            scan.push_back(read);
          }
          if (read.code != DB_END) return read.code;
        }
        return SUCCESS;
      });
      // Only the keys are compared, because payloads of one key may come in any order.
      ASSERT_EQ(scans[0].size(), scans[1].size());
      for (size_t i = 0; i < scans[0].size(); ++i) EXPECT_EQ(scans[0][i].key, scans[1][i].key);
    }
    over = true;
  });
}

TEST_P(RequiredConcurrent, AutoCommitIsOneTransaction) {
  std::atomic<int> stored{0};
  in_threads(8, [&](int) {
    const Handle own(names[0], GetParam());
    for (int i = 0; i < 50; ++i) {
      ErrCode code = DEADLOCK;
      for (int attempt = 0; code == DEADLOCK && attempt < kAttemptsMax; ++attempt) {
        code = own.insert(nullptr, own.key(1000 + i), "same");
      }
      EXPECT_TRUE(code == SUCCESS || code == ENTRY_EXISTS) << code_name(code);
      if (code == SUCCESS) ++stored;
    }
  });
  EXPECT_EQ(stored, 50);
}

constexpr auto kNameOfType = [](const testing::TestParamInfo<KeyType>& info) {
  return info.param == SHORT ? "Short" : info.param == INT ? "Int" : "Varchar";
};
INSTANTIATE_TEST_SUITE_P(, RequiredConcurrent, testing::Values(SHORT, INT, VARCHAR), kNameOfType);

TEST(RequiredDirectory, OneOfManyCreatesOfANameSucceeds) {
  std::string name = "created by sixteen threads";
  std::atomic<int> created{0};
  in_threads(16, [&](int) {
    const ErrCode code = library().create(INT, name.data());
    EXPECT_TRUE(code == SUCCESS || code == DB_EXISTS) << code_name(code);
    if (code == SUCCESS) ++created;
    const Handle own(name.c_str(), INT);
  });
  EXPECT_EQ(created, 1);
}

TEST(RequiredDirectory, ThreadsCreateAndUseTheirOwnIndexes) {
  in_threads(32, [&](int thread) {
    const Handle own(make_index(INT), INT);
    EXPECT_EQ(own.insert(nullptr, int64_t{thread}, "x"), SUCCESS);
    EXPECT_EQ(own.next(nullptr), (Read{SUCCESS, int64_t{thread}, "x"}));
  });
}

TEST(RequiredDirectory, TwoHundredThreadsHaveATransactionEach) {
  in_threads(200, [&](int) {
    Transaction txn;
    EXPECT_EQ(txn.commit(), SUCCESS);
  });
}

}  // namespace
}  // namespace keydrome
