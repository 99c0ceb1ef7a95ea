// Tests reads, cursors, visibility and abort in one thread. Each test checks one promise of
// contract A (keydrome/index.h), with every key type.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "indexes/tests/library.h"

namespace keydrome {
namespace {

class OnEveryType : public testing::TestWithParam<KeyType> {
 protected:
  // Inserts pairs with auto-commit: each insert is a transaction of its own.
  void fill(std::initializer_list<std::pair<int64_t, const char*>> pairs) {
    for (const auto& [number, payload] : pairs) {
      ASSERT_EQ(a.insert(nullptr, a.key(number), payload), SUCCESS);
    }
  }
  Read pair(int64_t number, std::string payload) const {
    return {SUCCESS, a.key(number), std::move(payload)};
  }
  Read answer(ErrCode code) const { return {code, {}, {}}; }

  const char* name = make_index(GetParam());
  Handle a{name, GetParam()};
};

class RequiredSemantics : public OnEveryType {};
class AdvisorySemantics : public OnEveryType {};

TEST_P(RequiredSemantics, CreateAnswersExistsForAKnownNameOfAnyType) {
  std::string again = name;
  EXPECT_EQ(library().create(GetParam(), again.data()), DB_EXISTS);
  EXPECT_EQ(library().create(GetParam() == INT ? SHORT : INT, again.data()), DB_EXISTS);
  fill({{1, "still of the first type"}});
}

TEST_P(RequiredSemantics, OpenAnswersDneForAnUnknownName) {
  IdxState* state = nullptr;
  EXPECT_EQ(library().open_index("no such index", &state), DB_DNE);
}

TEST_P(RequiredSemantics, AnIndexMayBeOpenedInsideATransaction) {
  fill({{1, "a"}});
  const char* const other = make_index(GetParam());
  Transaction txn;
  EXPECT_EQ(a.insert(txn, a.key(2), "b"), SUCCESS);
  {
    const Handle b(other, GetParam());
    EXPECT_EQ(b.next(txn), answer(DB_END));
    EXPECT_EQ(b.insert(txn, b.key(3), "c"), SUCCESS);
  }
  EXPECT_EQ(txn.commit(), SUCCESS);
  const Handle b(other, GetParam());
  EXPECT_EQ(b.get(nullptr, b.key(3)), pair(3, "c"));
  EXPECT_EQ(a.get(nullptr, a.key(2)), pair(2, "b"));
}

TEST_P(RequiredSemantics, CloseInsideATransactionChangesNothing) {
  Transaction txn;
  EXPECT_EQ(a.insert(txn, a.key(1), "x"), SUCCESS);
  {
    const Handle b(name, GetParam());
    EXPECT_EQ(b.insert(txn, b.key(2), "y"), SUCCESS);
  }
  EXPECT_EQ(txn.commit(), SUCCESS);
  EXPECT_EQ(a.get(nullptr, a.key(1)), pair(1, "x"));
  EXPECT_EQ(a.get(nullptr, a.key(2)), pair(2, "y"));
}

TEST_P(RequiredSemantics, AutoCommitIsVisibleAtOnce) {
  EXPECT_EQ(a.get(nullptr, a.key(1)), answer(KEY_NOTFOUND));
  fill({{1, "x"}});
  EXPECT_EQ(a.get(nullptr, a.key(1)), pair(1, "x"));
  EXPECT_EQ(a.erase(nullptr, a.key(1), "x"), SUCCESS);
  EXPECT_EQ(a.get(nullptr, a.key(1)), answer(KEY_NOTFOUND));
}

TEST_P(RequiredSemantics, GetNextWithoutTransactionIsAlwaysTheFirstRecord) {
  EXPECT_EQ(a.next(nullptr), answer(DB_END));
  fill({{5, "b"}, {1, "a"}});
  EXPECT_EQ(a.next(nullptr), pair(1, "a"));
  EXPECT_EQ(a.next(nullptr), pair(1, "a"));
  EXPECT_EQ(a.get(nullptr, a.key(5)), pair(5, "b"));
  EXPECT_EQ(a.next(nullptr), pair(1, "a"));
}

TEST_P(RequiredSemantics, AScanStartsAtTheFirstRecordInEveryTransaction) {
  fill({{3, "c"}, {1, "a"}, {2, "b"}});
  for (int round = 0; round < 2; ++round) {
    Transaction txn;
    EXPECT_EQ(a.next(txn), pair(1, "a"));
    EXPECT_EQ(a.next(txn), pair(2, "b"));
    if (round == 0) {
      EXPECT_EQ(txn.commit(), SUCCESS);
      continue;
    }
    EXPECT_EQ(a.next(txn), pair(3, "c"));
    EXPECT_EQ(a.next(txn), answer(DB_END));
    EXPECT_EQ(txn.abort(), SUCCESS);
  }
}

TEST_P(RequiredSemantics, GetPlacesTheCursor) {
  fill({{1, "a"}, {5, "b"}, {9, "c"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(5)), pair(5, "b"));
  EXPECT_EQ(a.next(txn), pair(9, "c"));
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  EXPECT_EQ(a.next(txn), pair(5, "b"));
}

TEST_P(RequiredSemantics, AfterAFailedGetTheScanContinuesAfterTheKey) {
  fill({{2, "a"}, {5, "b"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(1)), answer(KEY_NOTFOUND));
  EXPECT_EQ(a.next(txn), pair(2, "a"));
  EXPECT_EQ(a.get(txn, a.key(3)), answer(KEY_NOTFOUND));
  EXPECT_EQ(a.next(txn), pair(5, "b"));
  EXPECT_EQ(a.get(txn, a.key(7)), answer(KEY_NOTFOUND));
  EXPECT_EQ(a.next(txn), answer(DB_END));
}

TEST_P(RequiredSemantics, EveryPayloadOfAKeyIsReadOnce) {
  for (const int count : {1, 2, 100, 3000}) {
    const char* const index = make_index(GetParam());
    const Handle h(index, GetParam());
    std::set<std::string> expected;
    for (int i = 0; i < count; ++i) expected.insert("payload " + std::to_string(i));
    for (const std::string& payload : expected) {
      ASSERT_EQ(h.insert(nullptr, h.key(7), payload), SUCCESS);
    }
    ASSERT_EQ(h.insert(nullptr, h.key(6), "before"), SUCCESS);
    ASSERT_EQ(h.insert(nullptr, h.key(8), "after"), SUCCESS);
    Transaction txn;
    std::set<std::string> seen = {h.get(txn, h.key(7)).payload};
    for (int i = 1; i < count; ++i) {
      const Read read = h.next(txn);
      ASSERT_EQ(read.code, SUCCESS);
      ASSERT_EQ(read.key, h.key(7));
      ASSERT_TRUE(seen.insert(read.payload).second) << read.payload << " was returned twice";
    }
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(h.next(txn), pair(8, "after"));
    EXPECT_EQ(h.next(txn), answer(DB_END));
  }
}

TEST_P(RequiredSemantics, OwnInsertAfterTheCursorIsSeenAndBeforeItIsNot) {
  fill({{1, "a"}, {9, "c"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  EXPECT_EQ(a.insert(txn, a.key(5), "b"), SUCCESS);
  EXPECT_EQ(a.get(txn, a.key(5)), pair(5, "b"));
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  EXPECT_EQ(a.next(txn), pair(5, "b"));
  EXPECT_EQ(a.insert(txn, a.key(3), "after"), SUCCESS);
  EXPECT_EQ(a.next(txn), pair(9, "c"));
  EXPECT_EQ(a.next(txn), answer(DB_END));
}

TEST_P(RequiredSemantics, OwnInsertBeyondTheEndIsSeen) {
  fill({{1, "a"}});
  Transaction txn;
  EXPECT_EQ(a.next(txn), pair(1, "a"));
  EXPECT_EQ(a.next(txn), answer(DB_END));
  EXPECT_EQ(a.insert(txn, a.key(4), "new"), SUCCESS);
  EXPECT_EQ(a.next(txn), pair(4, "new"));
}

TEST_P(RequiredSemantics, OwnInsertUnderTheCurrentKeyComesAtMostOnce) {
  fill({{1, "a"}, {2, "b"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  EXPECT_EQ(a.insert(txn, a.key(1), "z"), SUCCESS);
  Read read = a.next(txn);
  if (read == pair(1, "z")) read = a.next(txn);
  EXPECT_EQ(read, pair(2, "b"));
}

TEST_P(RequiredSemantics, AScanContinuesAfterOwnDeletes) {
  fill({{1, "a"}, {5, "b"}, {7, "c"}, {9, "d"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  EXPECT_EQ(a.erase_all(txn, a.key(5)), SUCCESS);
  EXPECT_EQ(a.next(txn), pair(7, "c"));
  EXPECT_EQ(a.erase_all(txn, a.key(7)), SUCCESS);  // the current record
  EXPECT_EQ(a.next(txn), pair(9, "d"));
  EXPECT_EQ(a.erase_all(txn, a.key(9)), SUCCESS);
  EXPECT_EQ(a.next(txn), answer(DB_END));
}

// Uses many payloads of one key, because a library may have a special way to store many payloads.
TEST_P(RequiredSemantics, AScanContinuesAfterDeletingManyPayloadsUnderIt) {
  const Handle other(name, GetParam());
  fill({{4, "after"}});
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(a.insert(nullptr, a.key(2), std::string(90, 'p') + std::to_string(i)), SUCCESS);
  }
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(2)).code, SUCCESS);
  EXPECT_EQ(other.get(txn, other.key(2)).code, SUCCESS);
  EXPECT_EQ(a.erase_all(txn, a.key(2)), SUCCESS);
  EXPECT_EQ(a.next(txn), pair(4, "after"));
  EXPECT_EQ(a.next(txn), answer(DB_END));
}

TEST_P(RequiredSemantics, GetAfterEndOfScanWorks) {
  fill({{1, "a"}, {2, "b"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(2)), pair(2, "b"));
  EXPECT_EQ(a.next(txn), answer(DB_END));
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  EXPECT_EQ(a.next(txn), pair(2, "b"));
}

TEST_P(RequiredSemantics, CursorsOfTwoIndexesAreIndependent) {
  fill({{1, "a"}, {2, "b"}});
  const Handle b(make_index(GetParam()), GetParam());
  ASSERT_EQ(b.insert(nullptr, b.key(3), "c"), SUCCESS);
  ASSERT_EQ(b.insert(nullptr, b.key(4), "d"), SUCCESS);
  Transaction txn;
  EXPECT_EQ(a.next(txn), pair(1, "a"));
  EXPECT_EQ(b.next(txn), pair(3, "c"));
  EXPECT_EQ(a.next(txn), pair(2, "b"));
  EXPECT_EQ(b.next(txn), pair(4, "d"));
  EXPECT_EQ(a.next(txn), answer(DB_END));
}

TEST_P(RequiredSemantics, SamePairTwiceIsEntryExists) {
  Transaction txn;
  EXPECT_EQ(a.insert(txn, a.key(1), "x"), SUCCESS);
  EXPECT_EQ(a.insert(txn, a.key(1), "x"), ENTRY_EXISTS);
  EXPECT_EQ(a.erase(txn, a.key(1), "x"), SUCCESS);
  EXPECT_EQ(a.insert(txn, a.key(1), "x"), SUCCESS);
  EXPECT_EQ(txn.abort(), SUCCESS);
  Transaction again;
  EXPECT_EQ(a.insert(again, a.key(1), "x"), SUCCESS);
  EXPECT_EQ(again.commit(), SUCCESS);
  EXPECT_EQ(a.insert(nullptr, a.key(1), "x"), ENTRY_EXISTS);
  Transaction scan;
  EXPECT_EQ(a.next(scan), pair(1, "x"));
  EXPECT_EQ(a.next(scan), answer(DB_END));
}

TEST_P(RequiredSemantics, DeleteOfWhatIsMissingChangesNothing) {
  fill({{1, "a"}});
  Transaction txn;
  for (const auto& [key, payload] : {std::pair(1, "other"), {2, "a"}}) {
    const ErrCode code = a.erase(txn, a.key(key), payload);
    EXPECT_TRUE(code == ENTRY_DNE || code == KEY_NOTFOUND) << code_name(code);
  }
  EXPECT_EQ(a.erase_all(txn, a.key(2)), KEY_NOTFOUND);
  EXPECT_EQ(txn.commit(), SUCCESS);
  EXPECT_EQ(a.get(nullptr, a.key(1)), pair(1, "a"));
}

TEST_P(RequiredSemantics, AnEmptyPayloadIsStoredAndDeletesAll) {
  fill({{1, ""}, {1, "a"}});
  EXPECT_EQ(a.insert(nullptr, a.key(1), ""), ENTRY_EXISTS);
  {
    Transaction txn;
    std::set<std::string> seen = {a.get(txn, a.key(1)).payload};
    seen.insert(a.next(txn).payload);
    EXPECT_EQ(seen, (std::set<std::string>{"", "a"}));
    EXPECT_EQ(a.next(txn), answer(DB_END));
  }
  EXPECT_EQ(a.erase(nullptr, a.key(1), ""), SUCCESS);
  EXPECT_EQ(a.get(nullptr, a.key(1)), answer(KEY_NOTFOUND));
}

TEST_P(RequiredSemantics, AbortTakesEverythingBack) {
  const Handle b(make_index(GetParam()), GetParam());
  fill({{1, "a"}, {1, "b"}, {2, "c"}});
  Transaction txn;
  EXPECT_EQ(a.erase_all(txn, a.key(1)), SUCCESS);
  EXPECT_EQ(a.insert(txn, a.key(1), "z"), SUCCESS);
  EXPECT_EQ(a.erase(txn, a.key(2), "c"), SUCCESS);
  EXPECT_EQ(a.insert(txn, a.key(2), "c"), SUCCESS);
  EXPECT_EQ(a.erase(txn, a.key(2), "c"), SUCCESS);
  EXPECT_EQ(a.insert(txn, a.key(3), "y"), SUCCESS);
  EXPECT_EQ(b.insert(txn, b.key(4), "w"), SUCCESS);
  EXPECT_EQ(txn.abort(), SUCCESS);

  Transaction scan;
  std::set<std::string> ones = {a.next(scan).payload, a.next(scan).payload};
  EXPECT_EQ(ones, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(a.next(scan), pair(2, "c"));
  EXPECT_EQ(a.next(scan), answer(DB_END));
  EXPECT_EQ(b.next(scan), answer(DB_END));
}

TEST_P(RequiredSemantics, CommitKeepsEverything) {
  fill({{1, "a"}, {2, "b"}});
  Transaction txn;
  EXPECT_EQ(a.erase_all(txn, a.key(1)), SUCCESS);
  EXPECT_EQ(a.insert(txn, a.key(3), "c"), SUCCESS);
  EXPECT_EQ(txn.commit(), SUCCESS);
  Transaction scan;
  EXPECT_EQ(a.next(scan), pair(2, "b"));
  EXPECT_EQ(a.next(scan), pair(3, "c"));
  EXPECT_EQ(a.next(scan), answer(DB_END));
}

TEST_P(RequiredSemantics, EmptyTransactionsCommitAndAbort) {
  for (int round = 0; round < 1000; ++round) {
    Transaction txn;
    ASSERT_EQ(round % 2 == 0 ? txn.commit() : txn.abort(), SUCCESS);
  }
}

TEST_P(AdvisorySemantics, DbEndStaysDbEnd) {
  fill({{1, "a"}, {2, "b"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(2)), pair(2, "b"));
  EXPECT_EQ(a.next(txn), answer(DB_END));
  EXPECT_EQ(a.next(txn), answer(DB_END));
  EXPECT_EQ(a.insert(txn, a.key(0), "after"), SUCCESS);
  EXPECT_EQ(a.next(txn), answer(DB_END));
}

TEST_P(AdvisorySemantics, AMissingPairOfAKeyWithOtherPayloadsIsEntryDne) {
  fill({{1, "a"}});
  EXPECT_EQ(a.erase(nullptr, a.key(1), "other"), ENTRY_DNE);
}

TEST_P(AdvisorySemantics, AScanContinuesAfterDeletingOnePayloadOfTheCurrentKey) {
  fill({{5, "a"}, {5, "b"}, {5, "c"}, {9, "d"}});
  Transaction txn;
  std::set<std::string> seen;
  Read read = a.get(txn, a.key(5));
  for (int i = 0; i < 4; ++i, read = a.next(txn)) {
    ASSERT_EQ(read.code, SUCCESS);
    seen.insert(read.payload);
    EXPECT_EQ(a.erase(txn, read.key, read.payload), SUCCESS);
  }
  EXPECT_EQ(read, answer(DB_END));
  EXPECT_EQ(seen, (std::set<std::string>{"a", "b", "c", "d"}));
}

TEST_P(AdvisorySemantics, CloseAndReopenResetsTheCursor) {
  fill({{1, "a"}, {2, "b"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  a.reopen();
  EXPECT_EQ(a.next(txn), pair(1, "a"));
}

TEST_P(AdvisorySemantics, TwoHandlesOfOneIndexHaveTheirOwnCursors) {
  fill({{1, "a"}, {2, "b"}});
  const Handle b(name, GetParam());
  Transaction txn;
  EXPECT_EQ(a.next(txn), pair(1, "a"));
  EXPECT_EQ(a.next(txn), pair(2, "b"));
  EXPECT_EQ(b.next(txn), pair(1, "a"));
  EXPECT_EQ(a.next(txn), answer(DB_END));
}

TEST_P(AdvisorySemantics, ASecondBeginWhileATransactionIsOpenIsTxnExists) {
  Transaction txn;
  EXPECT_EQ(a.insert(txn, a.key(1), "x"), SUCCESS);
  TxnState* second = nullptr;
  EXPECT_EQ(library().begin(&second), TXN_EXISTS);
  EXPECT_EQ(txn.commit(), SUCCESS);
  EXPECT_EQ(a.get(nullptr, a.key(1)), pair(1, "x"));
}

// Makes auto-commit calls while the thread has a transaction open. Such a call may return DEADLOCK.
// It must not wait for this transaction, and must not see or undo the changes of this transaction.
TEST_P(AdvisorySemantics, AutoCommitDuringTheOwnTransactionIsATransactionOfItsOwn) {
  fill({{1, "a"}});
  Transaction txn;
  EXPECT_EQ(a.get(txn, a.key(1)), pair(1, "a"));
  const Read before = a.get(nullptr, a.key(1));
  EXPECT_TRUE(before == pair(1, "a") || before.code == DEADLOCK) << code_name(before.code);
  EXPECT_EQ(a.insert(txn, a.key(2), "x"), SUCCESS);
  const Read own = a.get(nullptr, a.key(2));
  EXPECT_TRUE(own.code == KEY_NOTFOUND || own.code == DEADLOCK) << code_name(own.code);
  const ErrCode write = a.insert(nullptr, a.key(3), "y");
  EXPECT_TRUE(write == SUCCESS || write == DEADLOCK) << code_name(write);
  EXPECT_EQ(txn.abort(), SUCCESS);
  EXPECT_EQ(a.get(nullptr, a.key(2)), answer(KEY_NOTFOUND));
  EXPECT_EQ(a.get(nullptr, a.key(3)).code, write == SUCCESS ? SUCCESS : KEY_NOTFOUND);
}

constexpr auto kTypeName = [](const testing::TestParamInfo<KeyType>& info) {
  return info.param == SHORT ? "Short" : info.param == INT ? "Int" : "Varchar";
};
INSTANTIATE_TEST_SUITE_P(, RequiredSemantics, testing::Values(SHORT, INT, VARCHAR), kTypeName);
INSTANTIATE_TEST_SUITE_P(, AdvisorySemantics, testing::Values(SHORT, INT, VARCHAR), kTypeName);

}  // namespace
}  // namespace keydrome
