// Tests repeated bodies, which are parts of a program that a thread executes several times. The
// tests check how the judge follows the passes, and what the script builder refuses.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"

namespace keydrome {
namespace {

using testing::play;
using testing::test_index;

// Only one test at a time uses these variables.
player::IndexApi unchanged_index;
uint64_t gets_of_a = 0;

class RepeatTest : public ::testing::Test {
 protected:
  RepeatTest() {
    unchanged_index = test_index({});
    gets_of_a = 0;
    script_.add_class("check");
    index_ = script_.add_index("index", VARCHAR);
    a_ = script_.add_varchar_key("a");
    b_ = script_.add_varchar_key("b");
    script_.thread(script_.add_phase("create", 1, {}), 0).create(index_);
    test_ = script_.add_phase("test", 1, {.timed = true});
  }

  // Returns the findings of the judge as text.
  static std::string findings_of(const script::Script& script, const script::Outcome& outcome) {
    judge::Findings findings;
    judge::judge_script(script, outcome, findings);
    return testing::text_of(findings);
  }

  script::ThreadBuilder out() { return script_.thread(test_, 0); }

  script::ScriptBuilder script_;
  uint32_t index_ = 0, a_ = 0, b_ = 0, test_ = 0;
};

ErrCode fail_for_a(IdxState* handle, TxnState* transaction, Record* record) {
  return std::string(record->key.keyval.charkey) == "a"
             ? FAILURE
             : unchanged_index.get(handle, transaction, record);
}

// The second pass of a body begins outside the transaction in which the first pass ended.
TEST_F(RepeatTest, EachPassOfABodyIsJudgedLikeTheFirst) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  const uint64_t body = thread.size();
  thread.begin(format::Kind::kScript, 0, format::kOneAttempt | format::kAnyCode);
  thread.get(0, a_);
  thread.commit();
  thread.begin(format::Kind::kScript, 0);
  thread.get(0, b_);
  thread.commit();
  thread.repeat(body, 2);
  thread.close(0);
  player::IndexApi api = unchanged_index;
  api.get = fail_for_a;
  const script::Script script = script_.build();
  EXPECT_EQ(findings_of(script, play(script, api)), "");
}

// In a transaction that accepts only legal codes, each pass is judged strictly.
TEST_F(RepeatTest, ALaterPassIsJudgedToo) {
  script::ThreadBuilder thread = out();
  thread.open(0, index_);
  thread.insert(0, a_, script_.new_payload(0));
  const uint64_t body = thread.size();
  thread.begin(format::Kind::kScript, 0, format::kOneAttempt | format::kAnyCode);
  thread.get(0, b_);
  thread.commit();
  thread.begin(format::Kind::kScript, 0);
  thread.get(0, a_);
  thread.commit();
  thread.repeat(body, 2);
  thread.close(0);
  player::IndexApi api = unchanged_index;
  api.get = [](IdxState* handle, TxnState* transaction, Record* record) {
    const bool is_a = std::string(record->key.keyval.charkey) == "a";
    return is_a && ++gets_of_a > 1 ? KEY_NOTFOUND
                                   : unchanged_index.get(handle, transaction, record);
  };
  const script::Script script = script_.build();
  EXPECT_NE(findings_of(script, play(script, api)), "");
}

using RepeatDeathTest = RepeatTest;

// The judges follow handles and transactions in program order. When a body is repeated, they do not
// restore the state in which it began. So the builder refuses a body that ends in another state.
TEST_F(RepeatDeathTest, ABodyEndsInTheStateInWhichItBegan) {
  script::ThreadBuilder thread = out();
  uint64_t body = thread.size();
  thread.open(0, index_);
  EXPECT_DEATH(thread.repeat(body, 1), "check failed");
  body = thread.size();
  thread.close(0);
  EXPECT_DEATH(thread.repeat(body, 1), "check failed");
  thread.open(0, index_);
  EXPECT_DEATH(thread.repeat(body, 1), "check failed") << "another index may have been open";
  thread.begin(format::Kind::kScript, 0);
  body = thread.size();
  thread.get(0, a_);
  thread.commit();
  EXPECT_DEATH(thread.repeat(body, 1), "check failed");
  body = thread.size();
  thread.open(1, index_);
  thread.get(1, a_);
  thread.close(1);
  thread.repeat(body, 1);
  thread.close(0);
}

}  // namespace
}  // namespace keydrome
