// Tests calls that a correct client never makes, such as closing a handle twice. The library must
// return the documented codes and must not crash. The tests are advisory: a failure is only shown
// as a warning.
#include <gtest/gtest.h>

#include "indexes/tests/library.h"

namespace keydrome {
namespace {

TEST(AdvisoryMisuse, EndingNoTransactionIsTxnDne) {
  EXPECT_EQ(library().commit(nullptr), TXN_DNE);
  EXPECT_EQ(library().abort(nullptr), TXN_DNE);
  TxnState* txn = nullptr;
  ASSERT_EQ(library().begin(&txn), SUCCESS);
  EXPECT_EQ(library().commit(txn), SUCCESS);
  EXPECT_EQ(library().commit(txn), TXN_DNE);
  EXPECT_EQ(library().abort(txn), TXN_DNE);
}

TEST(AdvisoryMisuse, CallsInAnEndedTransactionAreTxnDne) {
  const Handle index(make_index(INT), INT);
  TxnState* txn = nullptr;
  ASSERT_EQ(library().begin(&txn), SUCCESS);
  EXPECT_EQ(index.insert(txn, int64_t{1}, "x"), SUCCESS);
  EXPECT_EQ(library().abort(txn), SUCCESS);
  EXPECT_EQ(index.insert(txn, int64_t{1}, "x"), TXN_DNE);
  EXPECT_EQ(index.get(txn, int64_t{1}).code, TXN_DNE);
  EXPECT_EQ(index.next(txn).code, TXN_DNE);
  EXPECT_EQ(index.erase_all(txn, int64_t{1}), TXN_DNE);
  EXPECT_EQ(index.get(nullptr, int64_t{1}).code, KEY_NOTFOUND);
}

TEST(AdvisoryMisuse, ClosingTwiceOrNothingIsDbDne) {
  EXPECT_EQ(library().close_index(nullptr), DB_DNE);
  const char* const name = make_index(INT);
  IdxState* state = nullptr;
  ASSERT_EQ(library().open_index(name, &state), SUCCESS);
  EXPECT_EQ(library().close_index(state), SUCCESS);
  EXPECT_EQ(library().close_index(state), DB_DNE);
}

TEST(AdvisoryMisuse, ANullHandleIsDbDne) {
  Record record{};
  record.key.type = INT;
  EXPECT_EQ(library().get(nullptr, nullptr, &record), DB_DNE);
  EXPECT_EQ(library().get_next(nullptr, nullptr, &record), DB_DNE);
  EXPECT_EQ(library().insert(nullptr, nullptr, &record.key, "x"), DB_DNE);
  EXPECT_EQ(library().erase(nullptr, nullptr, &record), DB_DNE);
}

TEST(AdvisoryMisuse, AKeyOfAnotherTypeOrAnUnendedStringIsRefused) {
  const Handle index(make_index(VARCHAR), VARCHAR);
  Record record{};
  record.key.type = INT;
  EXPECT_EQ(library().insert(index.raw(), nullptr, &record.key, "x"), FAILURE);
  EXPECT_EQ(library().get(index.raw(), nullptr, &record), FAILURE);
  record.key.type = VARCHAR;
  for (char& byte : record.key.keyval.charkey) byte = 'k';
  EXPECT_EQ(library().insert(index.raw(), nullptr, &record.key, "x"), FAILURE);
  record.key.keyval.charkey[0] = '\0';
  const std::string payload(MAX_PAYLOAD_LEN + 1, 'p');
  EXPECT_EQ(library().insert(index.raw(), nullptr, &record.key, payload.c_str()), FAILURE);
  EXPECT_EQ(index.next(nullptr).code, DB_END);
}

}  // namespace
}  // namespace keydrome
