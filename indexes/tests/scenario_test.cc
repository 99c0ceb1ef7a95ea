// Tests that a library shows no isolation anomaly in the scenarios of benchmarks/scenarios/data. A
// scenario is a script of one to three sessions (threads). The threads run in the test process,
// without the jail (Keydrome's sandbox).
//
// A scenario passes if a serial order of the committed transactions explains every result and
// respects real time. A call may always wait or return DEADLOCK. benchmarks/scenarios/README.md
// explains the notation. Builds without the benchmark `scenarios` leave out this file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/scenarios/catalogue.h"
#include "benchmarks/scenarios/judge/finding_book.h"
#include "benchmarks/scenarios/judge/scenario_judge.h"
#include "benchmarks/scenarios/script/plan.h"
#include "benchmarks/scenarios/script/run_script.h"
#include "indexes/tests/library.h"

namespace keydrome {

// benchmarks/scenarios/data/*.json, compiled in by CMake.
std::span<const std::string_view> scenarios_data();

namespace scenarios {
namespace {

// Scenarios that the benchmark does not have, because adding them would change its version. One of
// them finds lock managers that lose the lock on a gap between keys when the gap is merged.
// tests/faulty/mutants.json names faults that these scenarios find.
constexpr std::string_view kFurther = R"json({
  "instance": "contract",
  "scenarios": [
    {"id": "S201", "title": "A record that moves once",
     "about": "A record moves ahead of a scan. The scan must return it exactly once.",
     "finding": "read_skew", "setup": "10=m 50=z",
     "steps": ["T1: b n", "T2: b d(10,m) i(90,m) c", "T1: n n c"]},
    {"id": "S202", "title": "A deadlock of three on one index",
     "about": "Three transactions each delete a record, then the record of the next transaction.",
     "finding": "read_skew", "setup": "1=a 2=b 3=c",
     "steps": ["T1: b d(1,*)", "T2: b d(2,*)", "T3: b d(3,*)", "T1: d(2,*)", "T2: d(3,*)",
               "T3: d(1,*)", "T1: c", "T2: c", "T3: c"]},
    {"id": "S204", "title": "The gap of a key whose insert is undone",
     "about": "An insert is undone while its gap is in use. The merged gap must stay protected.",
     "finding": "phantom", "setup": "10=a 20=k 50=b",
     "steps": ["T1: b i(30,x)", "T2: b d(20,*)", "T1: a", "T3: b g(10) n n", "T2: a", "T3: c"]},
    {"id": "S205", "title": "Abort after a record was deleted and inserted again",
     "about": "An abort must undo the delete, the insert, and the insert of another record.",
     "finding": "abort_undoes", "setup": "1=a 2=b",
     "steps": ["T1: b d(1,a) i(1,a) i(2,c) a", "T2: g(1) g(2)"]},
    {"id": "S206", "title": "A reader between the inserts of a transaction",
     "about": "A reader must see all records of a commit in two indexes, or none.",
     "finding": "torn_commit",
     "steps": ["T1: b A.i(1,x) A.i(2,x)", "T2: b A.g(1)", "T1: B.i(1,x)", "T2: A.g(2)", "T1: c",
               "T2: B.g(1) c"]},
    {"id": "S207", "title": "Two readers that want to insert",
     "about": "Two transactions read a record and then both add a payload to it.",
     "finding": "lost_update", "setup": "1=a",
     "steps": ["T1: b g(1)", "T2: b g(1)", "T1: i(1,x)", "T2: i(1,y)", "T1: c", "T2: c"]}
  ]
})json";

// How long the other sessions wait for the end of a step before they continue. The time is longer
// than in the benchmark, so that the written order is kept even on a busy machine.
constexpr uint32_t kStepUs = 5'000;
// Plays each scenario once for each key type, in the written order.
constexpr PlanSize kSize{.runs = 1, .interleavings = 1, .large_runs = 0};
constexpr unsigned kHangSeconds = 20;

std::vector<Scenario> scripted_scenarios() {
  std::vector<std::string_view> files(scenarios_data().begin(), scenarios_data().end());
  files.push_back(kFurther);
  std::vector<Scenario> all = load_catalogue(files).value();
  // Leaves out scenarios whose failure is only a warning, and scenarios without a script
  // (`instead`). Also leaves out scenarios with many threads (`crowd`), which concurrent_test.cc
  // covers, and calls that a correct client never makes (`bare`), which misuse_test.cc covers.
  std::erase_if(all, [](const Scenario& scenario) {
    return scenario.crowd || scenario.bare || !scenario.instead.empty() ||
           scenario.severity != Severity::kRequired;
  });
  return all;
}

player::IndexApi api_of(const Calls& calls) {
  return {.create = calls.create,
          .openIndex = calls.open_index,
          .closeIndex = calls.close_index,
          .beginTransaction = calls.begin,
          .abortTransaction = calls.abort,
          .commitTransaction = calls.commit,
          .get = calls.get,
          .getNext = calls.get_next,
          .insertRecord = calls.insert,
          .deleteRecord = calls.erase};
}

// Ends the process with a message if a scenario takes more than kHangSeconds.
class HangAlarm {
 public:
  explicit HangAlarm(const std::string& id) {
    const std::string text = "contract_test: the library hangs in scenario " + id +
                             ": the scenario has not ended after " + std::to_string(kHangSeconds) +
                             " s; look for a call that waits for ever\n";
    std::strncpy(message_, text.c_str(), sizeof message_ - 1);
    std::signal(SIGALRM, [](int) {
      _exit(write(STDERR_FILENO, message_, std::strlen(message_)) < 0 ? 2 : 1);
    });
    alarm(kHangSeconds);
  }
  ~HangAlarm() { alarm(0); }
  HangAlarm(const HangAlarm&) = delete;
  HangAlarm& operator=(const HangAlarm&) = delete;

 private:
  static inline char message_[192];  // for the signal handler
};

class RequiredScenario : public ::testing::TestWithParam<Scenario> {};

TEST_P(RequiredScenario, IsExplainedByASerialOrder) {
  const HangAlarm alarm(GetParam().id);
  const std::vector<PlannedScenario> plan = plan_runs({GetParam()}, kSize, test_seed());
  script::ScriptBuilder builder;
  // The library still has the indexes of the scenarios that this process played before, so the
  // names of each scenario's indexes begin with the scenario's id.
  SharedIndexes shared(GetParam().id + "-");
  PoolNumbers pools(builder);
  const uint32_t class_number = builder.add_class("scenario");
  const ScriptedScenario scripted =
      script_scenario(plan.front(), kStepUs, class_number, shared, pools, builder);
  const script::Outcome outcome = testing::play(builder.build(), api_of(library()));
  FindingBook book;
  judge_scenario(plan.front(), scripted, outcome.phases.front(), book);
  judge::Findings findings("scenarios");
  book.show(findings);
  EXPECT_FALSE(findings.failed()) << GetParam().title << "\n" << testing::text_of(findings);
  EXPECT_EQ(findings.not_judged_reason(), "");
}

INSTANTIATE_TEST_SUITE_P(, RequiredScenario, ::testing::ValuesIn(scripted_scenarios()),
                         [](const ::testing::TestParamInfo<Scenario>& parameter) {
                           return parameter.param.id;
                         });

}  // namespace

// Prints the title of the scenario in the messages of gtest.
void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.title; }

}  // namespace scenarios
}  // namespace keydrome
