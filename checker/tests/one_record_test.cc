// Tests that the text of a violation speaks of one record, although the transactions also
// contradict each other about further records. script.h explains the notation of the histories.
#include <gtest/gtest.h>

#include "checker/certify/certify.h"
#include "checker/tests/script.h"

namespace keydrome {
namespace {

std::string detail_of(const char* steps, const char* name) {
  const certify::Certification found = certify::certify(script(steps));
  if (found.violations.empty()) return "no violation";
  EXPECT_EQ(found.violations.front().name, name);
  return found.violations.front().detail;
}

// Thread 1 read keys 1 and 2 before thread 2 deleted both records, and then missed only key 2.
TEST(OneRecord, ADisappearedRecordIsTheOneThatIsNamed) {
  const std::string detail = detail_of(
      "0:b 0:i(1,x) 0:i(2,y) 0:c 1:b 1:g(1)=x 1:g(2)=y 2:b 2:d(1,x) 2:d(2,y) 2:c 1:g(2)=NF 1:c",
      "non_repeatable_read");
  EXPECT_EQ(detail.find("key 1 "), std::string::npos) << detail;
  EXPECT_NE(detail.find(" the record under key 2 of index A that "), std::string::npos) << detail;
  // The text about the second edge does not name the record again.
  EXPECT_NE(detail.find("; thread 1 "), std::string::npos) << detail;
  EXPECT_NE(detail.find(" this record"), std::string::npos) << detail;
}

// Thread 1 missed both records of thread 2 at first, and later saw only the second one.
TEST(OneRecord, AnAppearedRecordIsTheOneThatIsNamed) {
  const std::string detail =
      detail_of("1:b 1:g(1)=NF 1:g(2)=NF 2:b 2:i(1,x) 2:i(2,y) 2:c 1:g(2)=y 1:c", "phantom");
  EXPECT_EQ(detail.find("key 1 "), std::string::npos) << detail;
  EXPECT_NE(detail.find(" the record under key 2 of index A that "), std::string::npos) << detail;
}

}  // namespace
}  // namespace keydrome
