// Tests that examples/minimal.cc survives exhausted memory: no exception leaves one of its ten
// functions, and an abort restores what was there before the transaction.
//
// The test replaces the global operator new. Each round lets one allocation more succeed than the
// round before, until a whole round succeeds. So every allocation of the example fails once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "keydrome/index.h"

namespace {

constexpr long kUnlimited = -1;
long allocations_left = kUnlimited;

void* allocate(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// Longer than the strings that std::string keeps without an allocation.
const char kPayload[] = "a payload that needs an allocation";

Record record_of(const char* key, const char* payload) {
  Record record{};
  record.key.type = VARCHAR;
  std::strcpy(record.key.keyval.charkey, key);
  std::strcpy(record.payload, payload);
  return record;
}

// Returns the keys and payloads of all records, in the index's order.
std::vector<std::string> contents(IdxState* handle) {
  std::vector<std::string> all;
  TxnState* transaction = nullptr;
  EXPECT_EQ(beginTransaction(&transaction), SUCCESS);
  Record record{};
  while (getNext(handle, transaction, &record) == SUCCESS) {
    all.push_back(std::string(record.key.keyval.charkey) + " " + record.payload);
  }
  EXPECT_EQ(commitTransaction(transaction), SUCCESS);
  return all;
}

// Deletes both payloads of key one, inserts four records and reads. Returns true if no call failed.
bool change(IdxState* handle, TxnState* transaction) {
  Record one = record_of("one: a key that needs an allocation", "");
  bool succeeded = deleteRecord(handle, transaction, &one) == SUCCESS;
  for (const char* key : {"two", "one: a key that needs an allocation", "zero", "six"}) {
    Record record = record_of(key, kPayload);
    succeeded &= insertRecord(handle, transaction, &record.key, record.payload) == SUCCESS;
  }
  Record found = record_of("six", "");
  succeeded &= get(handle, transaction, &found) == SUCCESS;
  succeeded &= getNext(handle, transaction, &found) == SUCCESS;
  return succeeded;
}

TEST(MinimalExample, AbortsTransactionsThatRunOutOfMemory) {
  char name[] = "index";
  ASSERT_EQ(create(VARCHAR, name), SUCCESS);
  IdxState* handle = nullptr;
  ASSERT_EQ(openIndex(name, &handle), SUCCESS);
  for (const char* payload : {"first payload, which needs memory", "second"}) {
    Record record = record_of("one: a key that needs an allocation", payload);
    ASSERT_EQ(insertRecord(handle, nullptr, &record.key, record.payload), SUCCESS);
  }
  const std::vector<std::string> before = contents(handle);
  ASSERT_EQ(before.size(), 2u);

  int failed = 0;
  for (bool succeeded = false; !succeeded; ++failed) {
    ASSERT_LT(failed, 1000);
    TxnState* transaction = nullptr;
    ASSERT_EQ(beginTransaction(&transaction), SUCCESS);
    allocations_left = failed;
    succeeded = change(handle, transaction);
    allocations_left = 0;
    const ErrCode aborted = abortTransaction(transaction);
    allocations_left = kUnlimited;
    ASSERT_EQ(aborted, SUCCESS);
    ASSERT_EQ(contents(handle), before) << "after " << failed << " allocations";
  }
  EXPECT_GT(failed, 10);
  EXPECT_EQ(closeIndex(handle), SUCCESS);
}

TEST(MinimalExample, AnswersFailureWhenItCannotCreateOrOpen) {
  char name[] = "an index whose name needs an allocation";
  ErrCode code = FAILURE;
  for (int failed = 0; code == FAILURE; ++failed) {
    ASSERT_LT(failed, 100);
    allocations_left = failed;
    code = create(VARCHAR, name);
    allocations_left = kUnlimited;
  }
  EXPECT_EQ(code, SUCCESS);
  IdxState* handle = nullptr;
  code = FAILURE;
  for (int failed = 0; code == FAILURE; ++failed) {
    ASSERT_LT(failed, 100);
    allocations_left = failed;
    code = openIndex(name, &handle);
    allocations_left = kUnlimited;
  }
  EXPECT_EQ(code, SUCCESS);
  EXPECT_EQ(contents(handle).size(), 0u);
  EXPECT_EQ(closeIndex(handle), SUCCESS);
}

}  // namespace
