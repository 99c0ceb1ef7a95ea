// Stress test: many threads call the exported functions of a library (keydrome/index.h), and the
// test checks invariants.
//
// Usage: runtime_stress_test --library PATH --configure JSON.
//
// Every transaction is retried after DEADLOCK until it commits. The test therefore also shows that
// every transaction finally succeeds.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "keydrome/extensions.h"
#include "keydrome/index.h"

namespace keydrome {
namespace {

constexpr uint64_t kSeed = 61;
constexpr int kThreads = 8;

// Tests divide their numbers of transactions by kLess. With a sanitizer they make fewer, to save
// time: they run for each structure and configuration. Few transactions suffice, because
// ThreadSanitizer derives a race from the order of two accesses, even if they did not collide.
#ifdef KEYDROME_SANITIZED
constexpr int kLess = 4;
#else
constexpr int kLess = 1;
#endif

struct Calls {
  decltype(::create)* create;
  decltype(::openIndex)* open_index;
  decltype(::closeIndex)* close_index;
  decltype(::beginTransaction)* begin;
  decltype(::abortTransaction)* abort;
  decltype(::commitTransaction)* commit;
  decltype(::get)* get;
  decltype(::getNext)* get_next;
  decltype(::insertRecord)* insert;
  decltype(::deleteRecord)* erase;
};
Calls g_calls;

Key key_of(int32_t value) {
  Key key{};
  key.type = SHORT;
  key.keyval.shortkey = value;
  return key;
}

long number_of(const std::string& text) { return std::strtol(text.c_str(), nullptr, 10); }

// One client thread. Its functions return false after DEADLOCK; an unexpected result fails the
// test.
class Client {
 public:
  explicit Client(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      states_.push_back(nullptr);
      EXPECT_EQ(g_calls.open_index(name.c_str(), &states_.back()), SUCCESS);
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    for (IdxState* state : states_) EXPECT_EQ(g_calls.close_index(state), SUCCESS);
  }

  // Runs `body` in a transaction, and repeats it until it commits. `body` returns false after a
  // DEADLOCK.
  void transact(const std::function<bool()>& body) {
    for (;;) {
      ASSERT_EQ(g_calls.begin(&transaction_), SUCCESS);
      if (body() && accept(g_calls.commit(transaction_), {SUCCESS})) return;
      ASSERT_EQ(g_calls.abort(transaction_), SUCCESS);
    }
  }

  bool get(size_t index, int32_t key, std::string* payload) {
    Record record{};
    record.key = key_of(key);
    const ErrCode code = g_calls.get(states_[index], transaction_, &record);
    *payload = record.payload;
    return accept(code, {SUCCESS, KEY_NOTFOUND});
  }

  bool insert(size_t index, int32_t key, const std::string& payload) {
    Key typed = key_of(key);
    return accept(g_calls.insert(states_[index], transaction_, &typed, payload.c_str()), {SUCCESS});
  }

  bool erase_key(size_t index, int32_t key) {
    Record record{};
    record.key = key_of(key);
    return accept(g_calls.erase(states_[index], transaction_, &record), {SUCCESS});
  }

  // Reads every record of the index, in order.
  bool scan(size_t index, std::vector<Record>* records) {
    // A get before the first key moves the cursor to the start.
    std::string ignored;
    if (!get(index, INT32_MIN, &ignored)) return false;
    records->clear();
    for (;;) {
      Record record{};
      const ErrCode code = g_calls.get_next(states_[index], transaction_, &record);
      if (code == DB_END) return true;
      if (!accept(code, {SUCCESS})) return false;
      records->push_back(record);
    }
  }

 private:
  static bool accept(ErrCode code, std::initializer_list<ErrCode> expected) {
    if (code == DEADLOCK) return false;
    EXPECT_NE(std::find(expected.begin(), expected.end(), code), expected.end()) << code;
    return true;
  }

  std::vector<IdxState*> states_;
  TxnState* transaction_ = nullptr;
};

std::vector<std::string> make_indexes(const std::string& prefix, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(prefix + std::to_string(i));
    EXPECT_EQ(g_calls.create(SHORT, names.back().data()), SUCCESS);
  }
  return names;
}

void run_threads(const std::function<void(int)>& body) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

// There are accounts in three indexes. Transfers move money between two accounts, and auditors add
// up all balances. The sum must never change.
TEST(Stress, TransfersKeepTheSum) {
  constexpr int kAccounts = 20;
  constexpr int kTransactions = 1500 / kLess;
  constexpr long kSum = 3L * kAccounts * 100;
  const std::vector<std::string> names = make_indexes("accounts", 3);
  {
    Client client(names);
    client.transact([&] {
      for (size_t index = 0; index < names.size(); ++index) {
        for (int32_t key = 0; key < kAccounts; ++key) {
          if (!client.insert(index, key, "100")) return false;
        }
      }
      return true;
    });
  }
  run_threads([&](int thread) {
    std::mt19937_64 random(kSeed + static_cast<uint64_t>(thread));
    Client client(names);
    for (int i = 0; i < kTransactions; ++i) {
      if (random() % 10 == 0) {
        long sum = 0;
        std::vector<Record> records;
        client.transact([&] {
          sum = 0;
          for (size_t index = 0; index < names.size(); ++index) {
            if (!client.scan(index, &records)) return false;
            for (const Record& record : records) sum += number_of(record.payload);
          }
          return true;
        });
        ASSERT_EQ(sum, kSum);
        continue;
      }
      const auto move = [&](size_t index, int32_t key, long amount) {
        std::string balance;
        return client.get(index, key, &balance) && client.erase_key(index, key) &&
               client.insert(index, key, std::to_string(number_of(balance) + amount));
      };
      const size_t from = random() % 3;
      const size_t to = random() % 3;
      const auto source = static_cast<int32_t>(random() % kAccounts);
      const auto target = static_cast<int32_t>(random() % kAccounts);
      const long amount = static_cast<long>(random() % 20);
      client.transact([&] { return move(from, source, -amount) && move(to, target, amount); });
    }
  });
}

// Writers insert and delete pairs of keys, one key in each half of the index. A reader has seen a
// phantom if it sees only one key of a pair, or if two scans of one transaction differ.
TEST(Stress, NoPhantoms) {
  constexpr int kTransactions = 600 / kLess;
  constexpr int32_t kKeys = 40;
  const std::vector<std::string> names = make_indexes("pairs", 2);
  run_threads([&](int thread) {
    std::mt19937_64 random(kSeed + static_cast<uint64_t>(thread));
    Client client(names);
    for (int i = 0; i < kTransactions; ++i) {
      const size_t index = random() % 2;
      if (thread % 2 == 0) {
        const auto key = static_cast<int32_t>(random() % kKeys);
        client.transact([&] {
          std::string payload;
          if (!client.get(index, key, &payload)) return false;
          if (payload.empty()) {
            return client.insert(index, key, "low") && client.insert(index, key + kKeys, "high");
          }
          return client.erase_key(index, key) && client.erase_key(index, key + kKeys);
        });
      } else {
        std::vector<Record> first;
        std::vector<Record> second;
        client.transact([&] { return client.scan(index, &first) && client.scan(index, &second); });
        ASSERT_EQ(first.size(), second.size());
        ASSERT_EQ(first.size() % 2, 0u);
        for (size_t at = 0; at < first.size() / 2; ++at) {
          ASSERT_EQ(first[at].key.keyval.shortkey + kKeys,
                    first[first.size() / 2 + at].key.keyval.shortkey);
        }
      }
    }
  });
}

// Each transaction locks all indexes in a random order, which causes many deadlocks. Every thread
// must nevertheless finish.
TEST(Stress, EveryThreadFinishes) {
  constexpr int kTransactions = 400 / kLess;
  const std::vector<std::string> names = make_indexes("counters", 4);
  std::atomic<uint64_t> attempts = 0;
  {
    Client client(names);
    client.transact([&] {
      for (size_t index = 0; index < names.size(); ++index) {
        if (!client.insert(index, 0, "0")) return false;
      }
      return true;
    });
  }
  run_threads([&](int thread) {
    std::mt19937_64 random(kSeed + static_cast<uint64_t>(thread));
    Client client(names);
    for (int i = 0; i < kTransactions; ++i) {
      std::vector<size_t> order = {0, 1, 2, 3};
      std::shuffle(order.begin(), order.end(), random);
      client.transact([&] {
        ++attempts;
        for (const size_t index : order) {
          std::string count;
          if (!client.get(index, 0, &count) || !client.erase_key(index, 0) ||
              !client.insert(index, 0, std::to_string(number_of(count) + 1))) {
            return false;
          }
        }
        return true;
      });
    }
  });
  std::printf("%llu attempts for %d transactions\n",
              static_cast<unsigned long long>(attempts.load()), kThreads * kTransactions);
  Client client(names);
  client.transact([&] {
    for (size_t index = 0; index < names.size(); ++index) {
      std::string count;
      if (!client.get(index, 0, &count)) return false;
      EXPECT_EQ(count, std::to_string(kThreads * kTransactions));
    }
    return true;
  });
}

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr)
    std::fprintf(stderr,
                 "stress_test: the library does not export %s; give --library the path of "
                 "runtime.so\n",
                 name);
  return function != nullptr;
}

bool load(const char* path, const char* json) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(
        stderr, "stress_test: cannot load the library: %s; give --library the path of runtime.so\n",
        dlerror());
    return false;
  }
  decltype(keydrome_configure)* configure = nullptr;
  if (!find(library, "keydrome_configure", configure)) return false;
  char reason[1000];
  if (configure(json, reason, sizeof reason) != 0) {
    std::fprintf(stderr,
                 "stress_test: the library refuses its configuration: %s. Correct the JSON after "
                 "--configure.\n",
                 reason);
    return false;
  }
  return find(library, "create", g_calls.create) &&
         find(library, "openIndex", g_calls.open_index) &&
         find(library, "closeIndex", g_calls.close_index) &&
         find(library, "beginTransaction", g_calls.begin) &&
         find(library, "abortTransaction", g_calls.abort) &&
         find(library, "commitTransaction", g_calls.commit) && find(library, "get", g_calls.get) &&
         find(library, "getNext", g_calls.get_next) &&
         find(library, "insertRecord", g_calls.insert) &&
         find(library, "deleteRecord", g_calls.erase);
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 5 || std::string(argv[1]) != "--library" || std::string(argv[3]) != "--configure") {
    std::fprintf(stderr, "usage: %s --library PATH --configure JSON\n", argv[0]);
    return 2;
  }
  if (!keydrome::load(argv[2], argv[4])) return 2;
  return RUN_ALL_TESTS();
}
