// Tests the judge of recorded histories, i.e. of all calls of a run with their results
// (judge/recorded/history_judge.h). The test uses a fault that the other judges cannot see: a
// library that returns a key which no thread ever passed to it.
#include "benchmarks/kit/judge/recorded/history_judge.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "benchmarks/kit/judge/recorded/log_judge.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "checker/history/calls.h"

namespace keydrome {

using history::Event;
using history::EventCall;

namespace {

// Returns a script of one thread that scans and then deletes the record that the scan returned.
script::Script script_of_deletion() {
  script::ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("strings", VARCHAR);
  const uint32_t key = script.add_varchar_key("key");
  script::ThreadBuilder out = script.thread(script.add_phase("test", 1, {.recorded = true}), 0);
  out.create(index);
  out.open(0, index);
  out.insert(0, key, {.tag = 1, .text = 0});
  out.begin(format::Kind::kStream, 0);
  out.next(0, 1);
  out.delete_read(0);
  out.commit();
  out.close(0);
  return script.build();
}

judge::Findings findings_of(const script::Script& script, const script::Outcome& outcome) {
  judge::Findings findings("test");
  EXPECT_TRUE(judge::judge_logs(script, outcome, findings));
  judge::judge_recorded(script, outcome, /*strict=*/true, findings);
  return findings;
}

TEST(RecordedJudge, AKeyThatNoCallPassedIsAFindingThoughItIsHandedBack) {
  const script::Script script = script_of_deletion();
  script::Outcome outcome = testing::play(script, testing::test_index({}));
  EXPECT_TRUE(findings_of(script, outcome).empty());

  bool shown = false;
  for (Event& event : outcome.phases[0].threads[0].events) {
    const EventCall call = call_of(event);
    shown |= call == EventCall::kNext;
    if (call != EventCall::kNext && call != EventCall::kDeletePair) continue;
    event.key = hash_bytes("a key of the library's");
    if (call == EventCall::kDeletePair) event.code = KEY_NOTFOUND;
  }
  ASSERT_TRUE(shown);
  const judge::Findings findings = findings_of(script, outcome);
  EXPECT_EQ(findings.count("corrupt_key"), 1u) << testing::text_of(findings);
  EXPECT_EQ(findings.not_judged_reason(), "");
}

}  // namespace
}  // namespace keydrome
