// Tests the notation of scenarios (short scripts that each reveal one kind of error), and that
// every scenario in data/*.json can be parsed.
#include "benchmarks/scenarios/script/notation.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/scenarios/catalogue.h"

namespace keydrome {

std::span<const std::string_view> scenarios_data();

namespace scenarios {
namespace {

Result<Scenario> parsed(const std::vector<std::string>& turns) {
  Scenario scenario;
  std::vector<bool> in_transaction;
  for (const std::string& turn : turns) {
    Result<void> done = parse_turn(turn, in_transaction, scenario);
    if (!done) return done.error();
  }
  return scenario;
}

TEST(Notation, ReadsEveryCall) {
  const Scenario scenario =
      parsed({"T1: b g(1) n n* i(-2,x) d(3,y) d(4,*) close open c", "T2: B.g(7) A2.n b a"}).value();
  const std::vector<Action> expected{
      Action::kBegin,      Action::kGet,       Action::kNext,  Action::kNextToEnd, Action::kInsert,
      Action::kDeletePair, Action::kDeleteKey, Action::kClose, Action::kOpen,      Action::kCommit,
      Action::kGet,        Action::kNext,      Action::kBegin, Action::kAbort};
  std::vector<Action> actions;
  for (const Step& step : scenario.steps) actions.push_back(step.action);
  EXPECT_EQ(actions, expected);
  EXPECT_EQ(scenario.steps[4].key, -2);
  EXPECT_EQ(scenario.steps[4].payload, "x");
  EXPECT_EQ(scenario.sessions, 2u);
  EXPECT_EQ(scenario.indexes, 2u);
  ASSERT_EQ(scenario.handles.size(), 3u);
  EXPECT_EQ(scenario.handles[scenario.steps[11].handle].name, "A2");
  EXPECT_EQ(scenario.handles[scenario.steps[11].handle].index, 0u);
}

TEST(Notation, CallsOutsideTransactionsAndWithAMarkAreAutoCommitted) {
  const Scenario scenario = parsed({"T1: g(1) b g(1) !g(1) c g(1)"}).value();
  std::vector<bool> auto_commit;
  for (const Step& step : scenario.steps) auto_commit.push_back(step.auto_commit);
  EXPECT_EQ(auto_commit, (std::vector<bool>{true, false, false, true, false, true}));
}

TEST(Notation, ReadsTransactionsThatContinueAndBareCalls) {
  const Scenario going = parsed({"T1: b+ g(1) c b g(1) c"}).value();
  EXPECT_TRUE(going.steps[0].continues);
  EXPECT_FALSE(going.steps[3].continues);
  Scenario bare;
  bare.bare = true;
  std::vector<bool> in_transaction;
  const std::string turn = "T1: close=DB_DNE c !c g(1@int64)=FAILURE b b=TXN_EXISTS i(2@varchar,x)";
  ASSERT_TRUE(parse_turn(turn, in_transaction, bare).ok());
  EXPECT_FALSE(bare.steps[1].auto_commit);
  EXPECT_TRUE(bare.steps[2].auto_commit);
  EXPECT_EQ(bare.steps[3].key_type, INT);
  EXPECT_EQ(bare.steps[5].answers[0].code, static_cast<uint32_t>(TXN_EXISTS));
  EXPECT_EQ(bare.steps[6].key_type, VARCHAR);
  EXPECT_FALSE(parse_turn("T1: n*", in_transaction, bare).ok());
  EXPECT_FALSE(parse_turn("T1: g(1@text)", in_transaction, bare).ok());
}

TEST(Notation, ReadsAnswers) {
  const Scenario scenario = parsed({"T1: g(1)=a|NF n=9:x|END d(1,a)=ENTRY_DNE"}).value();
  ASSERT_EQ(scenario.steps[0].answers.size(), 2u);
  EXPECT_EQ(scenario.steps[0].answers[0].payload, "a");
  EXPECT_EQ(scenario.steps[0].answers[1].code, static_cast<uint32_t>(KEY_NOTFOUND));
  EXPECT_EQ(scenario.steps[1].answers[0].key, 9);
  EXPECT_EQ(scenario.steps[1].answers[0].payload, "x");
  EXPECT_EQ(scenario.steps[2].answers[0].code, static_cast<uint32_t>(ENTRY_DNE));
}

TEST(Notation, ReadsSetups) {
  Scenario scenario;
  ASSERT_TRUE(parse_setup("1=a 2 B.5=p*3", scenario).ok());
  ASSERT_EQ(scenario.setup.size(), 5u);
  EXPECT_EQ(scenario.setup[1].payload, "r");
  EXPECT_EQ(scenario.setup[4].payload, "p3");
  EXPECT_EQ(scenario.setup[4].index, 1u);
}

TEST(Notation, ReadsBytes) {
  EXPECT_EQ(parse_bytes("a\\xff\\x01b").value(), std::string("a\xff\x01"
                                                             "b"));
  EXPECT_EQ(parse_bytes("{k*3}z").value(), "kkkz");
}

TEST(Notation, RefusesWhatMakesNoSense) {
  for (const char* turn :
       {"T1: b b", "T1: c", "T1: x(1)", "T1: g()", "T1: g(1,x)", "T1: i(1)", "T1: i(1,*)",
        "T1: g(one)", "T1: D.g(1)", "T1: A3.g(1)", "T1: !b", "T9: b", "T1: g(1@int64)", "b c",
        "T1:b", "T1: i(1,x)=a", "T1: n=x", "T1: (", "T1: g(1"}) {
    EXPECT_FALSE(parsed({turn}).ok()) << turn;
  }
  Scenario scenario;
  EXPECT_FALSE(parse_setup("1=a*0", scenario).ok());
  EXPECT_FALSE(parse_setup("x=a", scenario).ok());
  EXPECT_FALSE(parse_bytes("{k*}").ok());
  EXPECT_FALSE(parse_bytes("{k*3").ok());
  EXPECT_FALSE(parse_bytes("\\xgg").ok());
}

std::string file(const std::string& scenario) {
  return R"({"instance": "x", "scenarios": [)" + scenario + "]}";
}

TEST(Catalogue, RefusesAScenarioAndNamesIt) {
  const std::string head = R"({"id": "S1", "title": "t", "about": "a", "finding": "f", )";
  EXPECT_TRUE(parse_scenarios(file(head + R"("steps": ["T1: b c"]})")).ok());
  for (const char* rest :
       {R"("steps": []})", R"("steps": ["T1: b"]})", R"("steps": ["T2: b c"]})",
        R"("steps": ["T1: b c"], "unknown": 1})", R"("steps": ["T1: b c"], "types": ["text"]})",
        R"("steps": ["T1: b c"], "severity": "required"})", R"("steps": ["T1: b c"], "filler": 1})",
        R"-("steps": ["T1: g(1)=a", "T2: b c"]})-",
        R"-("steps": ["T1: g(1)"], "types": ["int32"], "keys": ["5"]})-",
        R"-("steps": ["T1: g(0)"], "keys": ["5"]})-", R"("steps": ["T1: b c"], "garbage": true})",
        R"("steps": ["T1: b c", "T2: b c"], "bare": true})", R"("instead": "never"})"}) {
    const auto scenarios = parse_scenarios(file(head + rest));
    ASSERT_FALSE(scenarios.ok()) << rest;
    EXPECT_TRUE(scenarios.error().message.starts_with("S1: ")) << scenarios.error().message;
  }
  EXPECT_FALSE(parse_scenarios(file(R"({"id": "1", "title": "t", "about": "a", "finding": "f",
                                        "steps": ["T1: b c"]})"))
                   .ok());
}

TEST(Catalogue, EveryScenarioOfTheDataCanBeRead) {
  const Result<std::vector<Scenario>> catalogue = load_catalogue(scenarios_data());
  ASSERT_TRUE(catalogue.ok()) << catalogue.error().message;
  EXPECT_EQ(catalogue->front().id, "S1");
}

// Scenarios are numbered from S1 to S99. Some numbers have variants with a letter. Four scenarios
// have no steps, because another test covers them or no test can.
TEST(Catalogue, EveryNumberOfTheListHasItsPlace) {
  const std::vector<Scenario> catalogue = load_catalogue(scenarios_data()).value();
  std::set<std::string> ids, elsewhere;
  for (const Scenario& scenario : catalogue) {
    ids.insert(scenario.id);
    if (!scenario.instead.empty()) elsewhere.insert(scenario.id);
  }
  for (int number = 1; number <= 99; ++number) {
    EXPECT_TRUE(ids.contains("S" + std::to_string(number))) << number;
  }
  EXPECT_EQ(elsewhere, (std::set<std::string>{"S61", "S62", "S88", "S99"}));
}

}  // namespace
}  // namespace scenarios
}  // namespace keydrome
