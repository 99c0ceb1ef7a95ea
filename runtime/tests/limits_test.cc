// Tests the limits that a structure (a data structure without transactions) states in its table of
// functions. Calls that exceed a limit return FAILURE and change nothing. Configurations that
// exceed a limit are refused with a message. Also tests that a thread-safe structure may use
// retired memory until the end of each call (small_structure.cc).
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "keydrome/index.h"
#include "runtime/runtime.h"
#include "runtime/tests/records.h"
#include "runtime/tests/setup_json.h"

namespace keydrome::runtime {
namespace {

// A client of a runtime with one index, in the test's thread.
class LimitedClient {
 public:
  LimitedClient(const std::string& structure, const std::string& lock,
                const std::string& concurrency) {
    Result<std::unique_ptr<Runtime>> made =
        Runtime::make(setup_json(test_structure(structure), lock, concurrency));
    EXPECT_TRUE(made.ok()) << made.error().message;
    runtime_ = *std::move(made);
    EXPECT_EQ(runtime_->create(INT, "index"), SUCCESS);
    EXPECT_EQ(runtime_->open_index("index", &state_), SUCCESS);
  }

  Runtime& runtime() { return *runtime_; }
  IdxState* state() const { return state_; }
  ErrCode insert(int64_t key, const char* payload, TxnState* transaction = nullptr) {
    const Record record = record_of(key);
    return runtime_->insert(state_, transaction, &record.key, payload);
  }
  ErrCode erase(int64_t key, const char* payload, TxnState* transaction = nullptr) {
    const Record record = record_of(key, payload);
    return runtime_->erase(state_, transaction, &record);
  }
  // Returns the key's payload, or the code as text.
  std::string get(int64_t key, TxnState* transaction = nullptr) {
    Record record = record_of(key);
    const ErrCode code = runtime_->get(state_, transaction, &record);
    return code == SUCCESS ? record.payload : std::to_string(code);
  }

 private:
  std::unique_ptr<Runtime> runtime_;
  IdxState* state_ = nullptr;
};

// Runs `body` in a thread of its own. When the thread exits, the runtime closes the handles of the
// thread's client (client.h). This must happen before the runtime is destroyed.
template <class Body>
void in_thread(Body&& body) {
  std::thread(body).join();
}

struct LimitedSetup {
  std::string structure, lock, concurrency;
};

class Limits : public testing::TestWithParam<LimitedSetup> {
 protected:
  // Calls `body(client)` with a new runtime.
  template <class Body>
  static void play(Body&& body) {
    const LimitedSetup& setup = GetParam();
    std::unique_ptr<LimitedClient> client;
    in_thread([&] {
      client = std::make_unique<LimitedClient>(setup.structure, setup.lock, setup.concurrency);
      body(*client);
    });
  }
  static bool has_transactions() { return GetParam().concurrency != "none"; }
};

TEST_P(Limits, KeysOfAnotherSizeAreRefused) {
  play([](LimitedClient& client) {
    EXPECT_EQ(client.runtime().create(SHORT, "short"), FAILURE);
    EXPECT_EQ(client.runtime().create(VARCHAR, "text"), FAILURE);
    EXPECT_EQ(client.runtime().create(INT, "long"), SUCCESS);
  });
}

TEST_P(Limits, LongPayloadsAreRefused) {
  play([](LimitedClient& client) {
    EXPECT_EQ(client.insert(1, "9 letters"), FAILURE);
    EXPECT_EQ(client.get(1), std::to_string(KEY_NOTFOUND));
    EXPECT_EQ(client.insert(1, "8letters"), SUCCESS);
    EXPECT_EQ(client.erase(1, "9 letters"), ENTRY_DNE);
    EXPECT_EQ(client.get(1), "8letters");
  });
}

TEST_P(Limits, ASecondPayloadIsRefused) {
  play([](LimitedClient& client) {
    EXPECT_EQ(client.insert(1, "a"), SUCCESS);
    EXPECT_EQ(client.insert(1, "b"), FAILURE);
    EXPECT_EQ(client.insert(1, "a"), ENTRY_EXISTS);
    EXPECT_EQ(client.get(1), "a");
    EXPECT_EQ(client.erase(1, "b"), ENTRY_DNE);
    EXPECT_EQ(client.erase(1, "a"), SUCCESS);
    EXPECT_EQ(client.insert(1, "b"), SUCCESS);
    EXPECT_EQ(client.erase(1, ""), SUCCESS);
    EXPECT_EQ(client.erase(1, ""), KEY_NOTFOUND);
  });
}

TEST_P(Limits, ATransactionReplacesAPayloadAndAnAbortRestoresIt) {
  if (!has_transactions()) return;  // "none" refuses changes inside a transaction
  play([](LimitedClient& client) {
    EXPECT_EQ(client.insert(1, "a"), SUCCESS);
    TxnState* transaction = nullptr;
    ASSERT_EQ(client.runtime().begin(&transaction), SUCCESS);
    EXPECT_EQ(client.insert(1, "b", transaction), FAILURE);
    EXPECT_EQ(client.erase(1, "a", transaction), SUCCESS);
    EXPECT_EQ(client.insert(1, "b", transaction), SUCCESS);
    EXPECT_EQ(client.get(1, transaction), "b");
    EXPECT_EQ(client.runtime().abort(transaction), SUCCESS);
    EXPECT_EQ(client.get(1), "a");
  });
}

TEST_P(Limits, OnlyOrderedStructuresScan) {
  play([](LimitedClient& client) {
    EXPECT_EQ(client.insert(7, "x"), SUCCESS);
    Record record{};
    const ErrCode code = client.runtime().get_next(client.state(), nullptr, &record);
    EXPECT_EQ(code, GetParam().structure == "small_ordered" ? SUCCESS : FAILURE);
    EXPECT_EQ(client.get(7), "x");
  });
}

INSTANTIATE_TEST_SUITE_P(, Limits,
                         testing::Values(LimitedSetup{"small_ordered", "none", "none"},
                                         LimitedSetup{"small_ordered", "rw", "index_2pl"},
                                         LimitedSetup{"small_ordered", "rw", "gap_2pl"},
                                         LimitedSetup{"small_ordered", "rw", "serial"},
                                         LimitedSetup{"small_unordered", "none", "none"},
                                         LimitedSetup{"small_unordered", "exclusive", "index_2pl"}),
                         [](const auto& tested) {
                           return tested.param.structure + "_" + tested.param.concurrency;
                         });

std::string refusal(const std::string& structure, const std::string& concurrency) {
  const Result<std::unique_ptr<Runtime>> made =
      Runtime::make(setup_json(test_structure(structure), "rw", concurrency));
  return made.ok() ? "" : made.error().message;
}

TEST(LimitsOfConfigurations, MethodsThatScanNeedAnOrderedStructure) {
  for (const char* concurrency : {"gap_2pl", "serial", "occ", "mvcc"}) {
    EXPECT_EQ(refusal("small_unordered", concurrency),
              std::string("configuration.concurrency: \"") + concurrency +
                  "\" scans the structure, but the structure small has no order (capability "
                  "KEYDROME_UNORDERED); use a configuration with the concurrency \"index_2pl\" "
                  "or \"none\" (for example the configuration exclusive)");
  }
}

TEST(LimitsOfConfigurations, MethodsThatKeepDeletedPayloadsNeedRoomForThem) {
  for (const char* concurrency : {"occ", "mvcc"}) {
    EXPECT_EQ(
        refusal("small_ordered", concurrency),
        std::string("configuration.concurrency: \"") + concurrency +
            "\" at times stores several payloads of a key, but the table of the structure small "
            "allows only 1 (payloads_max); use a configuration with the concurrency \"gap_2pl\", "
            "\"index_2pl\", \"none\" or \"serial\" (for example the configuration exclusive)");
  }
}

// The structure retires its array at every change. A lookup fails if its array changes, and a freed
// block changes at once, because the heap writes into it.
TEST(GraceInTheRuntime, AReadMayUseMemoryThatIsRetiredDuringTheRead) {
  const std::string path = test_structure("small_ordered");
  std::unique_ptr<LimitedClient> client;
  in_thread([&] {
    client = std::make_unique<LimitedClient>("small_ordered", "none", "none");
    ASSERT_EQ(client->insert(0, "x"), SUCCESS);
    auto* pause_next_find = reinterpret_cast<void (*)(void (*)())>(
        dlsym(dlopen(path.c_str(), RTLD_NOW), "small_structure_pause_next_find"));
    ASSERT_NE(pause_next_find, nullptr);
    // Only code of this program waits for `gate` and notifies the waiting threads. The library of
    // the structure has its own list of waiting threads, so a notification from there may be lost.
    static std::atomic<int> gate = 0;
    gate = 0;
    const auto pause = [] {
      gate = 1;
      gate.notify_all();
      gate.wait(1);
    };
    std::thread reader([&] {
      IdxState* state = nullptr;
      EXPECT_EQ(client->runtime().open_index("index", &state), SUCCESS);
      Record record = record_of(0);
      pause_next_find(pause);
      EXPECT_EQ(client->runtime().get(state, nullptr, &record), SUCCESS);
      EXPECT_STREQ(record.payload, "x");
    });
    gate.wait(0);
    // The following insertions look for their keys first. Their lookups do not pause, because
    // pause_next_find() lets only one lookup pause, and this was the reader's.
    for (int64_t key = 1; key < 300; ++key) EXPECT_EQ(client->insert(key, "y"), SUCCESS);
    gate = 2;
    gate.notify_all();
    reader.join();
  });
}

TEST(GraceInTheRuntime, ReadersAndWritersTogether) {
#ifdef KEYDROME_SANITIZED
  constexpr int kRounds = 2000;
#else
  constexpr int kRounds = 20000;
#endif
  constexpr int64_t kKeys = 32;
  std::atomic<int> failures = 0;
  std::unique_ptr<LimitedClient> client;
  in_thread([&] {
    client = std::make_unique<LimitedClient>("small_ordered", "none", "none");
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        Runtime& runtime = client->runtime();
        IdxState* state = nullptr;
        if (runtime.open_index("index", &state) != SUCCESS) ++failures;
        for (int64_t round = 0; round < kRounds; ++round) {
          const Record record = record_of((round * 7 + thread) % kKeys, "x");
          ErrCode code;
          if (thread % 2 == 0) {
            Record found = record;
            code = round % 2 == 0 ? runtime.get(state, nullptr, &found)
                                  : runtime.get_next(state, nullptr, &found);
          } else {
            code = round % 2 == 0 ? runtime.insert(state, nullptr, &record.key, "x")
                                  : runtime.erase(state, nullptr, &record);
          }
          if (code == FAILURE) ++failures;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace keydrome::runtime
