// Recorded answers that no judge of single answers is asked about.
#include "benchmarks/kit/recorded_judge.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "benchmarks/kit/log_judge.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "checker/calls.h"

namespace keydrome {
namespace {

// One thread that deletes the record that a scan showed.
Script script_of_deletion() {
  ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("strings", VARCHAR);
  const uint32_t key = script.add_varchar_key("key");
  ThreadBuilder out = script.thread(script.add_phase("test", 1, {.recorded = true}), 0);
  out.create(index);
  out.open(0, index);
  out.insert(0, key, {.tag = 1, .text = 0});
  out.begin(Kind::kStream, 0);
  out.next(0, 1);
  out.delete_read(0);
  out.commit();
  out.close(0);
  return script.build();
}

Findings findings_of(const Script& script, const Outcome& outcome) {
  Findings findings("test");
  EXPECT_TRUE(judge_logs(script, outcome, findings));
  judge_recorded(script, outcome, /*strict=*/true, findings);
  return findings;
}

TEST(RecordedJudge, AKeyThatNobodyPassedIsAFindingThoughItIsHandedBack) {
  const Script script = script_of_deletion();
  Outcome outcome = testing::play(script, testing::test_index({}));
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
  const Findings findings = findings_of(script, outcome);
  EXPECT_EQ(findings.count("corrupt_key"), 1u) << testing::text_of(findings);
  EXPECT_EQ(findings.not_judged_reason(), "");
}

}  // namespace
}  // namespace keydrome
