// Tests of the runtime for cases that contract_test, the common test of all libraries, does not
// cover: ends of threads, many indexes, closed and invented handles, and changes that run out of
// memory.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "keydrome/index.h"
#include "runtime/runtime.h"
#include "runtime/tests/records.h"
#include "runtime/tests/setup_json.h"
#include "runtime/tests/variants.h"

namespace keydrome::runtime {
namespace {

class TransactionTest : public testing::Test {
 protected:
  void start(const std::string& structure, const std::string& lock,
             const std::string& concurrency = "index_2pl") {
    Result<std::unique_ptr<Runtime>> made = Runtime::make(setup_json(structure, lock, concurrency));
    ASSERT_TRUE(made.ok()) << made.error().message;
    runtime_ = *std::move(made);
    ASSERT_EQ(runtime_->create(INT, "index"), SUCCESS);
  }

  // Runs `body` in a thread of its own. When the thread exits, the runtime closes the handles of
  // the thread's client (client.h). This must happen before the runtime is destroyed.
  static void as_client(const std::function<void()>& body) { std::thread(body).join(); }

  IdxState* open(const char* name = "index") {
    IdxState* state = nullptr;
    EXPECT_EQ(runtime_->open_index(name, &state), SUCCESS);
    return state;
  }

  TxnState* begin() {
    TxnState* transaction = nullptr;
    EXPECT_EQ(runtime_->begin(&transaction), SUCCESS);
    return transaction;
  }

  ErrCode insert(IdxState* state, TxnState* transaction, int64_t key, const char* payload) {
    const Key typed = key_of(key);
    return runtime_->insert(state, transaction, &typed, payload);
  }

  ErrCode erase(IdxState* state, TxnState* transaction, int64_t key) {
    const Record record = record_of(key);
    return runtime_->erase(state, transaction, &record);
  }

  // Returns the payloads, sorted by key. A transaction in a thread of its own reads them.
  std::vector<std::string> scan() {
    std::vector<std::string> payloads;
    as_client([&] {
      IdxState* state = open();
      TxnState* transaction = begin();
      Record record{};
      while (runtime_->get_next(state, transaction, &record) == SUCCESS) {
        payloads.emplace_back(record.payload);
      }
      EXPECT_EQ(runtime_->commit(transaction), SUCCESS);
    });
    return payloads;
  }

  std::unique_ptr<Runtime> runtime_;
};

TEST_F(TransactionTest, TheEndOfAThreadRollsBackAndFreesEverything) {
  start(KEYDROME_BTREE, "rw");
  as_client([&] {
    IdxState* state = open();
    EXPECT_EQ(insert(state, begin(), 1, "uncommitted"), SUCCESS);
  });
  EXPECT_EQ(scan(), std::vector<std::string>());  // would wait for ever if the lock were still held
}

TEST_F(TransactionTest, InventedHandlesAreMisuseAndDoNothing) {
  start(KEYDROME_BTREE, "rw");
  as_client([&] {
    IdxState* mine = open();
    TxnState* transaction = begin();
    Record record = record_of(1);
    int local = 0;
    auto* invented = reinterpret_cast<IdxState*>(&local);
    EXPECT_EQ(runtime_->get(nullptr, transaction, &record), DB_DNE);
    EXPECT_EQ(runtime_->get(invented, transaction, &record), DB_DNE);
    EXPECT_EQ(runtime_->close_index(invented), DB_DNE);
    EXPECT_EQ(runtime_->get(mine, reinterpret_cast<TxnState*>(&local), &record), TXN_DNE);
    EXPECT_EQ(runtime_->commit(nullptr), TXN_DNE);
    as_client([&] {
      EXPECT_EQ(runtime_->get(mine, nullptr, &record), DB_DNE) << "another thread's handle";
      EXPECT_EQ(runtime_->abort(transaction), TXN_DNE) << "another thread's transaction";
    });
    EXPECT_EQ(runtime_->commit(transaction), SUCCESS);
    EXPECT_EQ(runtime_->commit(transaction), TXN_DNE);
    EXPECT_EQ(runtime_->close_index(mine), SUCCESS);
    EXPECT_EQ(runtime_->close_index(mine), DB_DNE);
    // Numbers that no open handle has. Some differ in few bits from `mine`, which is closed.
    for (const uintptr_t bits :
         {~uintptr_t{0}, ~reinterpret_cast<uintptr_t>(mine), reinterpret_cast<uintptr_t>(mine) + 1,
          reinterpret_cast<uintptr_t>(mine) ^ 2}) {
      auto* other = reinterpret_cast<IdxState*>(bits);
      EXPECT_EQ(runtime_->get(other, transaction, &record), DB_DNE);
      EXPECT_EQ(runtime_->close_index(other), DB_DNE);
    }
    EXPECT_EQ(runtime_->get(nullptr, nullptr, &record), DB_DNE);
    EXPECT_NE(open(), mine) << "a closed handle must not be reused at once";
    EXPECT_EQ(runtime_->get(mine, nullptr, &record), DB_DNE);
  });
}

TEST_F(TransactionTest, ManyHandlesManyIndexes) {
  start(KEYDROME_BTREE, "rw");
  as_client([&] {
    constexpr int kIndexes = 300;
    std::vector<IdxState*> states;
    for (int i = 0; i < kIndexes; ++i) {
      const std::string name = "index " + std::to_string(i);
      ASSERT_EQ(runtime_->create(INT, name.c_str()), SUCCESS);
      states.push_back(open(name.c_str()));
    }
    TxnState* transaction = begin();
    for (int i = 0; i < kIndexes; ++i) {
      ASSERT_EQ(insert(states[static_cast<size_t>(i)], transaction, i, "payload"), SUCCESS);
    }
    EXPECT_EQ(runtime_->abort(transaction), SUCCESS);
    Record record{};
    for (IdxState* state : states) {
      ASSERT_EQ(runtime_->get_next(state, nullptr, &record), DB_END);
      ASSERT_EQ(runtime_->close_index(state), SUCCESS);
    }
  });
}

// Tests with a structure that runs out of memory on demand.
class MemoryFailureTest : public TransactionTest {
 protected:
  void SetUp() override {
    start(test_structure("plain"), "exclusive");
    void* library = dlopen(test_structure("plain").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    fail_after_ = reinterpret_cast<void (*)(int)>(dlsym(library, "set_structure_fail_after"));
    fail_at_ = reinterpret_cast<void (*)(int)>(dlsym(library, "set_structure_fail_at"));
    ASSERT_TRUE(fail_after_ != nullptr && fail_at_ != nullptr);
    fail_after_(-1);
  }
  void TearDown() override { fail_after_(-1); }

  void (*fail_after_)(int) = nullptr;
  void (*fail_at_)(int) = nullptr;
};

TEST_F(MemoryFailureTest, AFailedCallChangesNothingAndTheTransactionContinues) {
  as_client([&] {
    IdxState* state = open();
    TxnState* transaction = begin();
    EXPECT_EQ(insert(state, transaction, 1, "a"), SUCCESS);
    fail_after_(0);
    EXPECT_EQ(insert(state, transaction, 2, "b"), FAILURE);
    EXPECT_EQ(insert(state, nullptr, 2, "b"), DEADLOCK)
        << "the thread's own transaction has locked the index";
    EXPECT_EQ(erase(state, transaction, 1), FAILURE);
    fail_after_(-1);
    EXPECT_EQ(insert(state, transaction, 3, "c"), SUCCESS);
    EXPECT_EQ(runtime_->commit(transaction), SUCCESS);
  });
  EXPECT_EQ(scan(), (std::vector<std::string>{"a", "c"}));
}

TEST_F(MemoryFailureTest, DeletingAllPayloadsIsAllOrNothing) {
  as_client([&] {
    IdxState* state = open();
    for (const char* payload : {"a", "b", "c"}) {
      ASSERT_EQ(insert(state, nullptr, 1, payload), SUCCESS);
    }
    ASSERT_EQ(insert(state, nullptr, 2, "d"), SUCCESS);
    TxnState* transaction = begin();
    ASSERT_EQ(erase(state, transaction, 2), SUCCESS);
    fail_at_(2);  // two deletions succeed, the third fails, and the first two are undone
    EXPECT_EQ(erase(state, transaction, 1), FAILURE);
    EXPECT_EQ(runtime_->commit(transaction), SUCCESS);
  });
  EXPECT_EQ(scan(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(MemoryFailureTest, AnUndoWithoutMemoryBreaksTheIndexVisibly) {
  ASSERT_EQ(runtime_->create(INT, "sound"), SUCCESS);
  as_client([&] {
    IdxState* state = open();
    ASSERT_EQ(insert(state, nullptr, 1, "a"), SUCCESS);
    TxnState* transaction = begin();
    ASSERT_EQ(erase(state, transaction, 1), SUCCESS);
    fail_after_(0);
    EXPECT_EQ(runtime_->abort(transaction), FAILURE);
    fail_after_(-1);
    Record record = record_of(1);
    EXPECT_EQ(runtime_->get(state, nullptr, &record), FAILURE);
    EXPECT_EQ(runtime_->get_next(state, nullptr, &record), FAILURE);
    EXPECT_EQ(insert(state, nullptr, 2, "b"), FAILURE);
    EXPECT_EQ(insert(open("sound"), nullptr, 2, "b"), SUCCESS);
  });
}

// Tests of updates under occ: a transaction that deletes one payload of a key and inserts another.
class OccUpdateTest : public MemoryFailureTest {
 protected:
  void SetUp() override {
    MemoryFailureTest::SetUp();
    start(test_structure("plain"), "exclusive", "occ");
    void* library = dlopen(test_structure("plain").c_str(), RTLD_NOW | RTLD_LOCAL);
    replaced_ = reinterpret_cast<int (*)()>(dlsym(library, "set_structure_replaced"));
    ASSERT_NE(replaced_, nullptr);
    as_client([&] { ASSERT_EQ(insert(open(), nullptr, 5, "m"), SUCCESS); });
  }

  // Replaces the payload of key 5, inserts (other, "x"), and commits.
  ErrCode update(const char* payload, int64_t other) {
    ErrCode committed = FAILURE;
    as_client([&] {
      IdxState* state = open();
      TxnState* transaction = begin();
      EXPECT_EQ(erase(state, transaction, 5), SUCCESS);
      EXPECT_EQ(insert(state, transaction, 5, payload), SUCCESS);
      EXPECT_EQ(insert(state, transaction, other, "x"), SUCCESS);
      committed = runtime_->commit(transaction);
    });
    return committed;
  }

  int (*replaced_)() = nullptr;
};

TEST_F(OccUpdateTest, TheStructureReplacesThePayload) {
  const int before = replaced_();
  EXPECT_EQ(update("z", 1), SUCCESS);  // the new payload is after the old one
  EXPECT_EQ(replaced_(), before + 1);
  EXPECT_EQ(update("a", 2), SUCCESS);  // the new payload is before the old one
  EXPECT_EQ(replaced_(), before + 2);
  EXPECT_EQ(scan(), (std::vector<std::string>{"x", "x", "a"}));
}

TEST_F(OccUpdateTest, AnUpdateWithoutMemoryIsUndone) {
  fail_at_(1);  // the insertion of key 1 succeeds, the replacement fails
  EXPECT_EQ(update("z", 1), FAILURE);
  EXPECT_EQ(scan(), std::vector<std::string>{"m"});
  fail_at_(1);  // the replacement succeeds, the insertion of key 9 fails
  EXPECT_EQ(update("z", 9), FAILURE);
  EXPECT_EQ(scan(), std::vector<std::string>{"m"});
  EXPECT_EQ(update("z", 9), SUCCESS);
  EXPECT_EQ(scan(), (std::vector<std::string>{"z", "x"}));
}

// Tests that run under every concurrency control. Memory runs out in a call or in the commit,
// depending on the concurrency control.
class AnyConcurrencyWithoutMemory : public MemoryFailureTest,
                                    public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    MemoryFailureTest::SetUp();
    start(test_structure("plain"), "exclusive", GetParam());
  }

  // Inserts two keys and commits. Returns FAILURE if an insertion or the commit fails.
  ErrCode insert_two() {
    IdxState* state = open();
    TxnState* transaction = begin();
    if (insert(state, transaction, 1, "x") != SUCCESS ||
        insert(state, transaction, 2, "y") != SUCCESS) {
      const ErrCode aborted = runtime_->abort(transaction);
      return aborted == SUCCESS ? FAILURE : aborted;
    }
    return runtime_->commit(transaction);
  }
};

TEST_P(AnyConcurrencyWithoutMemory, ATransactionIsAllOrNothing) {
  as_client([&] {
    ASSERT_EQ(insert(open(), nullptr, 9, "old"), SUCCESS);
    fail_at_(1);
    EXPECT_EQ(insert_two(), FAILURE);
  });
  EXPECT_EQ(scan(), std::vector<std::string>{"old"});
  as_client([&] { EXPECT_EQ(insert_two(), SUCCESS); });
  EXPECT_EQ(scan(), (std::vector<std::string>{"x", "y", "old"}));
  as_client([&] {
    ASSERT_EQ(erase(open(), nullptr, 1), SUCCESS);
    fail_after_(0);
    EXPECT_EQ(insert(open(), nullptr, 5, "new"), FAILURE);
    fail_after_(-1);
  });
  EXPECT_EQ(scan(), (std::vector<std::string>{"y", "old"}));
}

TEST_P(AnyConcurrencyWithoutMemory, AnUndoWithoutMemoryBreaksTheIndexVisibly) {
  as_client([&] {
    fail_after_(1);  // the second insertion fails, and undoing the first insertion fails too
    EXPECT_EQ(insert_two(), FAILURE);
    fail_after_(-1);
    Record record = record_of(1);
    EXPECT_EQ(runtime_->get(open(), nullptr, &record), FAILURE);
    EXPECT_EQ(insert(open(), nullptr, 3, "z"), FAILURE);
    EXPECT_EQ(erase(open(), nullptr, 3), FAILURE);
  });
}

TEST_P(AnyConcurrencyWithoutMemory, ATransactionOutlivesItsHandles) {
  as_client([&] {
    EXPECT_EQ(insert_two(), SUCCESS);
    IdxState* state = open();
    TxnState* transaction = begin();
    EXPECT_EQ(erase(state, transaction, 1), SUCCESS);
    EXPECT_EQ(runtime_->close_index(state), SUCCESS);
    EXPECT_EQ(runtime_->abort(transaction), SUCCESS);
  });
  EXPECT_EQ(scan(), (std::vector<std::string>{"x", "y"}));
  as_client([&] {
    IdxState* state = open();
    TxnState* transaction = begin();
    EXPECT_EQ(erase(state, transaction, 1), SUCCESS);
    EXPECT_EQ(runtime_->close_index(state), SUCCESS);
    EXPECT_EQ(runtime_->commit(transaction), SUCCESS);
  });
  EXPECT_EQ(scan(), std::vector<std::string>{"y"});
}

INSTANTIATE_TEST_SUITE_P(, AnyConcurrencyWithoutMemory, testing::ValuesIn(isolating_methods()));

}  // namespace
}  // namespace keydrome::runtime
