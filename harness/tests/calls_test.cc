// Tests the call slots of verified mode. They are shared memory through which one process, the
// driver, calls a library in another process. Here both sides are in this process. Every call and
// every result must arrive unchanged.
#include "harness/calls.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "harness/driver/remote_library.h"
#include "harness/player/service.h"

namespace keydrome {
namespace {

// The last call that reached the library side.
struct Seen {
  std::string call;
  IdxState* handle = nullptr;
  TxnState* transaction = nullptr;
  Record record{};
  std::string name;
  char* name_at = nullptr;
};
Seen g_last;  // the library side writes it; the driver side reads it after the reply

constexpr auto kUndocumentedCode = static_cast<ErrCode>(13);
IdxState* const kHandle = reinterpret_cast<IdxState*>(0x1234'5678'9abc'def0);
TxnState* const kTransaction = reinterpret_cast<TxnState*>(0xfedc'ba98'7654'3210);

ErrCode note(const char* call, IdxState* handle, TxnState* transaction, const Record& record,
             ErrCode code) {
  g_last = {.call = call,
            .handle = handle,
            .transaction = transaction,
            .record = record,
            .name = "",
            .name_at = nullptr};
  return code;
}

Record record_of(int64_t key, const char* payload) {
  Record record{};
  record.key.type = INT;
  record.key.keyval.intkey = key;
  std::strcpy(record.payload, payload);
  return record;
}

const player::IndexApi kNotes = {
    .create =
        [](KeyType type, char* name) {
          Record record{};
          record.key.type = type;
          note("create", nullptr, nullptr, record, DB_EXISTS);
          g_last.name = name;
          g_last.name_at = name;
          return DB_EXISTS;
        },
    .openIndex =
        [](const char* name, IdxState** handle) {
          note("open", *handle, nullptr, {}, SUCCESS);
          g_last.name = name;
          *handle = kHandle;
          return SUCCESS;
        },
    .closeIndex = [](IdxState* handle) { return note("close", handle, nullptr, {}, DB_DNE); },
    .beginTransaction =
        [](TxnState** transaction) {
          note("begin", nullptr, *transaction, {}, SUCCESS);
          *transaction = kTransaction;
          return SUCCESS;
        },
    .abortTransaction = [](TxnState* t) { return note("abort", nullptr, t, {}, TXN_DNE); },
    .commitTransaction = [](TxnState* t) { return note("commit", nullptr, t, {}, DEADLOCK); },
    .get =
        [](IdxState* handle, TxnState* transaction, Record* record) {
          note("get", handle, transaction, *record, SUCCESS);
          std::strcpy(record->payload, "found");
          return SUCCESS;
        },
    .getNext =
        [](IdxState* handle, TxnState* transaction, Record* record) {
          note("next", handle, transaction, *record, SUCCESS);
          *record = record_of(-7, "next one");
          return SUCCESS;
        },
    .insertRecord =
        [](IdxState* handle, TxnState* transaction, Key* key, const char* payload) {
          return note("insert", handle, transaction, record_of(key->keyval.intkey, payload),
                      kUndocumentedCode);
        },
    .deleteRecord =
        [](IdxState* handle, TxnState* transaction, Record* record) {
          return note("delete", handle, transaction, *record, ENTRY_DNE);
        },
};

// Plays one phase: the library side serves `threads` slots with `api`, and each thread of the
// driver side runs `drive`.
void play(const player::IndexApi& api, uint32_t threads, CallWait wait,
          std::vector<CallSlot>& slots, std::vector<uint32_t>& numbers,
          const std::function<void(uint32_t)>& drive) {
  const RefereeChannel unused;
  Service service(unused, api, slots);
  std::thread inside([&] { service.serve({}, threads, wait); });
  std::vector<std::thread> outside;
  for (uint32_t t = 0; t < threads; ++t) {
    outside.emplace_back([&, t] {
      const RemoteThread here(slots[t], numbers[t], wait);
      drive(t);
    });
  }
  for (std::thread& thread : outside) thread.join();
  inside.join();
}

void play_one(const std::function<void(const player::IndexApi&)>& drive) {
  std::vector<CallSlot> slots(1);
  std::vector<uint32_t> numbers(1);
  play(kNotes, 1, CallWait::kSleep, slots, numbers, [&](uint32_t) { drive(remote_api()); });
}

void expect_seen(const char* call, IdxState* handle, TxnState* transaction) {
  EXPECT_EQ(g_last.call, call);
  EXPECT_EQ(g_last.handle, handle) << call;
  EXPECT_EQ(g_last.transaction, transaction) << call;
}

TEST(Calls, CarryNamesAndHandles) {
  play_one([](const player::IndexApi& api) {
    std::string name = "numbers";
    EXPECT_EQ(api.create(VARCHAR, name.data()), DB_EXISTS);
    EXPECT_EQ(g_last.record.key.type, VARCHAR);
    EXPECT_EQ(g_last.name, "numbers");
    char* const kept = g_last.name_at;
    EXPECT_NE(kept, name.data());
    EXPECT_EQ(api.create(INT, name.data()), DB_EXISTS);
    EXPECT_EQ(g_last.name_at, kept) << "a name keeps its address";

    IdxState* handle = nullptr;
    EXPECT_EQ(api.openIndex("other", &handle), SUCCESS);
    expect_seen("open", nullptr, nullptr);
    EXPECT_EQ(g_last.name, "other");
    EXPECT_EQ(handle, kHandle);
    EXPECT_EQ(api.closeIndex(handle), DB_DNE);
    expect_seen("close", kHandle, nullptr);
  });
}

TEST(Calls, CarryTransactions) {
  play_one([](const player::IndexApi& api) {
    TxnState* transaction = nullptr;
    EXPECT_EQ(api.beginTransaction(&transaction), SUCCESS);
    EXPECT_EQ(transaction, kTransaction);
    EXPECT_EQ(api.commitTransaction(transaction), DEADLOCK);
    expect_seen("commit", nullptr, kTransaction);
    EXPECT_EQ(api.abortTransaction(nullptr), TXN_DNE);
    expect_seen("abort", nullptr, nullptr);
  });
}

TEST(Calls, CarryRecordsBothWays) {
  play_one([](const player::IndexApi& api) {
    Record record = record_of(42, "");
    EXPECT_EQ(api.get(kHandle, nullptr, &record), SUCCESS);
    expect_seen("get", kHandle, nullptr);
    EXPECT_EQ(g_last.record.key.keyval.intkey, 42);
    EXPECT_STREQ(record.payload, "found");

    EXPECT_EQ(api.getNext(kHandle, kTransaction, &record), SUCCESS);
    expect_seen("next", kHandle, kTransaction);
    EXPECT_EQ(record.key.keyval.intkey, -7);
    EXPECT_STREQ(record.payload, "next one");

    Record longest = record_of(3, std::string(MAX_PAYLOAD_LEN, 'x').c_str());
    EXPECT_EQ(api.insertRecord(kHandle, nullptr, &longest.key, longest.payload), kUndocumentedCode);
    expect_seen("insert", kHandle, nullptr);
    EXPECT_STREQ(g_last.record.payload, longest.payload);

    EXPECT_EQ(api.deleteRecord(kHandle, kTransaction, &longest), ENTRY_DNE);
    expect_seen("delete", kHandle, kTransaction);
    EXPECT_EQ(g_last.record.key.keyval.intkey, 3);
  });
}

// The library doubles the key, so the test detects a reply to another call and a reply that was
// read too early.
TEST(Calls, ReturnTheirOwnResultsInEveryPhase) {
  constexpr uint32_t kThreads = 4;
  constexpr int kCalls = 5'000;
  player::IndexApi doubling{};
  doubling.get = [](IdxState*, TxnState*, Record* record) {
    record->key.keyval.intkey *= 2;
    return SUCCESS;
  };
  std::vector<CallSlot> slots(kThreads);
  std::vector<uint32_t> numbers(kThreads);
  for (const CallWait wait : {CallWait::kSleep, CallWait::kSpin, CallWait::kSleep}) {
    std::array<int, kThreads> wrong{};
    play(doubling, kThreads, wait, slots, numbers, [&](uint32_t thread) {
      for (int i = 0; i < kCalls; ++i) {
        const int64_t key = int64_t{i} * kThreads + thread;
        Record record = record_of(key, "");
        remote_api().get(nullptr, nullptr, &record);
        wrong[thread] += record.key.keyval.intkey == 2 * key ? 0 : 1;
      }
    });
    for (const int count : wrong) EXPECT_EQ(count, 0);
  }
  EXPECT_EQ(numbers[0], 3u * (kCalls + 1));
}

}  // namespace
}  // namespace keydrome
