// The contract's promises to one client, one by one, and which answers it leaves free. Single
// sessions and sequential transactions: search_orders() then has one order to try.
#include "checker/model.h"

#include <gtest/gtest.h>

#include "checker/search_orders.h"
#include "checker/tests/script.h"

namespace keydrome {
namespace {

bool fits(std::string_view steps, KeyType type = INT) {
  const OrderSearch found = search_orders(script(steps, type));
  EXPECT_EQ(found.problem, "") << steps;
  return found.order.has_value();
}

TEST(Model, AKeyIsFoundWithOneOfItsPayloads) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:g!(5)=x"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(5,y) 0:g!(5)=y"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:g!(5)=y"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:g!(5)=NF"));
  EXPECT_FALSE(fits("0:g!(5)=x"));
  EXPECT_TRUE(fits("0:g!(5)=NF"));
}

TEST(Model, IndexesAreApart) {
  EXPECT_TRUE(fits("0:A.i!(5,x) 0:B.g!(5)=NF 0:B.i!(5,x) 0:B.g!(5)=x"));
  EXPECT_FALSE(fits("0:A.i!(5,x) 0:B.g!(5)=x"));
  EXPECT_TRUE(fits("0:A.i!(5,x) 0:b 0:A.n=5,x 0:B.n=END 0:A.n=END 0:c"));
}

TEST(Model, APairIsStoredOnce) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(5,x)=EXISTS"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(5,x)"));
  EXPECT_FALSE(fits("0:i!(5,x)=EXISTS"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:d!(5,x) 0:i!(5,x)"));
}

TEST(Model, DeletesSayWhatWasThere) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:d!(5,y)=NONE 0:d!(5,x) 0:d!(5,x)=NONE 0:d!(5,x)=NF"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:d!(5,y)=NF"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:d!(5,x)=NONE"));
  EXPECT_FALSE(fits("0:d!(5,x)"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(5,y) 0:d!(5,*) 0:g!(5)=NF 0:d!(5,*)=NF"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:d!(5,*)=NF"));
  EXPECT_FALSE(fits("0:d!(5,*)"));
}

TEST(Model, AScanShowsEveryRecordOnceInOrderOfKeys) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(5,y) 0:i!(-7,z) 0:b 0:n=-7,z 0:n=5,y 0:n=5,x 0:n=END 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(-7,z) 0:b 0:n=5,x 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(5,y) 0:b 0:n=5,x 0:n=END 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(5,y) 0:b 0:n=5,x 0:n=5,x 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(7,y) 0:b 0:g(7)=y 0:n=5,x 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(5,y) 0:i!(7,z) 0:b 0:g(5)=x 0:n=7,z 0:c"));
}

TEST(Model, ScansStartWhereTheGetStood) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,y) 0:b 0:g(5)=x 0:n=9,y 0:n=END 0:c"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,y) 0:b 0:g(6)=NF 0:n=9,y 0:c"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:b 0:g(6)=NF 0:n=END 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,y) 0:b 0:g(6)=NF 0:n=5,x 0:c"));
}

TEST(Model, AutoCommittedScansStandBeforeTheFirst) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,y) 0:g!(5)=x 0:n!=5,x 0:n!=5,x"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,y) 0:n!=5,x 0:n!=9,y"));
}

TEST(Model, EachTransactionStartsAnew) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,y) 0:b 0:n=5,x 0:c 0:b 0:n=5,x 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,y) 0:b 0:n=5,x 0:c 0:b 0:n=9,y 0:c"));
}

TEST(Model, OwnWritesAreSeen) {
  EXPECT_TRUE(fits("0:b 0:i(5,x) 0:g(5)=x 0:d(5,x) 0:g(5)=NF 0:c"));
  EXPECT_FALSE(fits("0:b 0:i(5,x) 0:g(5)=NF 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:b 0:d(5,*) 0:g(5)=x 0:c"));
}

TEST(Model, AnOwnInsertAheadMustShow) {
  EXPECT_TRUE(fits("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(5,y) 0:n=5,y 0:n=9,z 0:c"));
  EXPECT_FALSE(fits("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(5,y) 0:n=9,z 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:b 0:g(5)=x 0:i(2,y) 0:n=2,y 0:c"));
}

TEST(Model, AnOwnInsertUnderTheCursorMayShow) {
  EXPECT_TRUE(fits("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(1,y) 0:n=1,y 0:n=9,z 0:c"));
  EXPECT_TRUE(fits("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(1,y) 0:n=9,z 0:c"));
  EXPECT_FALSE(fits("0:i!(1,x) 0:b 0:g(1)=x 0:i(1,y) 0:n=1,y 0:n=1,y 0:c"));
  EXPECT_TRUE(fits("0:i!(9,z) 0:b 0:g(1)=NF 0:i(1,y) 0:n=1,y 0:n=9,z 0:c"));
  EXPECT_TRUE(fits("0:i!(9,z) 0:b 0:g(1)=NF 0:i(1,y) 0:n=9,z 0:c"));
}

TEST(Model, AScanGoesOnAfterOwnDeletes) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,*) 0:n=9,z 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,*) 0:n=END 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,*) 0:n=5,x 0:c"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(9,z) 0:n=END 0:c"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,w) 0:b 0:g(5)=x 0:d(5,*) 0:i(5,z) 0:n=5,z 0:n=9,w 0:c"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,w) 0:b 0:g(5)=x 0:d(5,*) 0:i(5,z) 0:n=9,w 0:c"));
}

TEST(Model, WhatIsAdvisoryIsLeftFree) {
  // After an own deletion of one pair of the cursor's key.
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(5,y) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,x) 0:n=5,y 0:c"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(5,y) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,x) 0:n=9,z 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(5,y) 0:b 0:g(5)=x 0:d(5,x) 0:n=5,x 0:c"));
  // After open or close in the transaction.
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:close 0:open 0:n=9,z 0:c"));
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:close 0:open 0:n=5,x 0:c"));
  // A get places the cursor again.
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,z) 0:b 0:open 0:g(5)=x 0:n=5,x 0:c"));
}

TEST(Model, SeveralHandlesOfAnIndexHaveCursorsThatNobodyKnows) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:i!(9,z) 0:open 0:open 0:b 0:n=5,x 0:n=5,x 0:n=9,z 0:n=END 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:open 0:close 0:open 0:b 0:n=5,x 0:n=5,x 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:open 0:open 0:b 0:n=7,x 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,z) 0:open 0:open 0:b 0:B.g(1)=x 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:i!(9,z) 0:A.open 0:A.open 0:B.i!(1,y) 0:b 0:B.n=END 0:c"));
}

TEST(Model, TheEndStaysTheEndUntilAnOwnInsertBeyond) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:n=END 0:i(7,y) 0:n=7,y 0:n=END 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:i(7,y) 0:n=END 0:c"));
  EXPECT_FALSE(fits("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:i(7,y) 0:i(8,z) 0:n=8,z 0:c"));
  // Starting again behind the end is advisory.
  EXPECT_TRUE(fits("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:n=5,x 0:n=END 0:c"));
}

TEST(Model, FailedTransactionsLeaveNothing) {
  EXPECT_TRUE(fits("0:i!(5,x) 0:b 0:d(5,*) 0:i(6,y) 0:a 0:g!(5)=x 0:g!(6)=NF"));
  EXPECT_TRUE(fits("0:b 0:i(6,y) 0:g(5)=DL 0:a=TXN 0:g!(6)=NF"));
  EXPECT_TRUE(fits("0:b 0:i(6,y) 0:c=DL 0:a 0:g!(6)=NF 0:i!(6,y)=DL 0:g!(6)=NF"));
  EXPECT_FALSE(fits("0:b 0:i(6,y) 0:a 0:g!(6)=y"));
}

TEST(Model, StringsAreOrderedByBytes) {
  EXPECT_TRUE(fits("0:i!(b,x) 0:i!(ab,y) 0:i!(a,z) 0:b 0:n=a,z 0:n=ab,y 0:n=b,x 0:c", VARCHAR));
  EXPECT_FALSE(fits("0:i!(b,x) 0:i!(ab,y) 0:b 0:n=b,x 0:c", VARCHAR));
}

TEST(Model, NumbersAreOrderedBySign) {
  for (const KeyType type : {SHORT, INT}) {
    EXPECT_TRUE(fits("0:i!(1,x) 0:i!(-1,y) 0:b 0:n=-1,y 0:n=1,x 0:c", type));
    EXPECT_FALSE(fits("0:i!(1,x) 0:i!(-1,y) 0:b 0:n=1,x 0:c", type));
  }
}

TEST(Orders, ConcurrentTransactionsMayStandInAnyOrder) {
  EXPECT_TRUE(fits("0:b 1:b 0:i(5,x) 1:g(5)=NF 0:c 1:c"));
  EXPECT_TRUE(fits("0:b 1:b 0:i(5,x) 0:c 1:g(5)=x 1:c"));
  EXPECT_FALSE(fits("0:b 0:i(5,x) 0:c 1:b 1:g(5)=NF 1:c"));
  EXPECT_TRUE(search_orders(script("0:b 0:i(5,x) 0:c 1:b 1:g(5)=NF 1:c"), false).order);
}

TEST(Orders, WriteSkewFitsNoOrder) {
  EXPECT_FALSE(fits("0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:c"));
  EXPECT_TRUE(fits("0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:a"));
}

TEST(Orders, AnUnfinishedTransactionMayHaveCommittedOrNot) {
  EXPECT_TRUE(fits("0:b 0:i(5,x) 1:g!(5)=x"));
  EXPECT_TRUE(fits("0:b 0:i(5,x) 1:g!(5)=NF"));
  EXPECT_FALSE(fits("0:b 0:i(5,x) 0:i(6,y) 1:b 1:g(5)=x 1:g(6)=NF 1:c"));
}

TEST(Orders, DirtyReadsAreListedEvenOfThoseThatFail) {
  const OrderSearch found = search_orders(script("0:b 0:i(5,x) 1:b 1:g(5)=x 1:a 0:c"));
  EXPECT_TRUE(found.order);
  ASSERT_EQ(found.dirty_reads.size(), 1u);
  EXPECT_EQ(found.dirty_reads[0], (EventRef{1, 1}));
  EXPECT_TRUE(search_orders(script("0:b 0:i(5,x) 0:g(5)=x 0:a")).dirty_reads.empty());
}

TEST(Orders, WhatNoClientCanDoIsNotJudged) {
  for (const char* steps : {"0:c", "0:g(5)=NF", "0:b 0:b", "0:b 0:c 0:i(5,x)"}) {
    EXPECT_NE(search_orders(script(steps)).problem, "") << steps;
  }
}

}  // namespace
}  // namespace keydrome
