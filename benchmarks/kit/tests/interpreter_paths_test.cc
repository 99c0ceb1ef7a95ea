// Tests that the fast path and the general path of the interpreter make the same calls and report
// the same outcome, for correct and for faulty indexes. A thread that leaves only words (8 bytes
// per call) executes its frequent operations (ops) on the fast path of Interpreter::run. A thread
// that is recorded, or that reports whole results in a trace, executes every op on the general
// path.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"

namespace keydrome::testing {
namespace {

constexpr uint64_t kSeed = 7;

struct Case {
  std::string name;
  Faults faults;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

void expect_equal(const script::ThreadTotals& fast, const script::ThreadTotals& general) {
  EXPECT_EQ(fast.committed, general.committed);
  EXPECT_EQ(fast.aborted, general.aborted);
  EXPECT_EQ(fast.failed, general.failed);
  EXPECT_EQ(fast.deadlocked, general.deadlocked);
  EXPECT_EQ(fast.calls, general.calls);
  EXPECT_EQ(fast.gets, general.gets);
  EXPECT_EQ(fast.get_hits, general.get_hits);
}

void expect_equal(const format::ThreadOutcome& fast, const format::ThreadOutcome& general) {
  EXPECT_EQ(fast.deadlocks, general.deadlocks);
  EXPECT_EQ(fast.attempts_overwritten, general.attempts_overwritten);
  EXPECT_EQ(fast.code_violations, general.code_violations);
  EXPECT_EQ(fast.first_violation.op, general.first_violation.op);
  EXPECT_EQ(fast.first_violation.code, general.first_violation.code);
  EXPECT_EQ(fast.trace_dropped, general.trace_dropped);
  EXPECT_EQ(fast.position, general.position);
}

// Plays the first thread of each phase alone, so that every run makes the same calls.
void expect_same_outcome(script::Script script, const Faults& faults) {
  for (script::PhaseScript& phase : script.phases) {
    phase.threads.resize(1);
    phase.trace_capacity_bytes.resize(1);
    phase.log_capacity.clear();
  }
  const script::Outcome fast = play(script, test_index(faults));
  script::record_all(script);
  const script::Outcome general = play(script, test_index(faults));
  ASSERT_EQ(fast.phases.size(), general.phases.size());
  for (std::size_t p = 0; p < fast.phases.size(); ++p) {
    SCOPED_TRACE(script.phases[p].name);
    const script::ThreadResult& a = fast.phases[p].threads[0];
    const script::ThreadResult& b = general.phases[p].threads[0];
    expect_equal(*a.reported, *b.reported);
    expect_equal(a.totals, b.totals);
    EXPECT_TRUE(a.words == b.words);
    EXPECT_TRUE(a.ends == b.ends);
    EXPECT_TRUE(a.trace.bytes == b.trace.bytes);
    EXPECT_TRUE(a.results == b.results);
    if (b.reported->events_full == 0 && b.reported->attempts_overwritten == 0) {
      EXPECT_EQ(b.totals.calls, b.reported->events);
    }
  }
}

class InterpreterPaths : public ::testing::TestWithParam<Case> {};

TEST_P(InterpreterPaths, AgreeOnTheContestsMix) {
  Faults faults = GetParam().faults;
  // Return DEADLOCK so rarely that even the longest transaction, the scan of all records, can
  // commit.
  if (faults.deadlock_every > 0) faults.deadlock_every = 20'011;
  expect_same_outcome(make_script("sigmod2009", "preliminary1", kSeed, {{"threads", 1}}), faults);
}

// The program has opens and closes inside transactions, aborts, scans to the end, and deletes of
// read records. It also has the flags that change how the interpreter continues after a result.
TEST_P(InterpreterPaths, AgreeOnEveryKindOfOp) {
  script::ScriptBuilder script;
  script.add_class("all");
  const uint32_t numbers = script.add_index("numbers", INT);
  const uint32_t strings = script.add_index("strings", VARCHAR);
  std::vector<uint32_t> keys, words;
  for (int64_t i = 0; i < 20; ++i) {
    keys.push_back(script.add_int64_key(i));
    words.push_back(script.add_varchar_key("key " + std::to_string(i)));
  }
  script::ThreadBuilder out = script.thread(script.add_phase("test", 1, {}), 0);
  out.create(numbers);
  out.create(strings);
  out.open(0, numbers);
  uint32_t tag = 0;
  const auto next_payload = [&] { return script::Payload{.tag = ++tag, .text = 0}; };
  for (const uint32_t key : keys) out.insert(0, key, next_payload());
  for (uint32_t round = 0; round < 200; ++round) {
    const uint8_t flags = round % 5 == 0   ? uint8_t{format::kAnyCode | format::kOneAttempt}
                          : round % 7 == 0 ? format::kOneAttempt
                                           : uint8_t{0};
    const uint32_t key = round * 7 % 20;
    out.begin(flags == 0 ? format::Kind::kStream : format::Kind::kScript, 0, flags);
    if (round % 3 == 0) out.open(1, strings);
    out.get(0, keys[key]);
    out.next(0, 3);
    out.get(0, keys[(key + 3) % 20], format::kKeep);
    out.delete_read(0);
    out.insert(0, keys[(key + 3) % 20], next_payload());
    if (round % 3 == 0) {
      out.insert(1, words[key], next_payload());
      out.delete_key(1, words[(key + 1) % 20]);
      out.next_to_end(1, 1'000);
      out.close(1);
    }
    round % 11 == 0 ? out.abort() : out.commit();
    out.get(0, keys[key]);
    out.next(0, 2);
  }
  out.close(0);
  expect_same_outcome(script.build(), GetParam().faults);
}

// After a wrong answer, the next hidden keys are wrong, and both paths ask for the same wrong keys.
TEST_P(InterpreterPaths, AgreeOnHiddenKeys) {
  Faults faults = GetParam().faults;
  if (faults.deadlock_every > 0) faults.deadlock_every = 20'011;  // as above
  expect_same_outcome(make_script("lookups", "serial", kSeed, {{"threads", 1}}), faults);
}

INSTANTIATE_TEST_SUITE_P(, InterpreterPaths,
                         ::testing::Values(Case{"correct", {}},
                                           Case{"deadlocks", {.deadlock_every = 97}},
                                           Case{"undocumented_codes", {.odd_code_every = 17}},
                                           Case{"failing_inserts", {.fails_every = 5}},
                                           Case{"disorder", {.unordered = true}},
                                           Case{"repeated_records", {.repeats_every = 3}},
                                           Case{"success_only", {.success_only = true}},
                                           Case{"restarting_scans", {.wraps_around = true}}),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace keydrome::testing
