// Tests check_session(), which checks the recorded calls of a single client. It must find and name
// every wrong result, and cite the earlier calls that contradict the result.
//
// script.h explains the notation of the calls. For example, in "0:b 0:i(5,x) 0:c 0:g!(5)=NF", the
// client (thread 0) begins, inserts payload x under key 5 and commits. Then its get outside a
// transaction (auto-commit) does not find key 5.
#include "checker/model/session_check.h"

#include <gtest/gtest.h>

#include "checker/tests/script.h"

namespace keydrome {

using model::SessionCheck;
using model::SessionViolation;

namespace {

SessionViolation violation_of(std::string_view steps, KeyType type = INT) {
  SessionCheck check =
      model::check_session(script(std::string("0:create 0:open ") + std::string(steps), type));
  EXPECT_EQ(check.problem, "") << steps;
  return check.violation.value_or(SessionViolation{});
}

std::string name_of(std::string_view steps) { return violation_of(steps).name; }

TEST(SessionCheck, AcceptsEveryResultThatTheContractAllows) {
  EXPECT_EQ(name_of("0:i!(5,x) 0:i!(5,x)=EXISTS 0:d!(5,x) 0:i!(5,x) 0:g!(5)=x"), "");
  EXPECT_EQ(name_of("0:b 0:i(5,x) 0:a 0:i!(5,x) 0:b 0:d(5,x) 0:a 0:g!(5)=x"), "");
  EXPECT_EQ(name_of("0:i!(5,x) 0:b 0:n=5,x 0:n=END 0:c 0:n!=5,x"), "");
  EXPECT_EQ(name_of("0:b 0:i(5,x) 0:g(5)=DL 0:a 0:b 0:i(5,x) 0:c 0:g!(5)=x"), "");
}

TEST(SessionCheck, NamesWrongReads) {
  EXPECT_EQ(name_of("0:i!(5,x) 0:g!(5)=NF"), "missing_record");
  EXPECT_EQ(name_of("0:i!(5,x) 0:g!(5)=y"), "corrupt_payload");
  EXPECT_EQ(name_of("0:i!(5,x) 0:d!(5,x) 0:g!(5)=x"), "deleted_record");
  EXPECT_EQ(name_of("0:b 0:i(5,x) 0:a 0:g!(5)=x"), "aborted_read");
  EXPECT_EQ(name_of("0:b 0:i(5,x) 0:g(5)=NF 0:c"), "internal");
  EXPECT_EQ(name_of("0:i!(5,x) 0:b 0:d(5,*) 0:g(5)=x 0:c"), "internal");
}

TEST(SessionCheck, NamesWrongScans) {
  EXPECT_EQ(name_of("0:i!(5,x) 0:i!(7,y) 0:b 0:n=7,y 0:c"), "missing_record");
  EXPECT_EQ(name_of("0:i!(5,x) 0:i!(7,y) 0:b 0:n=5,x 0:n=END 0:c"), "missing_record");
  EXPECT_EQ(name_of("0:i!(5,x) 0:i!(7,y) 0:b 0:g(7)=y 0:n=5,x 0:c"), "wrong_order");
  EXPECT_EQ(name_of("0:i!(5,x) 0:b 0:n=5,x 0:n=5,x 0:c"), "duplicate_record");
  EXPECT_EQ(name_of("0:i!(5,x) 0:i!(7,y) 0:b 0:n=5,x 0:c 0:n!=7,y"), "missing_record");
}

TEST(SessionCheck, NamesWrongWrites) {
  EXPECT_EQ(name_of("0:i!(5,x) 0:i!(5,x)"), "wrong_insert");
  EXPECT_EQ(name_of("0:i!(5,x)=EXISTS"), "wrong_insert");
  EXPECT_EQ(name_of("0:d!(5,x)"), "wrong_delete");
  EXPECT_EQ(name_of("0:i!(5,x) 0:d!(5,x)=NONE"), "wrong_delete");
  EXPECT_EQ(name_of("0:i!(5,x) 0:d!(5,*)=NF"), "wrong_delete");
  EXPECT_EQ(name_of("0:d!(5,*)"), "wrong_delete");
  EXPECT_EQ(name_of("0:b 0:i(5,x) 0:d(5,x)=NONE 0:c"), "wrong_delete");
}

TEST(SessionCheck, NamesWrongCodes) {
  EXPECT_EQ(name_of("0:g!(5)=END"), "undocumented_code");
  EXPECT_EQ(name_of("0:g!(5)=FAIL"), "unexpected_failure");
  EXPECT_EQ(name_of("0:g!(5)=TXN"), "illegal_answer");
  EXPECT_EQ(name_of("0:create"), "illegal_answer");
  EXPECT_EQ(name_of("0:B.open"), "illegal_answer");
  EXPECT_EQ(name_of("0:b 0:g(5)=DL 0:c"), "commit_after_deadlock");
}

TEST(SessionCheck, AllowsTenAttempts) {
  std::string nine;
  for (int i = 0; i < 9; ++i) nine += "0:b 0:i(5,x)=DL 0:a ";
  EXPECT_EQ(name_of(nine + "0:b 0:i(5,x) 0:c 0:b 0:g(5)=DL 0:a"), "");
  EXPECT_EQ(name_of(nine + "0:b 0:i(5,x)=DL 0:a"), "no_progress");
  EXPECT_EQ(name_of(nine + "0:g!(5)=DL"), "no_progress");
}

// Events 0 and 1 are the create and openIndex that violation_of() adds.
TEST(SessionCheck, CitesTheCallsThatTheResultContradicts) {
  const SessionViolation deleted = violation_of("0:i!(5,x) 0:g!(7)=NF 0:d!(5,x) 0:g!(5)=x");
  EXPECT_EQ(deleted.position, 5u);
  EXPECT_EQ(deleted.causes, (std::vector<uint32_t>{2, 4}));
  const SessionViolation passed =
      violation_of("0:i!(5,x) 0:i!(7,y) 0:i!(9,z) 0:b 0:n=5,x 0:n=9,z 0:c");
  EXPECT_EQ(passed.position, 7u);
  EXPECT_EQ(passed.causes, (std::vector<uint32_t>{3, 6}));
  const SessionViolation aborted = violation_of("0:b 0:i(5,x) 0:a 0:g!(5)=x");
  EXPECT_EQ(aborted.causes, (std::vector<uint32_t>{3, 4}));
}

// If a key has several deleted records, the violation must cite the record that was changed last.
TEST(SessionCheck, CitesTheLastRecordOfAKeyWithoutRecords) {
  const SessionViolation deleted =
      violation_of("0:i!(5,x) 0:d!(5,x) 0:i!(5,y) 0:d!(5,y) 0:d!(5,*)");
  EXPECT_EQ(deleted.name, "wrong_delete");
  EXPECT_EQ(deleted.causes, (std::vector<uint32_t>{4, 5}));
  const SessionViolation again = violation_of("0:i!(5,x) 0:i!(5,y) 0:d!(5,y) 0:d!(5,x) 0:d!(5,*)");
  EXPECT_EQ(again.causes, (std::vector<uint32_t>{2, 5}));
  const SessionViolation aborted = violation_of("0:i!(5,x) 0:d!(5,x) 0:b 0:i(5,y) 0:a 0:d!(5,*)");
  EXPECT_EQ(aborted.causes, (std::vector<uint32_t>{5, 6}));
}

}  // namespace
}  // namespace keydrome
