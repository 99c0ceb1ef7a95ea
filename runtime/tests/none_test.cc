// Tests the runtime with the concurrency control "none", which passes calls to the data structure
// without isolation. It must refuse a second thread, and changes inside a transaction. All other
// calls must return the right results.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "keydrome/index.h"
#include "runtime/runtime.h"
#include "runtime/tests/records.h"
#include "runtime/tests/setup_json.h"

namespace keydrome::runtime {
namespace {

class NoConcurrencyTest : public testing::Test {
 protected:
  void start(const std::string& structure) {
    Result<std::unique_ptr<Runtime>> made = Runtime::make(setup_json(structure, "none", "none"));
    ASSERT_TRUE(made.ok()) << made.error().message;
    runtime_ = *std::move(made);
    ASSERT_EQ(runtime_->create(INT, "index"), SUCCESS);
  }

  // Runs `body` in a thread of its own. When the thread exits, the runtime closes the handles of
  // the thread's client (client.h). This must happen before the runtime is destroyed.
  static void as_client(const std::function<void()>& body) { std::thread(body).join(); }

  IdxState* open() {
    IdxState* state = nullptr;
    EXPECT_EQ(runtime_->open_index("index", &state), SUCCESS);
    return state;
  }
  TxnState* begin() {
    TxnState* transaction = nullptr;
    EXPECT_EQ(runtime_->begin(&transaction), SUCCESS);
    return transaction;
  }
  ErrCode insert(IdxState* state, TxnState* transaction, int64_t key, const char* payload) {
    const Record record = record_of(key);
    return runtime_->insert(state, transaction, &record.key, payload);
  }
  ErrCode erase(IdxState* state, TxnState* transaction, int64_t key, const char* payload = "") {
    const Record record = record_of(key, payload);
    return runtime_->erase(state, transaction, &record);
  }
  // Returns the code and the payload as text, such as "0 one".
  std::string get(IdxState* state, TxnState* transaction, int64_t key) {
    Record record = record_of(key);
    const ErrCode code = runtime_->get(state, transaction, &record);
    return std::to_string(code) + " " + record.payload;
  }
  std::string next(IdxState* state, TxnState* transaction) {
    Record record{};
    const ErrCode code = runtime_->get_next(state, transaction, &record);
    if (code != SUCCESS) return std::to_string(code);
    return std::to_string(record.key.keyval.intkey) + " " + record.payload;
  }

  std::unique_ptr<Runtime> runtime_;
};

TEST_F(NoConcurrencyTest, AutoCommitCallsAreTheStructuresOwn) {
  for (const std::string& structure : {std::string(KEYDROME_BTREE), test_structure("plain")}) {
    start(structure);
    as_client([&] {
      IdxState* state = open();
      EXPECT_EQ(insert(state, nullptr, -1, "minus"), SUCCESS);
      EXPECT_EQ(insert(state, nullptr, 1, "a"), SUCCESS);
      EXPECT_EQ(insert(state, nullptr, 1, "b"), SUCCESS);
      EXPECT_EQ(insert(state, nullptr, 1, "b"), ENTRY_EXISTS);
      EXPECT_EQ(get(state, nullptr, 1), "0 a");
      EXPECT_EQ(get(state, nullptr, 2), std::to_string(KEY_NOTFOUND) + " ");
      EXPECT_EQ(next(state, nullptr), "-1 minus");
      EXPECT_EQ(erase(state, nullptr, 1, "c"), ENTRY_DNE);
      EXPECT_EQ(erase(state, nullptr, 1, "a"), SUCCESS);
      EXPECT_EQ(insert(state, nullptr, 1, "c"), SUCCESS);
      EXPECT_EQ(erase(state, nullptr, 1), SUCCESS);
      EXPECT_EQ(erase(state, nullptr, 1), KEY_NOTFOUND);
      EXPECT_EQ(get(state, nullptr, -1), "0 minus");
      EXPECT_EQ(runtime_->close_index(state), SUCCESS);
    });
  }
}

TEST_F(NoConcurrencyTest, ATransactionReadsAndRefusesEveryChange) {
  start(KEYDROME_BTREE);
  as_client([&] {
    IdxState* state = open();
    for (int64_t key = 1; key <= 4; ++key) EXPECT_EQ(insert(state, nullptr, key, "x"), SUCCESS);
    TxnState* transaction = begin();
    EXPECT_EQ(get(state, transaction, 2), "0 x");
    EXPECT_EQ(insert(state, transaction, 9, "x"), FAILURE);
    EXPECT_EQ(erase(state, transaction, 3, "x"), FAILURE);
    EXPECT_EQ(erase(state, transaction, 3), FAILURE);
    EXPECT_EQ(next(state, transaction), "3 x");
    // Auto-commit calls now delete the pair after the cursor and insert another. The cursor must
    // not use the tree's position that it has stored, because the position is no longer valid.
    EXPECT_EQ(erase(state, nullptr, 4), SUCCESS);
    EXPECT_EQ(insert(state, nullptr, 5, "y"), SUCCESS);
    EXPECT_EQ(next(state, transaction), "5 y");
    EXPECT_EQ(next(state, transaction), std::to_string(DB_END));
    EXPECT_EQ(runtime_->abort(transaction), SUCCESS);  // nothing to undo
    EXPECT_EQ(get(state, nullptr, 9), std::to_string(KEY_NOTFOUND) + " ");
    EXPECT_EQ(get(state, nullptr, 3), "0 x");
    transaction = begin();
    EXPECT_EQ(next(state, transaction), "1 x");
    EXPECT_EQ(runtime_->commit(transaction), SUCCESS);
  });
}

TEST_F(NoConcurrencyTest, ASecondThreadIsRefusedWhileTheFirstLives) {
  start(KEYDROME_BTREE);
  as_client([&] {
    IdxState* mine = open();
    EXPECT_EQ(insert(mine, nullptr, 1, "x"), SUCCESS);
    for (int tries = 0; tries < 3; ++tries) {
      as_client([&] {
        IdxState* state = nullptr;
        TxnState* transaction = nullptr;
        EXPECT_EQ(runtime_->open_index("index", &state), FAILURE);
        EXPECT_EQ(runtime_->begin(&transaction), FAILURE);
        EXPECT_EQ(runtime_->commit(transaction), FAILURE);
        EXPECT_EQ(runtime_->abort(transaction), FAILURE);
        EXPECT_EQ(runtime_->close_index(mine), FAILURE);
        EXPECT_EQ(insert(mine, nullptr, 2, "x"), FAILURE);
        EXPECT_EQ(erase(mine, nullptr, 1), FAILURE);
        EXPECT_EQ(get(mine, nullptr, 1), std::to_string(FAILURE) + " ");
        EXPECT_EQ(next(mine, nullptr), std::to_string(FAILURE));
      });
    }
    EXPECT_EQ(get(mine, nullptr, 1), "0 x");
  });
  as_client([&] { EXPECT_EQ(get(open(), nullptr, 1), "0 x"); });  // the first thread has ended
}

TEST_F(NoConcurrencyTest, AThreadSafeStructureServesManyThreads) {
  start(KEYDROME_NULL);
  as_client([&] {
    IdxState* mine = open();
    as_client([&] {
      IdxState* state = open();
      EXPECT_EQ(insert(state, nullptr, 1, "x"), SUCCESS);
      EXPECT_EQ(runtime_->close_index(state), SUCCESS);
    });
    EXPECT_EQ(insert(mine, nullptr, 1, "x"), SUCCESS);
  });
}

TEST_F(NoConcurrencyTest, TheBaselineAcceptsEverythingAndStoresNothing) {
  start(KEYDROME_NULL);
  as_client([&] {
    IdxState* state = open();
    EXPECT_EQ(insert(state, nullptr, 1, "x"), SUCCESS);
    EXPECT_EQ(insert(state, nullptr, 1, "x"), SUCCESS);
    EXPECT_EQ(erase(state, nullptr, 7, "x"), SUCCESS);
    EXPECT_EQ(erase(state, nullptr, 1), KEY_NOTFOUND);
    EXPECT_EQ(get(state, nullptr, 1), std::to_string(KEY_NOTFOUND) + " ");
    EXPECT_EQ(next(state, nullptr), std::to_string(DB_END));
  });
}

}  // namespace
}  // namespace keydrome::runtime
