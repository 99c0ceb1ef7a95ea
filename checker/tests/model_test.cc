// Tests the model of contract A (model.h): it accepts every result that the contract allows for one
// client, and rejects all other results. Most histories are sequential, so search_orders() has only
// one order to try. script.h explains the notation of the histories.
#include "checker/model/model.h"

#include <gtest/gtest.h>

#include "checker/model/search_orders.h"
#include "checker/tests/script.h"

namespace keydrome {

using history::EventRef;
using model::Model;
using model::OrderSearch;

namespace {

// Returns true if some serial order gives all results of the history.
bool has_order(std::string_view steps, KeyType type = INT) {
  const OrderSearch found = model::search_orders(script(steps, type));
  EXPECT_EQ(found.problem, "") << steps;
  return found.order.has_value();
}

TEST(Model, AKeyIsFoundWithOneOfItsPayloads) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:g!(5)=x"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:g!(5)=y"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:g!(5)=y"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:g!(5)=NF"));
  EXPECT_FALSE(has_order("0:g!(5)=x"));
  EXPECT_TRUE(has_order("0:g!(5)=NF"));
}

TEST(Model, IndexesAreIndependent) {
  EXPECT_TRUE(has_order("0:A.i!(5,x) 0:B.g!(5)=NF 0:B.i!(5,x) 0:B.g!(5)=x"));
  EXPECT_FALSE(has_order("0:A.i!(5,x) 0:B.g!(5)=x"));
  EXPECT_TRUE(has_order("0:A.i!(5,x) 0:b 0:A.n=5,x 0:B.n=END 0:A.n=END 0:c"));
}

TEST(Model, APairIsStoredOnce) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,x)=EXISTS"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(5,x)"));
  EXPECT_FALSE(has_order("0:i!(5,x)=EXISTS"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:d!(5,x) 0:i!(5,x)"));
}

TEST(Model, DeletesReportWhatExisted) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:d!(5,y)=NONE 0:d!(5,x) 0:d!(5,x)=NONE 0:d!(5,x)=NF"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:d!(5,y)=NF"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:d!(5,x)=NONE"));
  EXPECT_FALSE(has_order("0:d!(5,x)"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:d!(5,*) 0:g!(5)=NF 0:d!(5,*)=NF"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:d!(5,*)=NF"));
  EXPECT_FALSE(has_order("0:d!(5,*)"));
}

TEST(Model, AScanReturnsEveryRecordOnceInTheOrderOfKeys) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:i!(-7,z) 0:b 0:n=-7,z 0:n=5,y 0:n=5,x 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(-7,z) 0:b 0:n=5,x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(5,y) 0:b 0:n=5,x 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(5,y) 0:b 0:n=5,x 0:n=5,x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(7,y) 0:b 0:g(7)=y 0:n=5,x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(5,y) 0:i!(7,z) 0:b 0:g(5)=x 0:n=7,z 0:c"));
}

TEST(Model, ScansContinueAfterTheKeyOfAGet) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,y) 0:b 0:g(5)=x 0:n=9,y 0:n=END 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,y) 0:b 0:g(6)=NF 0:n=9,y 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:b 0:g(6)=NF 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,y) 0:b 0:g(6)=NF 0:n=5,x 0:c"));
}

TEST(Model, AutoCommittedScansStartBeforeTheFirstRecord) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,y) 0:g!(5)=x 0:n!=5,x 0:n!=5,x"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,y) 0:n!=5,x 0:n!=9,y"));
}

TEST(Model, EachTransactionStartsItsOwnScan) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,y) 0:b 0:n=5,x 0:c 0:b 0:n=5,x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,y) 0:b 0:n=5,x 0:c 0:b 0:n=9,y 0:c"));
}

TEST(Model, OwnWritesAreSeen) {
  EXPECT_TRUE(has_order("0:b 0:i(5,x) 0:g(5)=x 0:d(5,x) 0:g(5)=NF 0:c"));
  EXPECT_FALSE(has_order("0:b 0:i(5,x) 0:g(5)=NF 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:b 0:d(5,*) 0:g(5)=x 0:c"));
}

TEST(Model, AScanReturnsAnOwnInsertAhead) {
  EXPECT_TRUE(has_order("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(5,y) 0:n=5,y 0:n=9,z 0:c"));
  EXPECT_FALSE(has_order("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(5,y) 0:n=9,z 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:b 0:g(5)=x 0:i(2,y) 0:n=2,y 0:c"));
}

TEST(Model, AScanMayReturnAnOwnInsertUnderItsKey) {
  EXPECT_TRUE(has_order("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(1,y) 0:n=1,y 0:n=9,z 0:c"));
  EXPECT_TRUE(has_order("0:i!(1,x) 0:i!(9,z) 0:b 0:g(1)=x 0:i(1,y) 0:n=9,z 0:c"));
  EXPECT_FALSE(has_order("0:i!(1,x) 0:b 0:g(1)=x 0:i(1,y) 0:n=1,y 0:n=1,y 0:c"));
  EXPECT_TRUE(has_order("0:i!(9,z) 0:b 0:g(1)=NF 0:i(1,y) 0:n=1,y 0:n=9,z 0:c"));
  EXPECT_TRUE(has_order("0:i!(9,z) 0:b 0:g(1)=NF 0:i(1,y) 0:n=9,z 0:c"));
}

TEST(Model, AScanContinuesAfterOwnDeletes) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,*) 0:n=9,z 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,*) 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,*) 0:n=5,x 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:d(9,z) 0:n=END 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,w) 0:b 0:g(5)=x 0:d(5,*) 0:i(5,z) 0:n=5,z 0:n=9,w 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,w) 0:b 0:g(5)=x 0:d(5,*) 0:i(5,z) 0:n=9,w 0:c"));
}

TEST(Model, AdvisoryRulesAreNotChecked) {
  // The transaction has deleted one pair of the cursor's key.
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,x) 0:n=5,y 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,x) 0:n=9,z 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(5,y) 0:b 0:g(5)=x 0:d(5,x) 0:n=5,x 0:c"));
  // The client has closed and opened the index in the transaction.
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:close 0:open 0:n=9,z 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:close 0:open 0:n=5,x 0:c"));
  // A get positions the cursor again.
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:open 0:g(5)=x 0:n=5,x 0:c"));
}

TEST(Model, TheCursorsOfSeveralHandlesOfAnIndexAreUnknown) {
  EXPECT_TRUE(
      has_order("0:i!(5,x) 0:i!(9,z) 0:open 0:open 0:b 0:n=5,x 0:n=5,x 0:n=9,z 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:open 0:close 0:open 0:b 0:n=5,x 0:n=5,x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:open 0:open 0:b 0:n=7,x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,z) 0:open 0:open 0:b 0:B.g(1)=x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,z) 0:A.open 0:A.open 0:B.i!(1,y) 0:b 0:B.n=END 0:c"));
}

TEST(Model, AfterDbEndOnlyAnOwnInsertAheadIsReturned) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:n=END 0:i(7,y) 0:n=7,y 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:i(7,y) 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:i(7,y) 0:i(8,z) 0:n=8,z 0:c"));
  // After DB_END, a scan that starts again at the first record breaks only an advisory rule.
  EXPECT_TRUE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:n=5,x 0:n=END 0:c"));
}

TEST(Model, FailedTransactionsHaveNoEffect) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:b 0:d(5,*) 0:i(6,y) 0:a 0:g!(5)=x 0:g!(6)=NF"));
  EXPECT_TRUE(has_order("0:b 0:i(6,y) 0:g(5)=DL 0:a=TXN 0:g!(6)=NF"));
  EXPECT_TRUE(has_order("0:b 0:i(6,y) 0:c=DL 0:a 0:g!(6)=NF 0:i!(6,y)=DL 0:g!(6)=NF"));
  EXPECT_FALSE(has_order("0:b 0:i(6,y) 0:a 0:g!(6)=y"));
}

TEST(Model, StringsAreOrderedByBytes) {
  EXPECT_TRUE(
      has_order("0:i!(b,x) 0:i!(ab,y) 0:i!(a,z) 0:b 0:n=a,z 0:n=ab,y 0:n=b,x 0:c", VARCHAR));
  EXPECT_FALSE(has_order("0:i!(b,x) 0:i!(ab,y) 0:b 0:n=b,x 0:c", VARCHAR));
}

TEST(Model, NumbersAreOrderedBySign) {
  for (const KeyType type : {SHORT, INT}) {
    EXPECT_TRUE(has_order("0:i!(1,x) 0:i!(-1,y) 0:b 0:n=-1,y 0:n=1,x 0:c", type));
    EXPECT_FALSE(has_order("0:i!(1,x) 0:i!(-1,y) 0:b 0:n=1,x 0:c", type));
  }
}

TEST(Orders, ConcurrentTransactionsMayHaveAnyOrder) {
  EXPECT_TRUE(has_order("0:b 1:b 0:i(5,x) 1:g(5)=NF 0:c 1:c"));
  EXPECT_TRUE(has_order("0:b 1:b 0:i(5,x) 0:c 1:g(5)=x 1:c"));
  EXPECT_FALSE(has_order("0:b 0:i(5,x) 0:c 1:b 1:g(5)=NF 1:c"));
  EXPECT_TRUE(model::search_orders(script("0:b 0:i(5,x) 0:c 1:b 1:g(5)=NF 1:c"), false).order);
}

TEST(Orders, WriteSkewFitsNoOrder) {
  EXPECT_FALSE(has_order("0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:c"));
  EXPECT_TRUE(has_order("0:b 1:b 0:g(1)=NF 1:g(2)=NF 0:i(2,x) 1:i(1,y) 0:c 1:a"));
}

TEST(Orders, AnUnfinishedTransactionMayHaveCommittedOrNot) {
  EXPECT_TRUE(has_order("0:b 0:i(5,x) 1:g!(5)=x"));
  EXPECT_TRUE(has_order("0:b 0:i(5,x) 1:g!(5)=NF"));
  EXPECT_FALSE(has_order("0:b 0:i(5,x) 0:i(6,y) 1:b 1:g(5)=x 1:g(6)=NF 1:c"));
}

TEST(Orders, DirtyReadsOfFailedTransactionsAreListed) {
  const OrderSearch found = model::search_orders(script("0:b 0:i(5,x) 1:b 1:g(5)=x 1:a 0:c"));
  EXPECT_TRUE(found.order);
  ASSERT_EQ(found.dirty_reads.size(), 1u);
  EXPECT_EQ(found.dirty_reads[0], (EventRef{1, 1}));
  EXPECT_TRUE(model::search_orders(script("0:b 0:i(5,x) 0:g(5)=x 0:a")).dirty_reads.empty());
}

TEST(Orders, ImpossibleSequencesOfCallsAreNotJudged) {
  for (const char* steps : {"0:c", "0:g(5)=NF", "0:b 0:b", "0:b 0:c 0:i(5,x)"}) {
    EXPECT_NE(model::search_orders(script(steps)).problem, "") << steps;
  }
}

}  // namespace
}  // namespace keydrome
