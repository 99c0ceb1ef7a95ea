// Tests the model (model.h) of contract A, the interface of an index library (keydrome/index.h).
// The model accepts every result that the contract allows for one client, and rejects all other
// results. Most histories are sequential, so search_orders() has only one order to try. A cursor is
// *loose* if its position is unknown. The next record that getNext returns then *anchors* the
// cursor (model.h).
//
// script.h explains the notation of the histories. For example, in "0:b 0:i(5,x) 0:c 1:g!(5)=NF",
// thread 0 begins, inserts payload x under key 5 and commits. Then a get of thread 1 outside a
// transaction (auto-commit) does not find key 5.
#include "checker/model/model.h"

#include <gtest/gtest.h>

#include <string>

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
  EXPECT_FALSE(has_order("0:i!(5,x) 0:d!(5,x)=NONE"));
  EXPECT_FALSE(has_order("0:d!(5,x)"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:d!(5,*) 0:g!(5)=NF 0:d!(5,*)=NF"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:d!(5,*)=NF"));
  EXPECT_FALSE(has_order("0:d!(5,*)"));
}

// KEY_NOTFOUND for a missing pair of a key with other payloads is accepted, but noted in
// OrderSearch::delete_codes.
TEST(Model, TheCodeForAMissingPairIsAdvisory) {
  const auto noted = [](std::string_view steps) {
    const model::OrderSearch found = model::search_orders(script(steps));
    EXPECT_TRUE(found.order) << steps;
    return found.delete_codes.size();
  };
  EXPECT_EQ(noted("0:i!(5,x) 0:d!(5,y)=NF"), 1u);
  EXPECT_EQ(noted("0:i!(5,x) 0:d!(5,y)=NONE"), 0u);
  EXPECT_EQ(noted("0:d!(5,y)=NF 0:i!(5,x) 0:d!(5,*) 0:d!(5,y)=NF"), 0u);
  // If thread 0 precedes thread 1, the key is still empty, so the code is right.
  EXPECT_EQ(noted("0:b 1:b 0:d(5,y)=NF 1:i(5,x) 1:c 0:c"), 0u);
  EXPECT_FALSE(has_order("0:i!(5,x) 0:d!(5,x)=NF"));
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

TEST(Model, ACursorIsLooseAfterTheDeleteOfOnePair) {
  // The deleted pair has the cursor's key, it has another key, or no read preceded the delete.
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,x) 0:n=5,y 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:i!(9,z) 0:b 0:g(5)=x 0:d(5,x) 0:n=9,z 0:c"));
  EXPECT_TRUE(has_order("0:b 0:i(1,x) 0:i(2,y) 0:g(2)=y 0:d(1,x) 0:n=2,y 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:b 0:d(5,x) 0:i(1,y) 0:i(9,z) 0:n=9,z 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(5,y) 0:b 0:g(8)=NF 0:d(5,x) 0:n=5,y 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(9)=z 0:d(5,x) 0:n=END 0:c"));
  // A record that does not exist is never returned, and a failed delete changes nothing.
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(5,y) 0:b 0:g(5)=x 0:d(5,x) 0:n=5,x 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(9)=z 0:d(5,w)=NONE 0:n=5,x 0:c"));
}

TEST(Model, ALooseCursorIsAnchoredByTheNextRecord) {
  const std::string loose = "0:i!(3,v) 0:i!(5,x) 0:i!(5,y) 0:i!(7,u) 0:i!(9,z) 0:b 0:d(3,v) ";
  EXPECT_TRUE(has_order(loose + "0:n=5,y 0:n=5,x 0:n=7,u 0:n=9,z 0:n=END 0:c"));
  // The scan may return each other record of the anchor's key once, or leave it out.
  EXPECT_TRUE(has_order(loose + "0:n=5,y 0:n=7,u 0:c"));
  EXPECT_FALSE(has_order(loose + "0:n=5,y 0:n=5,y 0:c"));
  EXPECT_FALSE(has_order(loose + "0:n=5,y 0:n=5,x 0:n=5,y 0:c"));
  // After the anchor's key, the scan is complete and goes forwards.
  EXPECT_FALSE(has_order(loose + "0:n=5,y 0:n=9,z 0:c"));
  EXPECT_FALSE(has_order(loose + "0:n=5,y 0:n=END 0:c"));
  EXPECT_FALSE(has_order(loose + "0:n=7,u 0:n=5,x 0:c"));
  // After another delete of a pair the cursor is loose again. After DB_END it is still loose.
  EXPECT_TRUE(has_order(loose + "0:n=7,u 0:d(9,z) 0:n=5,x 0:n=5,y 0:n=7,u 0:n=END 0:c"));
  EXPECT_TRUE(has_order(loose + "0:n=END 0:n=5,x 0:c"));
}

// A thread opens an index twice, and scans it with both handles in one transaction.
const std::string kTwoHandles = "0:i!(5,x) 0:i!(7,y) 0:i!(9,z) 0:open 0:A2.open ";

TEST(Model, EachHandleMayHaveACursorOfItsOwn) {
  EXPECT_TRUE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.n=5,x 0:n=7,y 0:A2.n=7,y 0:c"));
  EXPECT_FALSE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.n=5,x 0:n=7,y 0:A2.n=9,z 0:c"));
  EXPECT_FALSE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.n=5,x 0:n=7,y 0:A2.n=END 0:c"));
  EXPECT_FALSE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.n=5,x 0:n=7,y 0:A2.n=5,x 0:c"));
  EXPECT_TRUE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.g(7)=y 0:n=7,y 0:A2.n=9,z 0:c"));
}

TEST(Model, TheHandlesOfAnIndexMayShareACursor) {
  EXPECT_TRUE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.n=7,y 0:n=9,z 0:A2.n=END 0:c"));
  EXPECT_FALSE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.n=9,z 0:c"));
  EXPECT_TRUE(has_order(kTwoHandles + "0:b 0:n=5,x 0:A2.g(7)=y 0:n=9,z 0:c"));
  // A library has one of the two kinds of cursors, not both.
  const std::string own = "0:b 0:n=5,x 0:A2.n=5,x 0:n=7,y 0:c ";
  const std::string shared = "0:b 0:n=5,x 0:A2.n=7,y 0:n=9,z 0:c ";
  EXPECT_TRUE(has_order(kTwoHandles + own + own));
  EXPECT_TRUE(has_order(kTwoHandles + shared + shared));
  EXPECT_FALSE(has_order(kTwoHandles + own + shared));
  EXPECT_FALSE(has_order(kTwoHandles + shared + own));
}

TEST(Model, AChangeMattersToTheCursorsOfAllHandles) {
  // A scan may return or leave out what its transaction inserted under its key.
  const std::string insert = kTwoHandles + "0:b 0:g(7)=y 0:A2.g(7)=y 0:i(7,w) ";
  EXPECT_TRUE(has_order(insert + "0:n=7,w 0:A2.n=7,w 0:n=9,z 0:A2.n=9,z 0:c"));
  EXPECT_TRUE(has_order(insert + "0:n=9,z 0:A2.n=7,w 0:A2.n=9,z 0:c"));
  EXPECT_FALSE(has_order(insert + "0:n=7,w 0:n=9,z 0:A2.n=7,w 0:A2.n=7,w 0:c"));
  const std::string remove = kTwoHandles + "0:b 0:g(5)=x 0:A2.g(5)=x 0:A2.d(7,*) ";
  EXPECT_TRUE(has_order(remove + "0:n=9,z 0:A2.n=9,z 0:c"));
  EXPECT_FALSE(has_order(remove + "0:n=7,y 0:A2.n=9,z 0:c"));
  // After the delete of a pair, the next getNext of each scan may return any record or DB_END.
  const std::string pair = kTwoHandles + "0:b 0:g(5)=x 0:A2.g(5)=x 0:A2.d(7,y) ";
  EXPECT_TRUE(has_order(pair + "0:n=5,x 0:A2.n=9,z 0:n=9,z 0:A2.n=END 0:c"));
  EXPECT_FALSE(has_order(pair + "0:n=5,x 0:n=END 0:c"));
}

TEST(Model, OnlyTheFirstSevenHandlesHaveNumbers) {
  const std::string two = "0:i!(5,x) 0:i!(7,y) 0:i!(9,z) 0:A7.open 0:A8.open ";
  EXPECT_FALSE(has_order(two + "0:b 0:A7.n=5,x 0:A7.n=9,z 0:c"));
  EXPECT_TRUE(has_order(two + "0:b 0:A8.n=5,x 0:A8.n=9,z 0:c"));
  EXPECT_FALSE(has_order(two + "0:b 0:A8.n=5,x 0:A8.n=5,w 0:c"));
}

TEST(Model, ACursorIsLooseAfterItsIndexWasOpenedAgain) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:close 0:open 0:n=9,z 0:c"));
  EXPECT_TRUE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:g(5)=x 0:close 0:open 0:n=5,x 0:c"));
  // A get positions the cursor again.
  EXPECT_FALSE(has_order("0:i!(5,x) 0:i!(9,z) 0:b 0:open 0:g(5)=x 0:n=5,x 0:c"));
}

TEST(Model, AfterDbEndOnlyAnOwnInsertAheadIsReturned) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:n=END 0:i(7,y) 0:n=7,y 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:i(7,y) 0:n=END 0:c"));
  EXPECT_FALSE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:i(7,y) 0:i(8,z) 0:n=8,z 0:c"));
}

TEST(Model, AfterDbEndAScanMayStartAgain) {
  EXPECT_TRUE(has_order("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:n=5,x 0:n=END 0:c"));
  // The first scan leaves out a record that its own transaction inserted under the cursor's key.
  // The second scan returns the record.
  EXPECT_TRUE(has_order("0:b 0:i(1,x) 0:g(1)=x 0:i(1,y) 0:n=END 0:n=1,y 0:n=1,x 0:n=END 0:c"));
  // The rules for the second scan are the same as for the first.
  const std::string again = "0:i!(5,x) 0:i!(7,y) 0:i!(9,z) 0:b 0:g(9)=z 0:n=END ";
  EXPECT_TRUE(has_order(again + "0:n=5,x 0:n=7,y 0:n=9,z 0:n=END 0:c"));
  EXPECT_FALSE(has_order(again + "0:n=5,x 0:n=9,z 0:c"));
  EXPECT_FALSE(has_order(again + "0:n=5,x 0:n=5,x 0:c"));
  EXPECT_FALSE(has_order(again + "0:n=5,x 0:n=7,y 0:n=END 0:c"));
  // The second scan must start at the first record.
  EXPECT_FALSE(has_order(again + "0:n=7,y 0:n=9,z 0:n=END 0:c"));
  EXPECT_FALSE(has_order(again + "0:n=9,z 0:n=END 0:c"));
  // The second scan must return each payload of the first key.
  const std::string two = "0:i!(5,x) 0:i!(5,y) 0:i!(7,z) 0:b 0:g(7)=z 0:n=END ";
  EXPECT_TRUE(has_order(two + "0:n=5,y 0:n=5,x 0:n=7,z 0:c"));
  EXPECT_FALSE(has_order(two + "0:n=5,y 0:n=7,z 0:c"));
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
