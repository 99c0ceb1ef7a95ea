// Anomalies that a serialisable index must not show, as scripts of two or three sessions. A script
// passes when some serial order of the transactions that committed explains all they saw; waiting
// and DEADLOCK are always allowed.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "indexes/tests/library.h"
#include "indexes/tests/session.h"

namespace keydrome {
namespace {

struct Scenario {
  const char* name;
  const char* setup;
  const char* script;
};

// For gtest's messages.
void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.setup << " | " << scenario.script;
}

constexpr Scenario kScenarios[] = {
    {"DirtyWrite", "1=a 2=b",
     "1:b 1:d1=a 1:i1=x 2:b 2:d1* 2:i1=y 2:d2* 2:i2=y 2:c 1:d2* 1:i2=x 1:c"},
    {"DirtyRead", "", "1:b 1:i1=x 2:b 2:g1 2:c 1:a"},
    {"DirtyReadOfADelete", "1=a", "1:b 1:d1* 2:b 2:g1 2:c 1:a 3:@g1"},
    {"DirtyScan", "1=a 5=b", "1:b 1:i3=x 2:b 2:n 2:n 2:n 2:c 1:a"},
    {"IntermediateRead", "", "1:b 1:i1=x 1:d1=x 1:i1=y 2:b 2:g1 2:n 2:c 1:c"},
    {"CircularInformationFlow", "", "1:b 1:i1=x 2:b 2:i2=y 1:g2 2:g1 1:c 2:c"},
    {"ObservedTransactionVanishes", "1=a 2=b",
     "1:b 1:d1* 1:i1=x 2:b 2:d1* 2:i1=y 1:d2* 1:i2=x 1:c 3:b 3:g1 2:d2* 2:i2=y 3:g2 2:c 3:g1 3:g2 "
     "3:c"},
    {"NonRepeatableRead", "1=a", "1:b 1:g1 2:b 2:d1* 2:i1=z 2:c 1:g1 1:c"},
    {"NonRepeatablePayloads", "1=a 1=b", "1:b 1:g1 1:n 2:@i1=c 1:g1 1:n 1:n 1:c"},
    {"PhantomInAGap", "10=a 20=b", "1:b 1:g10 1:n 2:b 2:i15=x 2:c 1:g10 1:n 1:c"},
    {"PhantomByDelete", "10=a 15=x 20=b", "1:b 1:g10 1:n 1:n 2:@d15* 1:g10 1:n 1:n 1:c"},
    {"PhantomBeforeTheFirstKey", "10=a", "1:b 1:n 2:@i5=x 1:g0 1:n 1:c"},
    {"PhantomAtTheEnd", "10=a", "1:b 1:g10 1:n 2:@i99=x 1:g10 1:n 1:c"},
    {"PhantomInAnEmptyIndex", "", "1:b 1:n 2:@i1=x 1:n 1:g1 1:c"},
    {"PhantomOnAFailedGet", "", "1:b 1:g7 2:@i7=x 1:g7 1:c"},
    {"SkewOnFailedGets", "", "1:b 1:g1 2:b 2:g2 1:i2=x 2:i1=y 1:c 2:c"},
    {"SkewOnFailedDeletes", "", "1:b 1:d7* 2:b 2:d8* 1:i8=x 2:i7=y 1:c 2:c"},
    {"SkewOnKeys", "1=a 2=b", "1:b 1:g1 1:g2 2:b 2:g1 2:g2 1:d1=a 2:d2=b 1:c 2:c"},
    {"SkewOnRanges", "20=z", "1:b 1:g0 1:n 1:n 2:b 2:g10 2:n 2:n 1:i15=x 2:i5=y 1:c 2:c"},
    {"SkewOnTheEndsOfTwoIndexes", "", "1:b 1:n 2:b 2:B.n 1:B.i1=x 2:i1=y 1:c 2:c"},
    {"SkewAcrossTwoIndexes", "1=a B.1=b", "1:b 1:g1 2:b 2:B.g1 1:B.d1* 2:d1* 1:c 2:c"},
    {"SkewOfThree", "",
     "1:b 1:g10 1:n 2:b 2:g20 2:n 3:b 3:g30 3:n 1:i25=x 2:i35=y 3:i15=z 1:c 2:c 3:c"},
    {"LostUpdate", "1=v", "1:b 1:g1 2:b 2:g1 1:d1=v 1:i1=x 1:c 2:d1=v 2:i1=y 2:c"},
    {"LostUpdateByDelete", "1=a", "1:b 1:d1=a 2:b 2:d1=a 1:c 2:c"},
    {"DoubleInsert", "", "1:b 1:i1=x 2:b 2:i1=x 1:c 2:c"},
    {"EntryExistsAgainstAnAborter", "", "1:b 1:i1=x 2:b 2:i1=x 1:a 2:c"},
    {"ReadSkew", "1=a 2=b", "1:b 1:g1 2:b 2:d1* 2:i1=x 2:d2* 2:i2=x 2:c 1:g2 1:c"},
    {"ReadSkewByRange", "", "1:b 1:g0 1:n 2:b 2:i5=x 2:i50=x 2:c 1:g50 1:c"},
    {"ReadOnlyAnomaly", "1=0 2=0",
     "2:b 2:g1 2:g2 1:b 1:g2 1:d2=0 1:i2=20 1:c 3:b 3:g1 3:g2 3:c 2:d1=0 2:i1=-11 2:c"},
    {"StaleRead", "", "1:@i1=x 2:b 2:g1 2:c"},
    {"DeleteAllAgainstInsert", "1=a", "1:b 1:g1 1:n 1:d1* 2:b 2:i1=b 2:c 1:c"},
    {"ScanOvertaken", "10=a 20=b 30=c 40=d",
     "1:b 1:n 1:n 2:b 2:d10* 2:i35=x 2:c 1:n 1:n 1:n 1:c 1:b 1:n 1:n 1:n 1:n 1:n 1:c"},
    {"MovingRecord", "10=m 50=z", "1:b 1:n 2:b 2:d10=m 2:i90=m 2:c 1:n 1:n 1:c"},
    {"OppositeOrderOfIndexes", "", "1:b 1:i1=x 2:b 2:B.i1=y 1:B.i2=x 2:i2=y 1:c 2:c"},
    {"UpgradeDeadlock", "1=a", "1:b 1:g1 2:b 2:g1 1:i1=x 2:i1=y 1:c 2:c"},
    {"RingOfThree", "1=a 2=b 3=c", "1:b 1:d1* 2:b 2:d2* 3:b 3:d3* 1:d2* 2:d3* 3:d1* 1:c 2:c 3:c"},
    {"AutoCommitBesideAnotherSession", "", "1:b 1:i1=x 2:@i2=y 2:@g1 2:@g2 1:a"},
    {"GapCutByItsReader", "50=b", "1:b 1:n 1:i30=x 2:@i10=y 1:g0 1:n 1:n 1:c"},
    {"GapOfAKeyThatIsTakenBack", "10=a 20=k 50=b",
     "1:b 1:i30=x 2:b 2:d20* 1:a 3:b 3:g10 3:n 3:n 2:a 3:c"},
    {"AbortOfADeletionAndItsReturn", "1=a 2=b", "1:b 1:d1=a 1:i1=a 1:i2=c 1:a 2:@g1 2:@g2"},
    {"TornCommit", "", "1:b 1:i1=x 1:i2=x 2:b 2:g1 1:B.i1=x 2:g2 1:c 2:B.g1 2:c"},
};

class RequiredScenario : public testing::TestWithParam<std::tuple<Scenario, KeyType>> {};

TEST_P(RequiredScenario, IsSerialisable) {
  const auto& [scenario, type] = GetParam();
  EXPECT_EQ(run_script(type, scenario.setup, scenario.script), "");
}

constexpr auto kName = [](const testing::TestParamInfo<std::tuple<Scenario, KeyType>>& info) {
  const KeyType type = std::get<1>(info.param);
  return std::string(std::get<0>(info.param).name) + (type == SHORT ? "Short"
                                                      : type == INT ? "Int"
                                                                    : "Varchar");
};
INSTANTIATE_TEST_SUITE_P(, RequiredScenario,
                         testing::Combine(testing::ValuesIn(kScenarios),
                                          testing::Values(SHORT, INT, VARCHAR)),
                         kName);

}  // namespace
}  // namespace keydrome
